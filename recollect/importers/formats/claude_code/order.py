"""The order of a Claude Code session: one line of talk, its branches, and the subagents' talks set into it.

The parents in the file say less than they seem to: parallel calls fan out, bookkeeping stands between, a compaction
cuts the chain. Only two prompts below one message are a branch; all else follows what came before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from recollect.importers.formats.claude_code.lines import BlockKind
from recollect.importers.formats.claude_code.session import Session, Utterance
from recollect.record import Role

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
