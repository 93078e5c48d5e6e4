"""What a ChatGPT message holds, by its content type: its words, and what hangs on it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.importers.reading.json import decode
from recollect.importers.reading.lenient import as_json, first_id, first_text, objects_of, rest, text_of
from recollect.record import Part, PartKind

#: What nobody said here: custom instructions and memory, put before the talk.
CONTEXT_TYPES = frozenset({"user_editable_context", "model_editable_context"})
#: What the model thought.
THOUGHT_TYPES = frozenset({"thoughts", "reasoning_recap"})

# Where the words of each type stand: under the first of these keys that holds any.
_WORDS = {
    "text": ("text",),
    "multimodal_text": ("text",),
    "code": ("text",),
    "execution_output": ("text",),
    "system_error": ("text",),
    "tether_quote": ("text", "title"),
    "tether_browsing_display": ("result", "summary"),
    "tether_browsing_code": ("text",),
    "sonic_webpage": ("text", "snippet", "title"),
    "citable_code_output": ("output_str", "text"),
    "reasoning_recap": ("content", "text"),
    "computer_output": ("text",),
    "thoughts": ("content", "text"),
}
# Types whose words stand under several keys at once.
_SEVERAL = {
    "user_editable_context": ("user_profile", "user_instructions"),
    "model_editable_context": ("model_set_context", "repository", "repo_summary", "structured_context"),
}
_TOLD = ("name", "title", "url", "domain", "language")  # kept beside the words
_ANYWHERE = ("text", "content", "result", "output", "output_str", "summary", "message", "value")
_ASSETS = ("audio_asset_pointer", "video_container_asset_pointer", "frames_asset_pointers", "screenshot")
_MEDIA = ("image/", "audio/", "video/")


@dataclass(frozen=True, slots=True)
class Content:
    """The words of a message, the parts that hang on it, what else is told of it, and the types nobody knows."""

    type: str
    text: str
    parts: tuple[Part, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()


def read_content(content: object, metadata: Mapping[str, Any]) -> Content:
    """What a message's `content` holds, whatever is missing from it; `metadata` names the attachments."""
    names = _attachment_names(metadata)
    if isinstance(content, str | list):
        content = {"content_type": "text", "parts": [content] if isinstance(content, str) else content}
    if not isinstance(content, dict):
        content = {}
    kind = text_of(content.get("content_type")) or "text"
    pieces = [_Piece.of(part, names) for part in _parts_of(content)]
    known = kind in _WORDS or kind in _SEVERAL
    spoken = "\n".join(piece.text for piece in pieces if piece.text)
    assets = [asset for piece in pieces for asset in piece.assets]
    assets += [*_nested_assets(content, names), *_plots(metadata, names)]
    unknown = [piece.unknown for piece in pieces if piece.unknown]
    return Content(
        type=kind,
        text=_words(content, kind, spoken) if known else _any_words(content, spoken),
        parts=(*assets, *_attachments(metadata, {asset.metadata.get("id") for asset in assets})),
        metadata=_told(content) if known else {"content": rest(content, {"content_type", "parts", *_ANYWHERE})},
        unknown=tuple(unknown if known else [kind, *unknown]),
    )


def _words(content: Mapping[str, Any], kind: str, spoken: str) -> str:
    if kind in _SEVERAL:
        return "\n\n".join(filter(None, (text_of(content.get(key)) for key in _SEVERAL[kind]))) or spoken
    if kind == "thoughts":
        return "\n\n".join(_thoughts(content)) or spoken or first_text(content, _WORDS[kind])
    words = spoken or first_text(content, _WORDS[kind])
    if kind == "system_error":
        return ": ".join(filter(None, (text_of(content.get("name")), words)))
    if kind == "computer_output" and not words and isinstance(state := content.get("state"), dict):
        return "\n".join(filter(None, (text_of(state.get("title")), text_of(state.get("url")))))
    return words


def _any_words(content: Mapping[str, Any], spoken: str) -> str:
    """The words of a type that nobody knows: everything that looks like some, each text once."""
    candidates = [spoken, *(text_of(content.get(key)) for key in _ANYWHERE), *_thoughts(content)]
    return "\n\n".join(dict.fromkeys(text for text in candidates if text.strip()))


