"""The marks that ChatGPT leaves in its answers for sources, and the links that they stand for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from recollect.importers.reading.lenient import objects_of, text_of

# Private-use characters: E200 kind E202 field E202 field … E201. Kinds seen: cite, filecite, url, entity, navlist,
# image_group, video, products. Only some carry words of their own.
_OPEN, _CLOSE, _BETWEEN = "\ue200", "\ue201", "\ue202"
_MARK = re.compile(rf" ?{_OPEN}([^{_OPEN}{_CLOSE}]*){_CLOSE}")
_UNCLOSED = re.compile(rf" ?{_OPEN}[^{_CLOSE}\n]*\Z")
_REFERENCE = re.compile(r"(?:turn\d+[a-z]+\d+[ ,]*)+|L\d+(?:-L?\d+)?|")
_STRAY = re.compile("[\ue200-\ue206]")
_BRACKETED = re.compile(r" ?【[^【】\n]*†[^【】\n]*】")


def without_marks(text: str) -> str:
    r"""The text without marks; what is written inside of them (a link's title, an entity's name) stays.

    >>> without_marks("Take the train \ue200cite\ue202turn0search1\ue201.【1†source】")
    'Take the train.'
    """
    if _OPEN in text:
        text = _UNCLOSED.sub("", _MARK.sub(_words_of, text))
        text = _STRAY.sub("", text)
    return _BRACKETED.sub("", text) if "†" in text else text


def links(metadata: Mapping[str, Any]) -> list[dict[str, str]]:
    """The titles and addresses that the marks of a message stand for, each once."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for source in _sources(metadata):
        title, url = text_of(source.get("title")), text_of(source.get("url"))
        if title or url:
            found.setdefault((title, url), {"title": title, "url": url})
    return list(found.values())


def _words_of(mark: re.Match[str]) -> str:
    kind, *fields = mark[1].split(_BETWEEN)
    words = [_entity_name(fields[0])] if kind == "entity" and fields else [field for field in fields if _is_said(field)]
    lead = " " if mark[0].startswith(" ") else ""
    return lead + " ".join(words) if any(words) else ""


def _is_said(field: str) -> bool:
    return not _REFERENCE.fullmatch(field) and not field.startswith(("{", "["))


def _entity_name(field: str) -> str:
    """An entity is written as a list: its kind, its name, what tells it from others."""
    try:
        value = json.loads(field)
    except (ValueError, RecursionError):
        return ""
    return text_of(value[1]) if isinstance(value, list) and len(value) > 1 else ""


def _sources(metadata: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for reference in objects_of(metadata.get("content_references")):
        yield reference
        yield from objects_of(reference.get("items"))
        yield from objects_of(reference.get("sources"))
    for citation in objects_of(metadata.get("citations")):
        inner = citation.get("metadata")
        yield inner if isinstance(inner, dict) else citation
    older = metadata.get("_cite_metadata")
    if isinstance(older, dict):
        yield from objects_of(older.get("metadata_list"))
