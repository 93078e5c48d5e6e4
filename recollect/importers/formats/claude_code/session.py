"""One Claude Code session: lines joined into messages, and the messages put in order.

A session is read as one line of talk that only a person's rewinding splits: results of parallel calls follow one
another, a subagent's talk stands between the call that started it and its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from recollect.importers.base import DraftCall, DraftMessage
from recollect.importers.formats.claude_code.lines import Block, BlockKind, Record
from recollect.record import Kind, Part, PartKind, Role

_UNNAMED = "sidechain "  # begins our own name for the talk of a subagent that has none


@dataclass(slots=True)
class Utterance:
    """A message in the making. `above` is the uuid that its first line names as parent; `blocks` grow line by line."""

    key: str
    source_id: str | None
    role: Role
    injected: bool
    above: str | None
    root: bool
    file: int
    chain: str | None
    blocks: list[tuple[Block, datetime | None]]
    time: datetime | None
    model: str | None = None
    aside: tuple[str, ...] = ()

    @property
    def prompts(self) -> bool:
        """Whether a person says something here."""
        return self.role is Role.USER and not self.injected and not self.holds(BlockKind.RESULT)

    def holds(self, kind: BlockKind) -> bool:
        """Whether there is a block of this kind."""
        return any(block.kind is kind for block, _ in self.blocks)

    def text(self, kind: BlockKind = BlockKind.TEXT) -> str:
        """The words of all blocks of this kind."""
        return "\n\n".join(block.text for block, _ in self.blocks if block.kind is kind)


@dataclass(slots=True)
class Session:
    """Takes the lines of a session's files one by one, and gives its messages.

    `utterances` stand in the order of their first lines. `owners` leads from a line's uuid to its message, `joints`
    from a line without words to the one above it, `results` from a call to the message with its output, and
    `starters` from a subagent to the call that started it.
    """

    agents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    utterances: dict[str, Utterance] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    joints: dict[str, str | None] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)
    callers: dict[str, str] = field(default_factory=dict)
    starters: dict[str, str] = field(default_factory=dict)
    _answers: dict[tuple[str | None, str], str] = field(default_factory=dict)
    _chains: dict[str, str] = field(default_factory=dict)
    _unnamed: list[str] = field(default_factory=list)
    _lines: dict[str, list[str]] = field(default_factory=dict)  # by uuid the messages of the line

    def take(self, record: Record, *, file: int, agent: str | None = None) -> None:
        """Adds a line of the file with this number; `agent` is the subagent whose file it is."""
        if record.reports and record.reports[1]:
            self.starters.setdefault(record.reports[0], record.reports[1])
        chain = self._chain(record, agent)
        if record.uuid and chain:
            self._chains[record.uuid] = chain
        if record.role is None:
            if record.uuid and record.uuid not in self.owners:
                self.joints.setdefault(record.uuid, record.parent)
            return
        key = self.owners.get(record.uuid or "")
        if key is None and record.answer:
            key = self._answers.get((chain, record.answer))
        if key is None:
            self._begin(record, file, chain)
        else:
            self._continue(self.utterances[key], record, file, chain)

    def drafts(self, parents: Mapping[str, str | None]) -> list[DraftMessage]:
        """The messages as drafts, each below the one that `parents` names for it."""
        return [self._draft(utterance, parents[utterance.key]) for utterance in self.utterances.values()]

    def message_of(self, uuid: str | None) -> str | None:
        """The message of a line or, where the line has no words, of the nearest line above that has."""
        seen: set[str] = set()
        while uuid and uuid not in self.owners and uuid not in seen:
            seen.add(uuid)
            uuid = self.joints.get(uuid)
        return self.owners.get(uuid) if uuid else None

    def _chain(self, record: Record, agent: str | None) -> str | None:
        """The subagent whose talk the line belongs to; None: the main talk."""
        if not (record.sidechain or agent):
            return None
        named = record.agent or agent or self._chains.get(record.parent or "")
        return named or f"{_UNNAMED}{record.uuid or len(self.utterances)}"

    def _begin(self, record: Record, file: int, chain: str | None) -> None:
        """A new message of the line; of a line with several results, one for each and one for what else it says."""
        for blocks in _messages_of(record):
            self._say(record, blocks, file, chain)

    def _say(self, record: Record, blocks: Sequence[Block], file: int, chain: str | None) -> None:
        """A new message of some blocks of the line; the uuid is that of the line's first."""
        known = self._lines.setdefault(record.uuid, []) if record.uuid else []
        suffix = f"#{len(known)}" if known else ""
        key = f"{record.uuid or f'line {len(self.utterances)}'}{suffix}"
        known.append(key)
        utterance = Utterance(
            key=key,
            source_id=f"{record.uuid}{suffix}" if record.uuid else None,
            role=Role.TOOL if blocks[0].kind is BlockKind.RESULT else record.role or Role.USER,
            injected=record.injected,
            above=record.parent,
            root=record.root,
            file=file,
            chain=chain,
            blocks=[],
            time=record.time,
            model=record.model,
            aside=record.aside,
        )
        self.utterances[key] = utterance
        if record.uuid:
            self.owners[record.uuid] = key
        if record.answer:
            self._answers[chain, record.answer] = key
        for block in blocks:
            self._append(utterance, block, record.time)

    def _continue(self, utterance: Utterance, record: Record, file: int, chain: str | None) -> None:
        """A further line of an answer, or a line again: of a person's and a tool's only a fuller copy counts, and other
        words under the same uuid are a message of their own.
        """
        if record.uuid:
            self.owners.setdefault(record.uuid, utterance.key)
        if utterance.role is Role.ASSISTANT:
            earlier = len(utterance.blocks)
            for block in record.blocks:
                if not _takes(utterance, block, earlier):
                    self._append(utterance, block, record.time)
            return
        known = [self.utterances[key] for key in self._lines.get(record.uuid or "", (utterance.key,))]
        if all(one.role is not Role.ASSISTANT for one in known):
            other = [block for block in record.blocks if not any(_takes(one, block, len(one.blocks)) for one in known)]
            if other:
                self._say(record, other, file, chain)

    def _append(self, utterance: Utterance, block: Block, time: datetime | None) -> None:
        """Adds a block, and remembers which call it is or answers; calls without ids are answered in their order."""
        utterance.blocks.append((block, time))
        if block.kind is BlockKind.CALL and block.id:
            self.callers.setdefault(block.id, utterance.key)
        elif block.kind is BlockKind.CALL:
            self._unnamed.append(utterance.key)
        elif block.kind is BlockKind.RESULT and block.id:
            self.results.setdefault(block.id, utterance.key)
        elif block.kind is BlockKind.RESULT and self._unnamed:
            self.results.setdefault(_unnamed_call(self._unnamed.pop(0)), utterance.key)

    def _draft(self, utterance: Utterance, parent: str | None) -> DraftMessage:
        kind = _kind(utterance)
        wanted = _wanted(utterance, kind)
        return DraftMessage(
            role=utterance.role,
            content=utterance.text(wanted),
            source_id=utterance.source_id,
            key=utterance.key,
            parent=parent,
            kind=kind,
            timestamp=_spoken_at(utterance, wanted),
            model=None if utterance.model == "<synthetic>" else utterance.model,
            parts=tuple(_parts(utterance, with_thoughts=kind is not Kind.REASONING)),
            calls=tuple(self._calls(utterance)),
            metadata=self._metadata(utterance),
        )

    def _calls(self, utterance: Utterance) -> Iterator[DraftCall]:
        output = {block.id: block.text for block, _ in utterance.blocks if block.kind is BlockKind.RESULT}
        for block, time in utterance.blocks:
            if block.kind is BlockKind.CALL:
                answer = self.utterances.get(self.results.get(block.id or _unnamed_call(utterance.key), ""))
                apart = answer is not None and answer is not utterance
                yield DraftCall(
                    name=block.name,
                    arguments=block.text,
                    result="" if apart else output.get(block.id, ""),
                    result_of=answer.key if answer is not None and apart else None,
                    timestamp=time,
                    metadata={"id": block.id} if block.id else {},
                )

    def _metadata(self, utterance: Utterance) -> dict[str, Any]:
        told: dict[str, Any] = {}
        if utterance.aside:
            told["context"] = list(utterance.aside)
        if any(block.failed for block, _ in utterance.blocks):
            told["is_error"] = True
        if utterance.chain is not None:
            known = self.agents.get(utterance.chain, {})
            told |= {} if utterance.chain.startswith(_UNNAMED) else {"agent": utterance.chain}
            told |= {key: known[key] for key in ("agentType", "description") if key in known}
        return told


