"""What a request costs, in tokens of the packaged tokenizer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recollect.models.embedding.tokenizer import count_tokens_of

_PER_ITEM = 4  # who says it, and where it begins and ends
_PICTURE = 1_600  # tokens of a picture, and at most of something that is encoded
_PER_TOKEN = 4  # characters of it, where it is short
_ENCODED = re.compile(r"(?:data:[^,]{0,100},)?[A-Za-z0-9+/_=\r\n-]{200}")
_FRAME = frozenset({"type", "role", "id", "call_id", "tool_use_id", "tool_call_id", "status", "cache_control"})
_UNREAD = frozenset({"metadata", "model", "messages", "input", "stream", "stream_options", "user"})
_PICTURES = ("image", "image_url", "input_image", "computer_screenshot")
#: Where something encoded may stand. Anywhere else it is text, and costs what text costs: a list of hashes, say.
_CODED = frozenset(
    {"data", "url", "image_url", "file_data", "result", "b64_json"}
    | {"encrypted_content", "signature", "thought_signature"}
)
_FILES = ("document", "file", "input_file", "container_upload", "input_audio", "video_url")
_REMEMBERED = 50_000

#: The tokens of texts by length and hash: a client sends the same ones again with each request.
_counted: dict[tuple[int, int], int] = {}


def cost_of_each(items: Sequence[object]) -> list[int]:
    """The tokens of each item of a request."""
    found = [list(_costs(item)) for item in items]
    counts = iter(_counts([text for own in found for text in own if isinstance(text, str)]))
    return [_PER_ITEM + sum(next(counts) if isinstance(one, str) else one for one in own) for own in found]


def cost_of_frame(body: Mapping[str, Any]) -> int:
    """The tokens of what stands beside the items: the system prompt, the tools, the form of the answer."""
    rest = {key: value for key, value in body.items() if key not in _UNREAD}
    return _counts([json.dumps(rest, ensure_ascii=False)])[0]


def holds_files(body: Mapping[str, Any]) -> bool:
    """Whether something stands in a request whose tokens only the server knows: a document, a file by its name."""
    return any(_is_file(part) for name in ("messages", "input") for part in _parts(body.get(name)))


def _parts(value: object) -> Iterator[Mapping[str, Any]]:
    for item in value if isinstance(value, list) else ():
        inner = item.get("content") if isinstance(item, Mapping) else None
        for part in inner if isinstance(inner, list) else ():
            if isinstance(part, Mapping):
                yield part
                yield from _parts([part])  # what a tool gave


def _is_file(part: Mapping[str, Any]) -> bool:
    source = part.get("source")
    return part.get("type") in _FILES or (isinstance(source, Mapping) and source.get("type") == "file")


def _costs(value: object, key: str = "") -> Iterator[str | int]:
    """The texts of an item, and the tokens of what is none."""
    if isinstance(value, str):
        if value:
            yield _encoded(value) or value if key in _CODED else value
    elif isinstance(value, Mapping):
        if value.get("type") in _PICTURES:
            yield sum(one for one in _parts_of(value) if isinstance(one, int)) or _PICTURE
            return
        yield from _parts_of(value)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _costs(inner, key)
    elif value is not None:
        yield str(value)


def _parts_of(value: Mapping[str, Any]) -> Iterator[str | int]:
    for key, inner in value.items():
        if key not in _FRAME:
            if not isinstance(inner, str | Sequence):
                yield str(key)
            yield from _costs(inner, key)


def _encoded(text: str) -> int:
    """The tokens of something that is encoded, 0 of anything else."""
    return 0 if _ENCODED.match(text) is None else min(len(text) // _PER_TOKEN, _PICTURE)


def _counts(texts: Sequence[str]) -> list[int]:
    keys = [(len(text), hash(text)) for text in texts]
    found = {key: count for key in keys if (count := _counted.get(key)) is not None}
    new = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
    found.update(zip(new, count_tokens_of(list(new.values())), strict=True))
    if len(_counted) > _REMEMBERED:
        _counted.clear()
    _counted.update(found)
    return [found[key] for key in keys]
