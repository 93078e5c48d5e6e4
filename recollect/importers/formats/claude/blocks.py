"""What stands in one Claude message: words, thinking, artifacts, tool calls with their results, files.

`content` (a list of blocks) is the source, `text` its flattened copy: never both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.importers.base import DraftCall, DraftNotes
from recollect.importers.reading.lenient import as_json, objects_of, text_of, time_of
from recollect.record import Part, PartKind

Block = Mapping[str, Any]

_SENTENCE = "This block is not supported on your current device yet."
_UNSUPPORTED = re.compile(
    rf"^```[^\n`]*\n[ \t]*{re.escape(_SENTENCE)}[ \t]*\n[ \t]*```[ \t]*$\n*|^[ \t]*{re.escape(_SENTENCE)}[ \t]*$\n*",
    re.MULTILINE,
)
# Before 2025 artifacts and thinking stood as tags in the words; an answer that was cut off leaves an artifact open.
_ARTIFACT_TAG = re.compile(r"<antArtifact\b([^>]*\bidentifier=[^>]*)>(.*?)(?:</antArtifact>|\Z)", re.DOTALL)
_THINKING_TAG = re.compile(r"<antThinking>(.*?)</antThinking>", re.DOTALL)
_ATTRIBUTE = re.compile(r"(\w+)=\"([^\"]*)\"")
_WORDLESS = frozenset({"token_budget", "redacted_thinking"})
_FILES = frozenset({"image", "document", "file"})


@dataclass(slots=True)
class ClaudeBody:
    """What was found in a message, in order."""

    words: list[str] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    calls: list[DraftCall] = field(default_factory=list)
    citations: list[Any] = field(default_factory=list)


class BlockReader:
    """Reads the messages of one conversation, in order: an artifact's later versions take the title of its first."""

    def __init__(self, told: DraftNotes) -> None:
        self._told = told
        self._titles: dict[str, str] = {}

    def read(self, message: Block, *, by_model: bool) -> tuple[str, ClaudeBody]:
        """The words of a message, and what else it holds."""
        body = ClaudeBody()
        content = message.get("content")
        if isinstance(content, list):
            self._read_blocks(objects_of(content), body)
        words = _joined(body.words, text_of(message.get("text")))
        if not words.strip():
            words = _flat_words(message, body)
        if by_model:
            words = self._without_tags(words, body)
        body.parts += attached(message)
        return words, body

    def _read_blocks(self, blocks: Sequence[Block], body: ClaudeBody) -> None:
        results, answered = _results(blocks)
        for at, block in enumerate(blocks):
            kind = block.get("type")
            if _is_call(block):
                self._read_call(block, results.get(at), body)
            elif _is_result(block):
                if at not in answered:
                    body.calls.append(_call({"name": block.get("name")}, block))
            elif kind == "knowledge":
                body.parts.append(Part(PartKind.ATTACHMENT, text_of(block.get("title")), result_text([block])))
            elif kind in _FILES:
                body.parts.append(_asset(block))
            elif kind not in _WORDLESS:
                self._read_words(block, body, known=kind in ("text", "thinking"))

    def _read_words(self, block: Block, body: ClaudeBody, *, known: bool) -> None:
        thought = text_of(block.get("thinking")) or _thought_summaries(block)
        if thought:
            body.parts.append(Part(PartKind.REASONING, "thinking", thought, _thought_details(block)))
        words = _UNSUPPORTED.sub("", text_of(block.get("text")))
        if words.strip():
            body.words.append(words)
        if isinstance(block.get("citations"), list):
            body.citations += block["citations"]
        if not known:
            self._told.note("blocks of unknown kinds, kept as text")
            inner = result_text(block.get("content"))
            if inner:
                body.parts.append(Part(PartKind.ATTACHMENT, text_of(block.get("name")), inner))

    def _read_call(self, block: Block, result: Block | None, body: ClaudeBody) -> None:
        wanted = block.get("input")
        if block.get("name") == "artifacts" and isinstance(wanted, dict):
            body.parts.append(self._artifact(wanted, result))
        else:
            body.calls.append(_call(block, result))

    def _artifact(self, wanted: Block, result: Block | None = None) -> Part:
        """A new document, a rewritten one, or the new words of an update; the old ones stay beside as metadata."""
        identifier = text_of(wanted.get("id"))
        title = text_of(wanted.get("title")) or self._titles.get(identifier, "")
        if identifier and title:
            self._titles[identifier] = title
        details = {key: value for key, value in wanted.items() if key not in ("content", "new_str", "title") and value}
        answer = _result_of(result)
        if answer and answer != "OK":
            details["result"] = answer
        text = text_of(wanted.get("content")) or text_of(wanted.get("new_str"))
        return Part(PartKind.ARTIFACT, title or identifier, text, details)

    def _without_tags(self, words: str, body: ClaudeBody) -> str:
        """The words without the artifacts and thoughts that stood in them as tags; those become parts."""

        def thought(found: re.Match[str]) -> Part:
            return Part(PartKind.REASONING, "thinking", found.group(1).strip())

        def artifact(found: re.Match[str]) -> Part:
            given = dict(_ATTRIBUTE.findall(found.group(1)))
            given["id"] = given.pop("identifier", "")
            return self._artifact({**given, "content": found.group(2).strip("\n")})

        words = _cut_out(_THINKING_TAG, words, thought, body.parts)
        return _cut_out(_ARTIFACT_TAG, words, artifact, body.parts)


