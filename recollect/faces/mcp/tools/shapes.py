"""JSON schemas of what tools answer, in few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
