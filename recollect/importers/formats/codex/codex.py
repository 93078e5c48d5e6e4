"""Codex: the rollouts under `~/.codex/sessions`, in all the forms that they have had."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from io import BytesIO
from itertools import islice
from typing import Any

from recollect.errors import ImportProblem
from recollect.importers.base import DraftCall, DraftConversation, DraftMessage, Entry, Piece, Problems
from recollect.importers.formats.codex.lines import CodexItem, ItemKind, is_injected, read_item, surroundings, unwrapped
from recollect.importers.reading.json import document, lines
from recollect.importers.reading.lenient import guarded, objects_of, text_of, time_of
from recollect.record import Kind, PartKind, Role
from recollect.text.clean import cut_recall

_HEAD = 65_536
_INDEX = "session_index.jsonl"  # the sessions' titles
_TITLE_LENGTH = 80
_NEARBY = 32  # items between a line and its copy of the other kind, at most
_WRAPPERS = frozenset({"session_meta", "response_item", "request_item", "event_msg", "turn_context", "compacted"})
_BARE = frozenset({"message", "reasoning", "function_call", "function_call_output", "local_shell_call"})
_ID_IN_NAME = re.compile(r"rollout-.*?-([0-9a-f]{8}-[0-9a-f-]{27})\.jsonl?")


_ABOUT = """\
- **Files**: `rollout-*.jsonl` in all three generations, and the one JSON before them.
- `response_item` is the source; an event that repeats it counts once, a true repetition twice.
- **Context**: environment, AGENTS.md, instructions, aborted turns, what editors put before your words. **Tool**: \
calls with their outputs. **Reasoning** as far as it is in clear.
"""


class Codex:
    """Reads Codex's session files: one conversation a file."""

    name = "codex"
    label = "Codex"
    recognised = "lines of session_meta, response_item, event_msg; bare items before autumn 2025; one JSON"
    about = _ABOUT

    def recognises(self, entry: Entry) -> bool:
        """Whether this is a rollout: wrapped lines, bare items after a first line of the session, or one JSON."""
        if not entry.name.endswith((".jsonl", ".json")):
            return False
        try:
            if entry.name == _INDEX:
                return b'"thread_name"' in entry.peek(_HEAD)
            head = entry.peek(_HEAD)
        except (ImportProblem, OSError):
            return False
        if _is_one_document(head):
            return True
        values = [line.value for line in lines(BytesIO(head)) if isinstance(line.value, dict)]
        if not values:  # a first line longer than the head: instructions
            return b'"session_meta"' in head[:200] and b'"payload"' in head[:400]
        wrapped = [v for v in values if v.get("type") in _WRAPPERS and isinstance(v.get("payload"), dict)]
        return 2 * len(wrapped) > len(values) or _are_bare(values)

    def pieces(self, entries: Sequence[Entry], problems: Problems) -> Iterator[Piece]:
        """One conversation a file. Memory: the words of one conversation, and the titles of all."""
        titles: dict[str, str] = {}
        for entry in entries:
            if entry.name == _INDEX:
                titles |= guarded(partial(_titles, entry), entry.place, problems) or {}
        for entry in entries:
            if entry.name != _INDEX:
                yield Piece(entry.place, partial(_conversation, entry, titles, problems))


@dataclass(slots=True)
class _Heard:
    """An item in its place: `confirmed` says that a second line, of the other kind, holds it as well."""

    item: CodexItem
    model: str | None
    turns: int  # prompts that were taken back before it
    confirmed: bool = False