def _unnamed_call(key: str) -> str:
    return f"call of {key}"


def _messages_of(record: Record) -> Iterator[Sequence[Block]]:
    """The blocks of each message that a line is: an answer is one, each result in a person's line is one of its own."""
    results = [block for block in record.blocks if block.kind is BlockKind.RESULT]
    if record.role is Role.ASSISTANT or not results:
        yield record.blocks
        return
    for result in results:
        yield (result,)
    if rest := [block for block in record.blocks if block.kind is not BlockKind.RESULT]:
        yield rest


def _takes(utterance: Utterance, block: Block, earlier: int) -> bool:
    """Whether the block is a copy of one of the first ones; the fuller of both stays."""
    at = _copy_of(block, utterance.blocks[:earlier])
    if at is not None and len(block.text) >= len(utterance.blocks[at][0].text):
        utterance.blocks[at] = (block, utterance.blocks[at][1])
    return at is not None


def _copy_of(block: Block, blocks: Sequence[tuple[Block, datetime | None]]) -> int | None:
    """Where an earlier, perhaps shorter copy of the block stands: a call by its id, words by their beginning."""
    newest = True
    for at in range(len(blocks) - 1, -1, -1):
        other = blocks[at][0]
        if other.kind is not block.kind:
            continue
        if block.id or other.id:
            if block.id == other.id:
                return at
        elif (other.text, other.name, other.parts) == (block.text, block.name, block.parts):
            return at
        elif newest and block.text and other.text and not block.name:
            if block.text.startswith(other.text) or other.text.startswith(block.text):
                return at
            newest = False
    return None


