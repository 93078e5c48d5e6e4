"""What the models share."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.exceptions import HTTPException

from recollect.faces.http.problems import TOO_DEEP
from recollect.record import ID_FORM, ID_LENGTH
from recollect.runtime.arguments import without_halves

T = TypeVar("T")

_DEEPEST = 100  # levels of what is taken

#: An id that somebody gives. One that is empty is as one that is not given.
ID: dict[str, Any] = {"pattern": f"^$|{ID_FORM}", "maxLength": ID_LENGTH}


class Record(BaseModel):
    """Something that is given: read from the attributes of what the façade returns."""

    model_config = ConfigDict(from_attributes=True, frozen=True)


class Asked(BaseModel):
    """Something that is taken: a name that is not known is an error, for it would be left out silently.

    JSON can hold half of a pair that stands for one character, which no store and no answer can: it becomes U+FFFD.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, given: Any) -> Any:
        return _cleaned(given)


def _cleaned(given: Any, depth: int = 0) -> Any:
    if isinstance(given, str):
        return without_halves(given)
    if depth > _DEEPEST:
        raise HTTPException(400, TOO_DEEP)
    if isinstance(given, dict):
        return {_cleaned(name): _cleaned(value, depth + 1) for name, value in given.items()}
    return [_cleaned(one, depth + 1) for one in given] if isinstance(given, list) else given


def shown(**example: Any) -> ConfigDict:
    """An example of what is taken, for OpenAPI."""
    return ConfigDict(json_schema_extra={"examples": [example]})


class Page(Record, Generic[T]):
    """Some of a list."""

    items: list[T]
    next: str | None = Field(None, description="Give it as `cursor` to get what follows; null at the end.")


class Problem(Record):
    """An error, as RFC 9457 has it, with the `code` and the `hint` of the command line."""

    type: str = Field(examples=["about:blank"])
    title: str = Field(examples=["Not found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["No message has the ID 7Q2K."])
    code: str = Field(examples=["not_found"])
    hint: str = Field("", examples=["To find messages: recollect search"])


class Tokens(Record):
    """What a model was asked."""

    input: int
    output: int
    calls: int