@dataclass(slots=True)
class _Rollout:
    """Takes a file's lines one by one. An item that repeats one of the other kind nearby is joined with it."""

    heard: list[_Heard] = field(default_factory=list)
    told: dict[str, Any] = field(default_factory=dict)
    model: str | None = None
    began: datetime | None = None
    rolled_back: int = 0

    def take(self, line: Mapping[str, Any]) -> bool:
        """Whether the line held words."""
        payload = line.get("payload")
        meta = payload.get("timestamp") if line.get("type") == "session_meta" and isinstance(payload, Mapping) else None
        times = (self.began, time_of(line.get("timestamp")), time_of(meta))
        self.began = min(filter(None, times), default=None)
        for key, value in surroundings(line):
            if key == "model":
                self.model = self.told["model"] = text_of(value) or self.model
            else:
                self.told.setdefault(key, value)
        if isinstance(payload, Mapping) and payload.get("type") == "thread_rolled_back":
            turns = payload.get("num_turns")
            self.rolled_back += turns if isinstance(turns, int) else 1
        item = read_item(line)
        if item is not None:
            self._hear(item)
        return item is not None

    def _hear(self, item: CodexItem) -> None:
        twin = self._twin(item)
        if twin is None:
            self.heard.append(_Heard(item, self.model if item.role is Role.ASSISTANT else None, self.rolled_back))
            self.rolled_back = 0
            return
        event, response = (item, twin.item) if item.copy else (twin.item, item)
        twin.confirmed = True
        twin.item = response
        if event.text.strip() != response.text.strip():
            aside = [text for text in response.texts if text.strip() != event.text.strip()]
            twin.item = response.with_only([event.text], aside)

    def _twin(self, item: CodexItem) -> _Heard | None:
        """The same words from the other kind of line, nearby: with nothing said by another side in between."""
        if item.kind not in (ItemKind.WORDS, ItemKind.THOUGHT):
            return None
        for heard in islice(reversed(self.heard), _NEARBY):
            other = heard.item
            if other.kind is item.kind and other.role is item.role:
                if other.copy is not item.copy and not heard.confirmed and _same_words(other, item):
                    return heard
            elif other.kind is ItemKind.WORDS and other.role in (Role.USER, Role.ASSISTANT):
                return None
        return None


def _same_words(one: CodexItem, other: CodexItem) -> bool:
    """Whether both say the same, or the event one of the blocks of the response item (the rest was put in)."""
    event, response = (one, other) if one.copy else (other, one)
    return event.text.strip() == response.text.strip() or (
        event.role is Role.USER and event.text.strip() in (text.strip() for text in response.texts)
    )


def _is_one_document(head: bytes) -> bool:
    """The oldest form: {"session": {...}, "items": [...]}."""
    start = head.lstrip()[:2048]
    return start.startswith(b"{") and re.match(rb'\{\s*"session"\s*:\s*\{', start) is not None and b'"items"' in head


def _are_bare(values: Sequence[dict[str, Any]]) -> bool:
    """A first line that names a session, then items without wrapper."""
    first, *items = values
    named = isinstance(first.get("id"), str) and "timestamp" in first and "type" not in first and "role" not in first
    bare = [value for value in items if value.get("type") in _BARE or "record_type" in value]
    return named and len(bare) == len(items) and ("instructions" in first or bool(bare))


def _lines_of(entry: Entry, problems: Problems) -> Iterator[Mapping[str, Any]]:
    if _is_one_document(entry.peek(_HEAD)):
        with entry.open() as stream:
            whole = document(stream)
        session = whole.get("session") if isinstance(whole, dict) else None
        yield {"timestamp": None} | session if isinstance(session, dict) else {}
        yield from objects_of(whole.get("items") if isinstance(whole, dict) else None)
        return
    broken: list[str] = []
    with entry.open() as stream:
        for line in lines(stream):
            if isinstance(line.value, dict):
                yield line.value
            else:
                broken.append(f"line {line.number}: {line.error or 'it is no object'}")
    if broken:
        more = f", and {len(broken) - 1} more" if len(broken) > 1 else ""
        problems.partial(entry.place, f"{broken[0]}{more}")


def _titles(entry: Entry) -> dict[str, str]:
    """By the ids of sessions the titles that a person gave them, or the program; the last one counts."""
    with entry.open() as stream:
        given = [line.value for line in lines(stream) if isinstance(line.value, dict)]
    return {text_of(one.get("id")): text_of(one.get("thread_name")) for one in given if text_of(one.get("thread_name"))}


