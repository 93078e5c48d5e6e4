"""Pages that ChatGPT writes on its canvas: calls of `canmore`, with the words in their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect.importers.reading.json_value import decode
from recollect.importers.reading.lenient import as_json, objects_of, rest, text_of
from recollect.record import Part, PartKind

_CANVAS = "canmore."


@dataclass(frozen=True, slots=True)
class Written:
    """A page, or what replaces passages of it, and the call's arguments without these words."""

    page: Part
    arguments: str


def written_page(recipient: str, arguments: str, answer: Mapping[str, Any]) -> Written | None:
    """What a call wrote on the canvas, None where it wrote nothing; `answer` is the metadata of the tool's answer."""
    call = _call(arguments) if recipient.startswith(_CANVAS) else {}
    changes = objects_of(call.get("updates"))
    words = [text_of(call.get("content")), *(text_of(change.get("replacement")) for change in changes)]
    text = "\n\n".join(word for word in words if word.strip())
    if not text:
        return None
    canvas = answer.get("canvas")
    told: Mapping[str, Any] = canvas if isinstance(canvas, dict) else {}
    page = Part(
        kind=PartKind.ARTIFACT,
        name=text_of(call.get("name")) or text_of(told.get("title")),
        text=text,
        metadata=rest(
            {"type": call.get("type") or told.get("textdoc_type"), "id": told.get("textdoc_id")}, frozenset()
        ),
    )
    return Written(page, _without_words(call, changes))


def _call(arguments: str) -> Mapping[str, Any]:
    try:
        call = decode(arguments.encode("utf-8", "replace"))
    except ValueError:
        return {}
    return call if isinstance(call, dict) else {}


def _without_words(call: Mapping[str, Any], changes: list[Mapping[str, Any]]) -> str:
    left = rest(call, {"content", "updates"})
    if changes:
        left["updates"] = [rest(change, {"replacement"}) for change in changes]
    try:
        return as_json(left)
    except RecursionError:
        return ""