def _thoughts(content: Mapping[str, Any]) -> Iterator[str]:
    for thought in objects_of(content.get("thoughts")):
        words = text_of(thought.get("content")) or "".join(_strings(thought.get("chunks")))
        told = "\n".join(text for text in (text_of(thought.get("summary")), words) if text.strip())
        if told:
            yield told


def _told(content: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key in _TOLD if (value := text_of(content.get(key))) and value != "unknown"}


def _parts_of(content: Mapping[str, Any]) -> list[Any]:
    parts = content.get("parts")
    return parts if isinstance(parts, list) else [parts]


@dataclass(frozen=True, slots=True)
class _Piece:
    """One of a message's `parts`."""

    text: str = ""
    assets: tuple[Part, ...] = ()
    unknown: str = ""

    @classmethod
    def of(cls, part: object, names: Mapping[str, str]) -> _Piece:
        if isinstance(part, str):
            return cls(part)
        if not isinstance(part, dict):
            return cls()
        kind = text_of(part.get("content_type"))
        text = first_text(part, ("text", "content"))
        assets = (*_asset(part, names), *_nested_assets(part, names))
        known = assets or kind in ("", "text", "audio_transcription") or kind.endswith("asset_pointer")
        return cls(text, assets, "" if known else kind)


def _nested_assets(holder: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[Part]:
    for key in _ASSETS:
        inner = holder.get(key)
        for pointer in inner if isinstance(inner, list) else [inner]:
            yield from _asset(pointer, names)


def _plots(metadata: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[Part]:
    """What the code interpreter drew."""
    ran = metadata.get("aggregate_result")
    for shown in objects_of(ran.get("messages")) if isinstance(ran, dict) else ():
        if shown.get("message_type") == "image":
            yield from _asset(shown.get("image_url"), names)


def _asset(pointer: object, names: Mapping[str, str]) -> Iterator[Part]:
    """The image, sound or video that an object, or a string, points to."""
    holder: Mapping[str, Any] = pointer if isinstance(pointer, dict) else {"asset_pointer": pointer}
    address = text_of(holder.get("asset_pointer"))
    if not address:
        return
    identity = address.rpartition("://")[2].partition("#")[0].partition("?")[0]
    told: dict[str, Any] = {"id": identity, "type": text_of(holder.get("content_type"))}
    made = holder.get("metadata")
    dalle = made.get("dalle") if isinstance(made, dict) else None
    if isinstance(dalle, dict) and text_of(dalle.get("prompt")):
        told["prompt"] = dalle["prompt"]
    yield Part(PartKind.ASSET, names.get(identity, identity), metadata={key: it for key, it in told.items() if it})


def _attachment_names(metadata: Mapping[str, Any]) -> dict[str, str]:
    return {
        identity: name
        for attachment in objects_of(metadata.get("attachments"))
        if (identity := first_id(attachment, ("id", "file_id"))) and (name := text_of(attachment.get("name")))
    }


def _attachments(metadata: Mapping[str, Any], shown: set[Any]) -> Iterator[Part]:
    """The attached files, without those that the message shows as assets."""
    for attachment in objects_of(metadata.get("attachments")):
        identity = first_id(attachment, ("id", "file_id"))
        if identity in shown and identity is not None:
            continue
        media = first_text(attachment, ("mimeType", "mime_type"))
        told = {key: it for key, it in (("id", identity), ("type", media)) if it}
        yield Part(
            kind=PartKind.ASSET if media.startswith(_MEDIA) else PartKind.ATTACHMENT,
            name=text_of(attachment.get("name")) or identity or "",
            text=first_text(attachment, ("extracted_content", "content", "text")),
            metadata=told,
        )


def _strings(value: object) -> Sequence[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


# Pages that ChatGPT writes on its canvas: calls of `canmore`, with the words in their arguments.

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


# The marks that ChatGPT leaves in its answers for sources, and the links that they stand for.

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
