"""Entities by a language model: a run of messages is asked about once, and what it finds is added to the same nodes.

A model's mentions are edges beside those of the rules, named "model", with the run that they came from. They live as
long as the run: where a message of it changes, all of them go, and the new run is asked about. What the model answers
counts only where the messages bear it out: a name that a message has, a quotation that is there word for word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from recollect.derive.entities.derive import KIND, RUNS, settled
from recollect.derive.entities.naming import YOU, entity_id, folded
from recollect.derive.entities.statements import SAME, is_apt
from recollect.derive.entities.tally import BY_MODEL, BY_RULES, BY_TURN, MENTIONS, Share, mention
from recollect.derive.tasks.base import Effects, ModelWork, Setting
from recollect.derive.tasks.runs import MessageRun, material
from recollect.index.passages import is_person
from recollect.models.language.base import Completion, Request
from recollect.models.language.prompts import prompt, request
from recollect.models.language.transcript import Material
from recollect.record import Edge, Message, NodeId, to_microseconds
from recollect.store import Task, View

_ALL = 10_000_000
_TYPES = {
    "software": "technology", "method": "concept", "substance": "concept", "condition": "concept", "other": "concept",
}  # fmt: skip


#: Whether a message states words that say something of one of some names.
BearsOut = Callable[[Message, str, Iterable[str]], bool]


class EntitiesByModel(ModelWork):
    """Entities and relations from a run of messages with a language model."""

    kind = KIND

    def __init__(self, bears_out: BearsOut) -> None:
        self._bears_out = bears_out

    def request(self, view: View, task: Task) -> Request | None:
        """What to ask; None where the run has changed, or grows on."""
        run = RUNS.wanted(view, task)
        return request(KIND, material(view, run).text) if run else None

    def apply(self, view: View, task: Task, answer: Completion, setting: Setting) -> Effects:
        """The mentions and relations that the messages bear out, in place of what a model said of these before."""
        run = RUNS.wanted(view, task)
        if run is None:
            return Effects()
        there = view.edges([message.id for message in run.messages], (MENTIONS,), "out", _ALL)
        old = [edge for edge in there if edge.name != BY_TURN]
        read = _Answer(run, material(view, run), answer.data, self._bears_out)
        new = [edge for edge in old if edge.name == BY_RULES] + read.edges(f"{prompt(KIND).id} {answer.model}")
        made = settled(view, old, new)
        return replace(made, put=[*made.put, RUNS.asked(run)])


class _Answer:
    """An answer, read against the messages that it is about."""

    def __init__(self, run: MessageRun, material: Material, data: Mapping[str, Any], bears_out: BearsOut) -> None:
        self._messages, self._bears_out = {message.id: message for message in run.messages}, bears_out
        self._run, self._material, self._data = RUNS.id(run), material, data
        self._names: dict[str, str] = {}  # folded spelling: the name that it stands for
        self._types: dict[str, str] = {}
        for entity in data["entities"]:
            for spelling in (entity["name"], *entity["aliases"]):
                self._names.setdefault(folded(spelling), " ".join(entity["name"].split()))
                self._types.setdefault(folded(spelling), _TYPES.get(entity["type"], entity["type"]))

    def edges(self, made_by: str) -> list[Edge]:
        """The mentions, with what is said of each."""
        found: dict[tuple[NodeId, NodeId], tuple[str, str, set[tuple[str, NodeId]]]] = {}
        for message, spelling in self._mentioned():
            self._mention(found, message, spelling)
        named = {key[1] for key in found}
        for message, source, relation, target in self._stated():
            for name in (source, target):
                self._mention(found, message, name)
            found[message.id, entity_id(source)][2].add((relation, entity_id(target)))
        for spelling, _, says in found.values():
            name = self._names.get(folded(spelling), spelling)
            if folded(name) != folded(spelling) and entity_id(name) in named:
                says.add((SAME, entity_id(name)))
        return [
            mention(
                message,
                entity,
                Share(spelling, (kind,), to_microseconds(self._messages[message].timestamp), frozenset(says)),
                BY_MODEL,
                {"run": self._run, "by": made_by},
            )
            for (message, entity), (spelling, kind, says) in sorted(found.items())
        ]

    def _mention(
        self,
        found: dict[tuple[NodeId, NodeId], tuple[str, str, set[tuple[str, NodeId]]]],
        message: Message,
        spelling: str,
    ) -> None:
        kind = "person" if spelling == YOU else self._types.get(folded(spelling), "concept")
        found.setdefault((message.id, entity_id(spelling)), (spelling, kind, set()))

    def _mentioned(self) -> Iterator[tuple[Message, str]]:
        """Names and aliases where the message that is said to name them does."""
        for entity in self._data["entities"]:
            for number in entity["messages"]:
                message = self._message(number)
                for spelling in (entity["name"], *entity["aliases"]):
                    if message is not None and _names(message, spelling):
                        yield message, " ".join(spelling.split())

    def _stated(self) -> Iterator[tuple[Message, str, str, str]]:
        """Relations that their quotation bears out, between entities of the answer."""
        for relation in self._data["relations"]:
            message = self._message(relation["message"])
            ends = {folded(relation[end]) for end in ("source", "target")}
            names = [one for one, name in self._names.items() if {one, folded(name)} & ends]
            if message is None or not self._bears_out(message, relation["quote"], names):
                continue
            source, target = (self._end(relation[end], message) for end in ("source", "target"))
            if source and target and folded(source) != folded(target):
                kinds = (self._kind(relation[end]) for end in ("source", "target"))
                if is_apt(relation["relation"], *kinds, by_speaker=folded(relation["source"]) == "user"):
                    yield message, source, relation["relation"], target

    def _end(self, name: str, message: Message) -> str | None:
        if folded(name) == "user":
            return message.speaker if message.speaker and is_person(message.speaker) else YOU
        return self._names.get(folded(name))

    def _kind(self, name: str) -> str | None:
        return "person" if folded(name) == "user" else self._types.get(folded(name))

    def _message(self, number: int) -> Message | None:
        own = self._material.id(number)
        return self._messages.get(own) if own else None


def _names(message: Message, spelling: str) -> bool:
    """Whether a message has a name as a whole word."""
    return bool(re.search(rf"(?<![a-z0-9]){re.escape(folded(spelling))}(?!(?!s\b)[a-z0-9])", folded(message.content)))
