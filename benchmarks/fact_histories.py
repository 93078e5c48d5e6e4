"""Whether facts settle to the right history, however they are told: `python -m benchmarks.fact_histories`.

`benchmarks/facts` holds two sets of 60 stories, each by somebody who had not seen the code: the first was read while
settling was built, the second (`kept_histories.json`) was written afterwards and is kept apart. A story is statements
in the order in which they arrive, each with its provenance, entity, attribute and value, whether it holds or has ended,
when it was said (in half of the stories), since or until when it holds and before which value, as far as that is told,
and which value it corrects; and what holds on the day on which is asked, and all that ever held, in order. Each story
is told to fresh memories:

- by a program: `store_fact` for every statement, `edit_fact` for corrections;
- in messages: the claims that a model would draw from them; without timestamps one imported conversation;
- mixed: every statement in a way of its own, by `store_fact`, in a message, or by HierarchicalMemory;
- mixed, in other orders: where statements have a time, and corrections stay behind what they correct.

What is printed: of how many attributes the current values are right, and of how many the whole history.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import recollect
from recollect import HierarchicalMemory
from recollect.derive.facts.changes import MODEL, ClaimChanges, settled
from recollect.derive.facts.claim import Claim, Polarity, canonical_attribute, content_of, entity_key, folded, is_single
from recollect.derive.facts.fact import Fact
from recollect.derive.facts.stored import claim_in
from recollect.derive.tasks.queue import Publisher, head_revision
from recollect.memory import Memory
from recollect.record import NodeId

STORIES = {
    "seen": Path(__file__).with_name("facts") / "histories.json",
    "kept apart": Path(__file__).with_name("facts") / "kept_histories.json",
}
WAYS = ("by a program", "in messages", "mixed", "mixed, in other orders")
_TURNS = 5  # orders and mixtures of each story
_TALK = "talk"
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class Clock:
    """The time in a story."""

    now: datetime

    def __call__(self) -> datetime:
        """What it shows."""
        return self.now


@dataclass(frozen=True, slots=True)
class Asked:
    """What was answered about one attribute of somebody, beside what is right."""

    story: str
    about: tuple[str, str]
    current: list[str]
    history: list[str]
    right_current: list[str]
    right_history: list[str]

    @property
    def is_current(self) -> bool:
        """Whether what holds is right."""
        return sorted(map(folded, self.current)) == sorted(map(folded, self.right_current))

    @property
    def is_whole(self) -> bool:
        """Whether the whole history is right."""
        return list(map(folded, self.history)) == list(map(folded, self.right_history))


@dataclass(slots=True)
class Telling:
    """A memory that a story is told to."""

    story: dict[str, Any]
    folder: Path
    memory: Memory = field(init=False)
    clock: Clock = field(init=False)
    arrived: int = 0

    def __post_init__(self) -> None:
        self.clock = Clock(_moment(self.story["now"]) - timedelta(hours=1))
        self.memory = recollect.open(self.folder / "memory.db", namespace="agent", durable=False, background=False)
        self.memory.handle.clock = self.clock

    def tell(self, told: dict[str, Any], way: str) -> None:
        """One statement, at the time at which it was said, or else now."""
        self.arrived += 1
        said = _moment(told["said_at"])
        self.clock.now = said or self.clock.now + timedelta(seconds=1)
        if told["corrects"] and self._correct(told):
            return
        if way == "program":
            self._store(told, said)
        elif way == "graph":
            with HierarchicalMemory("agent", self.folder / "memory.db", clock=self.clock) as agent:
                agent.store_fact(content_of(told["entity"], told["attribute"], told["value"]), told["attribute"])
        else:
            message = self.memory.store_message(told["text"], conversation_id=_TALK, timestamp=self.clock.now)
            self.draw([(told, message.id, self.clock.now, message.position)])

    def import_all(self, statements: Sequence[dict[str, Any]]) -> None:
        """A conversation whose messages have no times."""
        messages = [{"role": "user", "id": f"m{n}", "content": told["text"]} for n, told in enumerate(statements)]
        path = self.folder / "talk.jsonl"
        path.write_text(json.dumps({"id": _TALK, "messages": messages}) + "\n", encoding="utf-8")
        self.memory.import_file(path)
        (row,) = self.memory.conversations()
        kept = self.memory.conversation(row.conversation.id).messages
        self.draw([(told, kept[n].id, None, n) for n, told in enumerate(statements)])

    def draw(self, told: Iterable[tuple[dict[str, Any], str, datetime | None, int]]) -> None:
        """What a model would draw from messages."""
        ledger = ClaimChanges()
        claims = [_claim(one, NodeId(name), said, position) for one, name, said, position in told]
        ledger.add(claims, MODEL, run="told")
        with self.memory.handle.space.view() as view:
            revision, effects = head_revision(view), settled(view, ledger)
        change = Publisher(self.memory.handle.embedder).change(effects, revision)
        self.memory.handle.space.write(change)

    def asked(self) -> list[Asked]:
        """What the memory answers on the day of the question."""
        self.clock.now = _moment(self.story["now"])
        facts = self.memory.facts(include_past=True)
        current = {(one["entity"], one["attribute"]): one["values"] for one in self.story["expect"]["current"]}
        found = []
        for one in self.story["expect"]["histories"]:
            about = (one["entity"], one["attribute"])
            own = [fact for fact in facts if _is_about(fact, about)]
            own = [fact for fact in own if fact.valid_from is None or fact.valid_from <= self.clock.now]
            held = [fact.value for fact in own if fact.holds(self.clock.now)]
            history = [fact.value for fact in self._in_order(own)]
            found.append(Asked(self.story["id"], about, held, history, current[about], one["values"]))
        return found

    def _in_order(self, facts: Sequence[Fact]) -> list[Fact]:
        """As they held: of what has one value at a time as its history says, else by begin."""
        if facts and is_single(facts[0].attribute):
            names = {fact.id for fact in facts}
            newest = max(facts, key=lambda fact: sum(older.id in names for older in fact.history))
            return [*(older for older in reversed(newest.history) if older.id in names), newest]
        positions = {m.id: m.position for row in self.memory.conversations() for m in self._messages(row)}

        def place(fact: Fact) -> tuple[datetime, int]:
            return fact.valid_from or _LONG_AGO, min((positions.get(p.message_id, 0) for p in fact.proofs), default=0)

        return sorted(facts, key=place)

    def _messages(self, row: Any) -> Any:
        return self.memory.conversation(row.conversation.id).messages

    def _correct(self, told: dict[str, Any]) -> bool:
        """Corrects a value that is there by hand."""
        found = [f for f in self.memory.facts(include_past=True) if _is_about(f, (told["entity"], told["attribute"]))]
        wrong = [fact for fact in found if folded(fact.value) == folded(told["corrects"])]
        if wrong:
            self.memory.knowledge.edit_fact(wrong[0].id, told["text"], value=told["value"])
        return bool(wrong)

    def _store(self, told: dict[str, Any], said: datetime | None) -> None:
        self.memory.store_fact(
            told["text"],
            told["attribute"],
            entity=told["entity"],
            value=told["value"],
            said_at=said,
            since=_moment(told["since"]),
            until=_moment(told["until"], end=True),
            before=told["before"] or "",
            ended=told["polarity"] == "ended",
        )


def told(story: dict[str, Any], way: str, turn: int, folder: Path) -> list[Asked]:
    """What a memory answers that a story was told in a way."""
    random, telling = Random(f"{story['id']} {turn}"), Telling(story, folder)
    statements = list(story["statements"])
    if way == "in messages" and not story["timestamps"]:
        telling.import_all(statements)
    else:
        if way == WAYS[-1]:
            random.shuffle(statements)
            statements.sort(key=lambda one: bool(one["corrects"]))
            statements = _corrections_in_order(statements, story["statements"])
        for one in statements:
            plain = {WAYS[0]: "program", WAYS[1]: "message"}.get(way)
            telling.tell(one, plain or random.choice(_ways_of(one)))
    with telling.memory:
        return telling.asked()


def _corrections_in_order(statements: list[dict[str, Any]], given: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for one in statements if not one["corrects"]] + [one for one in given if one["corrects"]]


def _ways_of(one: dict[str, Any]) -> list[str]:
    """The public ways in which a statement can be made."""
    words = content_of(one["entity"], one["attribute"], one["value"])
    read = claim_in(words, NodeId("x"))
    plain = not any(one[name] for name in ("since", "until", "before", "corrects")) and one["polarity"] == "is"
    found = None if read is None else (read.entity, read.attribute, read.value)
    fits = plain and found == (one["entity"], one["attribute"], one["value"])
    return ["program", "message", *(["graph"] if fits else [])]


def _claim(one: dict[str, Any], message: NodeId, said: datetime | None, position: int) -> Claim:
    return Claim(
        entity=one["entity"],
        attribute=canonical_attribute(one["attribute"]),
        value=one["value"],
        content=one["text"],
        message_id=message,
        start=0,
        end=len(one["text"]),
        quote=one["text"],
        said_by="user",
        said_at=said,
        order=(_TALK, position),
        polarity=Polarity(one["polarity"]),
        since=_moment(one["since"]),
        until=_moment(one["until"], end=True),
        before=one["before"] or "",
        corrects=one["corrects"] or "",
    )


def _is_about(fact: Fact, about: tuple[str, str]) -> bool:
    entity, attribute = about
    return entity_key(fact.entity) == entity_key(entity) and fact.attribute == canonical_attribute(attribute)


def _moment(day: str | None, *, end: bool = False) -> Any:
    """The beginning of a year, month or day, or the end of it."""
    if day is None:
        return None
    parts = [int(part) for part in day.split("-")]
    year, month, date = [*parts, 1, 1][:3]
    if not end:
        return datetime(year, month, date, tzinfo=UTC)
    if len(parts) == 3:
        return datetime(year, month, date, tzinfo=UTC) + timedelta(days=1)
    months = year * 12 + month - 1 + (12 if len(parts) == 1 else 1)
    return datetime(months // 12, months % 12 + 1, 1, tzinfo=UTC)


def main() -> None:
    """Tells every story and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--show", action="store_true", help="print each answer that is not right")
    shows = parser.parse_args().show
    counts: defaultdict[tuple[str, str, bool], list[Asked]] = defaultdict(list)
    for name, path in STORIES.items():
        for way, story in product(WAYS, json.loads(path.read_text(encoding="utf-8"))):
            if way == WAYS[-1] and not story["timestamps"]:
                continue
            for turn in range(_TURNS if way.startswith("mixed") else 1):
                with tempfile.TemporaryDirectory() as folder:
                    counts[name, way, story["timestamps"]] += told(story, way, turn, Path(folder))
    print("| stories | told | timestamps | attributes | current values right | histories right |")
    print("|---|---|---|--:|--:|--:|")
    for (name, way, timed), answers in counts.items():
        shares = [100 * sum(one.is_current for one in answers), 100 * sum(one.is_whole for one in answers)]
        figures = " | ".join(f"{share / len(answers):.1f} %" for share in shares)
        print(f"| {name} | {way} | {'with' if timed else 'without'} | {len(answers)} | {figures} |", flush=True)
        for one in answers if shows else ():
            if not (one.is_current and one.is_whole):
                print(f"  {one}", file=sys.stderr)


if __name__ == "__main__":
    main()
