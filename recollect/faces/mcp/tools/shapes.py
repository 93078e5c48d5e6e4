"""JSON schemas of what tools answer, in few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

TEXT: Mapping[str, Any] = {"type": "string"}
NUMBER: Mapping[str, Any] = {"type": "number"}
WHOLE: Mapping[str, Any] = {"type": "integer"}
YES: Mapping[str, Any] = {"type": "boolean"}
TEXT_OR_NONE: Mapping[str, Any] = {"type": ["string", "null"]}

#: The namespace that answered: scope is named in every answer.
NAMESPACE = {"namespace": TEXT}


def many(of: Mapping[str, Any]) -> dict[str, Any]:
    """A list."""
    return {"type": "array", "items": dict(of)}


def record(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An object with these members; further ones do no harm."""
    members = {**required, **(optional or {})}
    return {
        "type": "object",
        "properties": {name: dict(shape) for name, shape in members.items()},
        "required": list(required),
    }


class _WithoutTitles(GenerateJsonSchema):
    """Schemas that do not say the name of each member twice."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema_of(type_: TypeAdapter[Any]) -> dict[str, Any]:
    """The schema of a type whose members are left out where they are None, with the namespace that answered."""
    schema = type_.json_schema(mode="serialization", schema_generator=_WithoutTitles)
    return {
        **schema,
        "properties": {**schema["properties"], **{name: dict(shape) for name, shape in NAMESPACE.items()}},
    }
