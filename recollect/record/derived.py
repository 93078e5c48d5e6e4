"""What is derived from the record, or said beside it: summaries, facts, entities, topics … as one shape of node.

The parts of each kind stand in `body`; the fields here are those that a store finds nodes by.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.record.ids import NodeId
from recollect.record.nodes import NOTHING, Metadata


class NodeKind(StrEnum):
    """The kinds of nodes beside the record (SYSTEM.md 2)."""

    SUMMARY = "summary"
    EPISODE = "episode"
    FACT = "fact"
    ENTITY = "entity"
    TOPIC = "topic"
    SEGMENT = "segment"
    REPORT = "report"


class Origin(StrEnum):
    """Where a node comes from. What was said or imported cannot be made again and is in a dump; what is derived can."""

    SAID = "said"  # by a person: stored as such, or corrected by hand
    IMPORTED = "imported"
    DERIVED = "derived"


@dataclass(frozen=True, slots=True)
class Node:
    """A node beside the record.

    `key` is what its kind is looked up by (of a fact its entity, of an entity its name, of a summary its level).
    `state` is "live", or what took it out of the living ("stale", "superseded", "merged"). `made_by` names prompt,
    version and model of what is derived. `text` are its words; erasing removes text, key and body.
    """

    id: NodeId
    kind: NodeKind
    key: str = ""
    text: str = ""
    state: str = "live"
    conversation_id: NodeId | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    score: float = 0.0
    origin: Origin = Origin.DERIVED
    made_by: str = ""
    body: Metadata = NOTHING
    erased: bool = False