def _conversation(entry: Entry, titles: Mapping[str, str], problems: Problems) -> Iterator[DraftConversation]:
    rollout = _Rollout()
    for line in _lines_of(entry, problems):
        if not rollout.take(line):
            payload = line.get("payload")
            kind = payload.get("type") if isinstance(payload, dict) else None
            problems.note(f"Codex lines of type {kind or line.get('type') or 'session'}, without words of their own")
    if not rollout.heard:
        problems.note("Codex sessions without messages")
        return
    named = _ID_IN_NAME.fullmatch(entry.name)
    told = {key: value for key, value in rollout.told.items() if key != "id"}
    messages = list(_messages(rollout, is_subagent=_is_subagent(told.get("source"))))
    source_id = text_of(rollout.told.get("id")) or (named[1] if named else None)
    title = titles.get(source_id or "") or _first_prompt(messages)
    yield DraftConversation(
        source=Codex.name,
        messages=messages,
        place=f'{entry.place} "{title}"',
        source_id=source_id,
        title=title,
        created=rollout.began,
        leaf=messages[-1].key,
        metadata=told,
    )


def _is_subagent(source: object) -> bool:
    """Whether another session started this one; a reviewer and a helper talk with an agent, not with a person."""
    return isinstance(source, Mapping) and "subagent" in {str(key).lower() for key in source}


def _messages(rollout: _Rollout, *, is_subagent: bool) -> Iterator[DraftMessage]:
    """The items as messages, each below the one before it, but where turns were taken back: there a branch begins."""
    answered = {heard.item.call for heard in rollout.heard if heard.item.kind is ItemKind.OUTPUT}
    used: set[str] = set()
    before: list[str | None] = []  # for each prompt on the path, the message above it
    last: str | None = None
    for number, heard in enumerate(rollout.heard):
        item, key = _as_typed(heard), f"item {number}"
        for _ in range(min(heard.turns, len(before))):
            last = before.pop()
        kind = _kind(heard)
        if kind is Kind.SAID and item.role is Role.USER:
            before.append(last)
        source_id = item.call if item.kind is ItemKind.OUTPUT else item.id
        yield DraftMessage(
            role=item.role,
            content="" if item.kind is ItemKind.CALL else item.text,
            source_id=source_id if source_id and source_id not in used else None,
            key=key,
            parent=last,
            kind=Kind.SUBAGENT if is_subagent else kind,
            timestamp=item.time,
            model=heard.model,
            parts=item.parts,
            calls=tuple(_calls(item, answered)),
            metadata=item.metadata or {},
        )
        used.add(source_id or "")
        last = key


def _as_typed(heard: _Heard) -> CodexItem:
    """The item without what was put in beside a person's words. What an event confirms was typed, whatever it is."""
    item = heard.item
    if item.role is not Role.USER or _kind(heard) is not Kind.SAID:
        return item
    injected = [text for text in item.texts if not heard.confirmed and is_injected(text)]
    pairs = [unwrapped(text) for text in item.texts if text not in injected]
    aside = [*injected, *(before for _, before in pairs if before)]
    return item.with_only([typed for typed, _ in pairs], aside) if aside else item


def _calls(item: CodexItem, answered: set[str | None]) -> Iterator[DraftCall]:
    if item.kind is ItemKind.CALL:
        result_of = item.call if item.call in answered else None
        metadata = {"id": item.call} if item.call else {}
        yield DraftCall(item.name, item.text, result_of=result_of, timestamp=item.time, metadata=metadata)


def _kind(heard: _Heard) -> Kind:
    """Whose words: what an event confirms as typed was said, whatever it looks like."""
    item = heard.item
    if item.kind in (ItemKind.CALL, ItemKind.OUTPUT):
        return Kind.TOOL
    if item.kind is ItemKind.THOUGHT:
        return Kind.REASONING
    if item.role is Role.SYSTEM:
        return Kind.CONTEXT
    assets = any(part.kind is PartKind.ASSET for part in item.parts)
    if item.role is Role.USER and not heard.confirmed and not assets and all(map(is_injected, item.texts)):
        return Kind.CONTEXT
    return Kind.SAID


def _first_prompt(messages: Sequence[DraftMessage]) -> str:
    """The first line that a person said or, in a subagent's session, that it was told."""
    asked = (m for m in messages if m.role is Role.USER and m.kind in (Kind.SAID, Kind.SUBAGENT))
    first = next(filter(None, (cut_recall(m.content).strip() for m in asked)), "").split("\n", 1)[0].strip()
    return first if len(first) <= _TITLE_LENGTH else first[: _TITLE_LENGTH - 1].rstrip() + "…"