def _kind(utterance: Utterance) -> Kind:
    if utterance.chain is not None:
        return Kind.SUBAGENT
    if utterance.role is Role.TOOL:
        return Kind.TOOL
    if utterance.injected:
        return Kind.CONTEXT
    if utterance.holds(BlockKind.TEXT) or utterance.holds(BlockKind.ASSET):
        return Kind.SAID
    return Kind.TOOL if utterance.holds(BlockKind.CALL) else Kind.REASONING


def _wanted(utterance: Utterance, kind: Kind) -> BlockKind:
    """The blocks that are the message's own words."""
    if utterance.role is Role.TOOL:
        return BlockKind.RESULT
    return BlockKind.THINKING if kind is Kind.REASONING else BlockKind.TEXT


def _spoken_at(utterance: Utterance, wanted: BlockKind) -> datetime | None:
    """When the words came: an answer's thinking stands before them, with a time of its own."""
    times = (time for block, time in utterance.blocks if block.kind is wanted and time)
    return next(times, utterance.time)


def _parts(utterance: Utterance, *, with_thoughts: bool) -> Iterator[Part]:
    for block, _ in utterance.blocks:
        if block.kind is BlockKind.THINKING and with_thoughts:
            yield Part(PartKind.REASONING, text=block.text)
        yield from block.parts


# The order of a Claude Code session: one line of talk, its branches, and the subagents' talks set into it.

_EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Order:
    """The key of each message's parent (None: the beginning), and of the last message of the active path."""

    parents: Mapping[str, str | None]
    leaf: str | None


def arrange(session: Session) -> Order:
    """Who follows whom. Parents are always messages placed before, so that there are no circles."""
    main = [utterance for utterance in session.utterances.values() if utterance.chain is None]
    talk = _Talk(session)
    for utterance in main:
        talk.place(utterance)
    chains: dict[str, list[Utterance]] = {}
    for utterance in session.utterances.values():
        if utterance.chain is not None:
            chains.setdefault(utterance.chain, []).append(utterance)
    inlay = _Inlay(session, main, talk.parents)
    inlay.set_in(chains)
    return Order(inlay.parents, inlay.end_below(talk.newest_end()))


class _Talk:
    """The main talk, message by message. A branch is known by its number; `ends` holds the last message of each."""

    def __init__(self, session: Session) -> None:
        self.parents: dict[str, str | None] = {}
        self._session = session
        self._branch_of: dict[str, int] = {}
        self._ends: list[str] = []
        self._opening: dict[str | None, str] = {}  # what a person said first below a message
        self._last_of_file: dict[int, str] = {}
        self._main = [utterance for utterance in session.utterances.values() if utterance.chain is None]
        self._chained = any(u.role is Role.ASSISTANT and u.above for u in self._main)
        self._openers = self._find_openers()

    def place(self, utterance: Utterance) -> None:
        """Puts a message behind the end of its branch, or opens a branch with it."""
        above = self._above(utterance)
        opens = utterance.key in self._openers
        rival = self._opening.setdefault(above, utterance.key) if opens else utterance.key
        if rival != utterance.key:
            self._put(utterance, self.parents[rival], len(self._ends))
        elif above is None:
            self._put(utterance, None, len(self._ends))
        else:
            branch = self._branch_of[above]
            self._put(utterance, self._ends[branch], branch)

    def newest_end(self) -> str | None:
        """The end of the branch that was talked in last."""
        heard = self._session.utterances
        ends = enumerate(self._ends)
        return max(ends, key=lambda end: (heard[end[1]].time or _EARLIEST, end[0]), default=(0, None))[1]

    def _put(self, utterance: Utterance, parent: str | None, branch: int) -> None:
        self.parents[utterance.key] = parent
        self._branch_of[utterance.key] = branch
        self._last_of_file[utterance.file] = utterance.key
        if branch == len(self._ends):
            self._ends.append(utterance.key)
        else:
            self._ends[branch] = utterance.key

    def _above(self, utterance: Utterance) -> str | None:
        """The message that this one hangs below. One whose parent is nowhere follows what stands before it."""
        above = self._session.message_of(utterance.above)
        if above in self._branch_of:
            return above
        if utterance.root and self._chained and utterance.key in self._openers and None in self._opening:
            return None
        before = self._last_of_file.get(utterance.file)
        return before or next(reversed(self._branch_of), None)

    def _find_openers(self) -> set[str]:
        """What a person said, and what was put in before it (a command, a caveat), which then opens the branch."""
        openers: set[str] = set()
        for utterance in reversed(self._main):
            if utterance.prompts:
                openers.add(utterance.key)
            if utterance.key in openers:
                above = self._session.utterances.get(self._session.message_of(utterance.above) or "")
                if above is not None and above.injected and above.role is not Role.ASSISTANT:
                    openers.add(above.key)
        return openers


