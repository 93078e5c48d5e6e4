"""The store and the work in the background."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pydantic import Field, StrictBool, field_serializer

from recollect.faces.rest.schemas.base import Asked, Record, shown


class Counts(Record):
    """What is in the namespace."""

    conversations: int
    messages: int
    active: int
    kinds: Mapping[str, int] = Field(validation_alias="by_kind")
    sources: Mapping[str, int] = Field(validation_alias="by_source")
    derived: Mapping[str, int] = Field(validation_alias="by_node")
    tool_calls: int
    attachments: int
    documents: int
    turns: int
    chunks: int
    passages: int
    said_passages: int
    quality: int = Field(description="How many of the `said_passages` have quality vectors.")
    tasks: Mapping[str, int]
    first: datetime | None
    last: datetime | None

    @field_serializer("kinds", "sources", "derived", "tasks")
    def _plain(self, counts: Mapping[str, int]) -> dict[str, int]:
        return dict(counts)


class Index(Record):
    """What search reads, and what is being built beside it."""

    generation: int
    embedder: str | None
    quality: bool = Field(description="Whether any passage has quality vectors.")
    rebuilding: bool


class Store(Record):
    """About the whole store, and the handle on it."""

    location: str | None
    engine: str
    layout: int = Field(description="The version of its layout.")
    bytes: int | None
    namespace: str
    embedder: str = Field(description="In use.")
    stored_embedder: str | None = Field(description="That made the vectors of this namespace.")
    version: str = Field(description="Of Recollect.")


class Namespaces(Record):
    """Those that hold anything."""

    namespaces: list[str]


class Task(Record):
    """What a worker has to do, is doing, or has given up."""

    id: str
    kind: str
    subject: str | None
    due: datetime | None
    reason: str | None = Field(description="Why it failed last.")


class Retry(Asked):
    """The tasks that are to be tried again; none: all that failed."""

    model_config = shown(ids=[])

    ids: list[str] = Field([])


class Retried(Record):
    """How many tasks will be tried again."""

    retried: int


class Estimate(Record):
    """What something will take of a model."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    days: float | None


class Backlog(Record):
    """What waits for the model that is set."""

    requests: int
    conversations: int
    messages: int
    estimate: Estimate


class ToConsolidate(Asked):
    """How much is to be derived."""

    model_config = shown(limit=100)

    limit: int | None = Field(None, ge=1, description="Tasks at most.")
    again: StrictBool = Field(False, description="Derives everything anew; what was corrected by hand stays.")


class Consolidated(Record):
    """What was derived."""

    messages: int
    tasks: int
    calls: int
    later: int = Field(description="Failed, and will be tried again.")
    dead: int = Field(description="Failed for good.")


class ToWork(Asked):
    """Where work is to be done until nothing is left to do; nowhere named: in all namespaces."""

    model_config = shown(namespaces=["default"])

    namespaces: list[str] | None = None
    again: StrictBool = False


class Worked(Record):
    """What a worker did."""

    consolidated: Consolidated
    vectors: int


class ToEmbed(Asked):
    """How many quality vectors are to be made."""

    model_config = shown(limit=1000)

    limit: int | None = Field(None, ge=1)


class Made(Record):
    """How many there were."""

    made: int


class ToMaintain(Asked):
    """For how long, at most."""

    model_config = shown(seconds=1.0)

    seconds: float | None = Field(None, gt=0, le=3600)


class Dropped(Record):
    """Whether there was anything to remove."""

    dropped: bool


class Maintained(Record):
    """Whether there is more to do."""

    more: bool


class Violation(Record):
    """An invariant that does not hold."""

    invariant: str
    where: str
    count: int
    remedy: str


class Checked(Record):
    """What is wrong; nothing, where all is well."""

    ok: bool
    violations: list[Violation]


class Health(Record):
    """What came of a real search."""

    well: bool
    when: datetime
    took_ms: float
    message_id: str | None = Field(description="Of what was searched for; null where there is nothing.")


class ToBackUp(Asked):
    """Where the copy of the whole store is to be, on the machine of the server."""

    model_config = shown(path="~/recollect-backup.db")

    path: str = Field(min_length=1, max_length=1_000, pattern=r"^[^\x00]*$", examples=["~/recollect-backup.db"])


class BackedUp(Record):
    """The copy."""

    file: str
    bytes: int


class State(Record):
    """How far the background work is."""

    messages: int
    said_passages: int
    quality: int
    due: int
    leased: int
    dead: int
    rebuilding: bool


class ToolDescriptions(Record):
    """What a model is told of the tools, in the shape of a provider."""

    tools: list[dict[str, object]]


class ToolArguments(Asked):
    """What a model calls a tool with."""

    model_config = shown(arguments={"query": "Luna"})

    arguments: dict[str, object] | str = Field({}, examples=[{"query": "Luna"}])
    max_tokens: int = Field(4_500, ge=400)
    read_only: StrictBool = False


class ToolAnswer(Record):
    """What a model is given back."""

    text: str
    is_error: bool
    tokens: int