def result_text(content: object) -> str:
    """What a tool gave back, as text: strings, `text` and `knowledge` blocks; other objects as JSON."""
    pieces = content if isinstance(content, list) else [content]
    return "\n\n".join(text for text in map(_piece_text, pieces) if text)


def attached(message: Block) -> Iterator[Part]:
    """The attachments of a message with their text, and the files that are only named."""
    for attachment in objects_of(message.get("attachments")):
        details = {key: attachment[key] for key in ("file_type", "file_size", "id") if attachment.get(key)}
        name = text_of(attachment.get("file_name"))
        yield Part(PartKind.ATTACHMENT, name, text_of(attachment.get("extracted_content")), details)
    files = message.get("files") or message.get("files_v2")
    for file in files if isinstance(files, list) else ():
        if isinstance(file, str):
            yield Part(PartKind.ASSET, file)
        elif isinstance(file, dict):
            yield _asset(file)


def _asset(file: Block) -> Part:
    details = {key: file[key] for key in ("file_uuid", "file_kind", "uuid") if isinstance(file.get(key), str)}
    return Part(PartKind.ASSET, text_of(file.get("file_name")) or text_of(file.get("name")), "", details)


def _joined(words: list[str], flattened: str) -> str:
    """The text blocks as paragraphs, unless the flattened copy shows that one sentence was cut in several."""
    together = "".join(words)
    return together if together == flattened else "\n\n".join(words)


def _flat_words(message: Block, body: ClaudeBody) -> str:
    """The words of a message whose blocks hold none: `text`, or a string in place of the blocks."""
    words = _UNSUPPORTED.sub("", text_of(message.get("text")) or text_of(message.get("content")))
    return "" if any(words.strip() == part.text.strip() for part in body.parts) else words


def _is_call(block: Block) -> bool:
    return text_of(block.get("type")).endswith("tool_use")  # server_tool_use and mcp_tool_use too


def _is_result(block: Block) -> bool:
    return text_of(block.get("type")).endswith("tool_result")


def _results(blocks: Sequence[Block]) -> tuple[dict[int, Block], set[int]]:
    """For the place of each call its result, and the places of those results: by id, else in the order of one name."""
    waiting: list[int] = []
    results: dict[int, Block] = {}
    answered: set[int] = set()
    for at, block in enumerate(blocks):
        if _is_call(block):
            waiting.append(at)
        elif _is_result(block):
            call = _awaiting(block, blocks, waiting)
            if call is not None:
                waiting.remove(call)
                results[call] = block
                answered.add(at)
    return results, answered


def _awaiting(result: Block, blocks: Sequence[Block], waiting: Sequence[int]) -> int | None:
    wanted, name = result.get("tool_use_id"), result.get("name")
    if wanted:
        exact = next((at for at in waiting if blocks[at].get("id") == wanted), None)
        if exact is not None:
            return exact
    unnamed = [at for at in waiting if not (wanted and blocks[at].get("id"))]
    return next((at for at in unnamed if not name or blocks[at].get("name") == name), None)


def _call(block: Block, result: Block | None) -> DraftCall:
    details = {key: block[key] for key in ("message", "integration_name") if text_of(block.get(key))}
    failed = {"is_error": True} if result and result.get("is_error") is True else {}
    return DraftCall(
        name=text_of(block.get("name")) or "tool",
        arguments=as_json(block.get("input")),
        result=_result_of(result),
        timestamp=time_of(block.get("start_timestamp")),
        metadata={**details, **failed},
    )


def _result_of(result: Block | None) -> str:
    """The result's content; what was only displayed or structured, where there is none."""
    if result is None:
        return ""
    found = (result_text(result.get(key)) for key in ("content", "display_content", "structured_content"))
    return next((text for text in found if text), "")


def _piece_text(piece: object) -> str:
    if not isinstance(piece, dict):
        return text_of(piece)
    if piece.get("type") in _FILES or not piece:
        return text_of(piece.get("file_name"))
    text = text_of(piece.get("text")) or text_of(piece.get("json_block"))
    if piece.get("type") == "knowledge":
        head = (text_of(piece.get("title")), text_of(piece.get("url")), text)
        return "\n".join(line for line in head if line)
    return text or ("" if "text" in piece else as_json(piece))


def _thought_summaries(block: Block) -> str:
    """A thinking block whose thought was not exported, only what it was about."""
    if block.get("type") != "thinking":
        return ""
    return "\n".join(text_of(item.get("summary")) for item in objects_of(block.get("summaries"))).strip()


def _thought_details(block: Block) -> dict[str, Any]:
    return {key: block[key] for key in ("summaries", "cut_off") if block.get(key)}


def _cut_out(pattern: re.Pattern[str], words: str, made: Callable[[re.Match[str]], Part], parts: list[Part]) -> str:
    pieces: list[str] = []
    after = 0
    for found in pattern.finditer(words):
        pieces.append(words[after : found.start()])
        parts.append(made(found))
        after = found.end()
    if not after:
        return words
    return "\n\n".join(piece for piece in (piece.strip() for piece in [*pieces, words[after:]]) if piece)