class _Inlay:
    """Sets the talks of subagents into the main talk."""

    def __init__(self, session: Session, main: list[Utterance], parents: Mapping[str, str | None]) -> None:
        self.parents = dict(parents)
        self._session = session
        self._main = main
        self._below: dict[str | None, list[str]] = {}
        for key, parent in parents.items():
            self._below.setdefault(parent, []).append(key)
        self._tasks = self._calls_by_prompt()

    def set_in(self, chains: Mapping[str, list[Utterance]]) -> None:
        """Sets in all of them, those that others started after those; the later first, so that they stand in order."""
        waiting = sorted(chains.items(), key=lambda chain: chain[1][0].time or _EARLIEST, reverse=True)
        while waiting:
            ready = [(name, talk) for name, talk in waiting if self._is_placed(self._starter(name, talk))]
            for name, talk in ready or waiting[:1]:
                self._insert(talk, self._anchor(name, talk))
            waiting = [(name, talk) for name, talk in waiting if talk[0].key not in self.parents]

    def end_below(self, key: str | None) -> str | None:
        """The end of the talk that follows a message, itself if nothing does."""
        while below := self._below.get(key):
            key = below[-1]
        return key

    def _is_placed(self, starter: str | None) -> bool:
        return starter is None or starter in self.parents

    def _insert(self, talk: Iterable[Utterance], anchor: str | None) -> None:
        """Puts the talk behind the anchor (None: before everything), and what followed the anchor behind the talk."""
        followers = self._below.pop(anchor, [])
        last = anchor
        for utterance in talk:
            self.parents[utterance.key] = last
            self._below[last] = [utterance.key]
            last = utterance.key
        for key in followers:
            self.parents[key] = last
        if followers:
            self._below[last] = followers

    def _anchor(self, name: str, talk: list[Utterance]) -> str | None:
        """Behind what the talk goes: just before the result of the call that started it, else by its time."""
        starter = self._starter(name, talk)
        if starter is not None and starter in self.parents:
            result = self._result(name, talk)
            return self.parents[result] if result is not None and result in self.parents else starter
        began = talk[0].time
        before = (u.key for u in reversed(self._main) if began is None or (u.time and u.time <= began))
        return next(before, None)

    def _starter(self, name: str, talk: list[Utterance]) -> str | None:
        """The message with the call that started the subagent, or the one that its talk hangs below."""
        call = self._call(name, talk)
        if call in self._session.callers:
            return self._session.callers[call]
        above = self._session.message_of(talk[0].above)
        return above if above is not None and self._session.utterances[above].chain != talk[0].chain else None

    def _result(self, name: str, talk: list[Utterance]) -> str | None:
        return self._session.results.get(self._call(name, talk))

    def _call(self, name: str, talk: list[Utterance]) -> str:
        """The id of the call that started the subagent, from its own file, from the main talk, or by its prompt."""
        told = self._session.agents.get(name, {}).get("toolUseId")
        if isinstance(told, str) and told in self._session.callers:
            return told
        return self._session.starters.get(name) or self._tasks.get(talk[0].text().strip(), "")

    def _calls_by_prompt(self) -> dict[str, str]:
        """Older files say nothing of the call, but the subagent's talk begins with the call's prompt."""
        return {
            prompt.strip(): block.id
            for utterance in self._main
            for block, _ in utterance.blocks
            if block.kind is BlockKind.CALL and block.id and (prompt := block.prompt)
        }
