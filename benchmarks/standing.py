"""What a context tells whatever is asked: of what still holds, of what has passed, and of all else that was stored.

python -m benchmarks.standing [--stories seen,kept] [--budget 2000] [--messages 800]

A story is stored as its people tell it, and as a program stores it; then come so many messages of other talk, and a
greeting, in that conversation and in a new one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import recollect
from benchmarks.datasets import Said, sets_named
from benchmarks.tables import table
from recollect.context.result import Context
from recollect.memory import Memory
from recollect.record import Role

STORIES = Path(__file__).resolve().parent / "stands"
GREETING = "Good morning!"
_TALK = "beam-dev"
_ABOUT = {"user": "The user's"}
_STANDING = ("rules", "facts", "summaries")


@dataclass(frozen=True, slots=True)
class Seen:
    """What a greeting is told: how many things that hold, that have passed and are told as if not, and other ones."""

    story: str
    where: str
    holds: int
    told: int
    standing: int  # of them in the long-term parts
    passed: int
    passed_told: int
    others: int
    others_told: int
    tokens: int
    missing: tuple[str, ...]


def main(arguments: list[str]) -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(prog="benchmarks.standing", description=__doc__)
    parser.add_argument("--stories", default="seen,kept")
    parser.add_argument("--budget", type=int, default=2_000)
    parser.add_argument("--messages", type=int, default=800)
    parser.add_argument("--show", action="store_true", help="the standing parts of each context")
    options = parser.parse_args(arguments)
    sets, notes = sets_named([_TALK])
    if notes:
        print("\n".join(notes), file=sys.stderr)
        return 1
    talk = [message for history in sets[0].histories for message in history.messages]
    for name in options.stories.split(","):
        stories = json.loads((STORIES / f"{name}.json").read_text(encoding="utf-8"))["stories"]
        found = [
            seen for story in stories for seen in measure(story, talk, options.messages, options.budget, options.show)
        ]
        print(f"\n{name}\n\n{report(found)}")
        for seen in found:
            print(f"{seen.story}, {seen.where}: missing {', '.join(seen.missing) or 'nothing'}", file=sys.stderr)
    return 0


def measure(
    story: Mapping[str, Any], talk: Sequence[Said], messages: int, budget: int, show: bool = False
) -> Iterator[Seen]:
    """A story in a memory of its own, seen from its conversation and from a new one."""
    with (
        TemporaryDirectory() as folder,
        recollect.open(Path(folder) / "memory.db", durable=False, background=False) as memory,
    ):
        last = _store(memory, story)
        words = [word.casefold() for word in _words(story)]
        other = (one for one in talk if not any(word in one.content.casefold() for word in words))
        for place, one in enumerate(islice(other, messages)):
            memory.store_message(
                one.content,
                Role(one.role),
                conversation_id="here",
                timestamp=last + timedelta(minutes=10 * (place + 1)),
            )
        memory.store_message(GREETING, conversation_id="new", timestamp=last + timedelta(minutes=10 * (messages + 9)))
        memory.upkeep.consolidate()
        for where in ("here", "new"):
            context = memory.prepare_context(GREETING, where, budget)
            if show:
                print(f"--- {story['name']}, {where}\n{standing_text(context)}\n", file=sys.stderr)
            yield _seen(story, where, context)


def _store(memory: Memory, story: Mapping[str, Any]) -> datetime:
    """Stores all of it in the order of time; every other of the other sentences as a fact. Returns when it ends."""
    told = [(one, thing) for thing in story["standing"] for one in thing["told"]]
    dates = sorted(one["date"] for one, _ in told if "date" in one)
    first, last = _at(dates[0]), _at(dates[-1])
    entries = [(_at(one.get("date", dates[0])), _as(one)) for one, _ in told]
    step = (last - first) / len(story["others"])
    for place, other in enumerate(story["others"]):
        as_what = "fact" if place % 2 else "message"
        entries.append((first + place * step, {"as": as_what, "content": other["text"]}))
    for at, entry in sorted(entries, key=lambda one: one[0]):
        if entry["as"] == "message":
            memory.store_message(entry["content"], conversation_id="here", timestamp=at)
        elif entry["as"] == "rule":
            memory.knowledge.add_rule(entry["content"])
        else:
            asked = {name: entry[name] for name in ("entity", "value") if name in entry}
            memory.store_fact(entry["content"], entry.get("attribute", ""), said_at=at, **asked)
    return last


def _as(one: Mapping[str, Any]) -> dict[str, Any]:
    if one["as"] != "fact":
        return {"as": one["as"], "content": one["text"]}
    owner = _ABOUT.get(one["entity"], f"{one['entity']}'s")
    return {**one, "content": f"{owner} {one['attribute']} is {one['value']}."}


def _at(date: str) -> datetime:
    return datetime.fromisoformat(date).replace(hour=9, tzinfo=UTC)


def _words(story: Mapping[str, Any]) -> Iterator[str]:
    """What other talk must not hold: what is looked for, and whom it is about."""
    for thing in story["standing"]:
        yield from _spellings(thing)
        yield from thing["not_any_more"]
        yield from (one["entity"] for one in thing["told"] if one.get("entity", "user") != "user")
    yield from (other["word"] for other in story["others"])


def _spellings(thing: Mapping[str, Any]) -> list[str]:
    return [*thing["now_true"], *thing.get("other_spellings", ())]


def standing_text(context: Context) -> str:
    """The parts that stand, without the newest messages."""
    return "\n".join(part.text for part in context.parts if part.name in _STANDING)


def _seen(story: Mapping[str, Any], where: str, context: Context) -> Seen:
    whole, standing = context.text.casefold(), standing_text(context).casefold()
    plain = "\n".join(part.text for part in context.parts if part.name in ("rules", "facts")).casefold()
    holds = [thing for thing in story["standing"] if not thing.get("passed")]
    there = [thing for thing in holds if _is_in(_spellings(thing), whole)]
    passed = [thing["not_any_more"] for thing in holds if thing["not_any_more"]]
    passed += [_spellings(thing) for thing in story["standing"] if thing.get("passed")]
    return Seen(
        story["name"],
        where,
        len(holds),
        len(there),
        sum(_is_in(_spellings(thing), standing) for thing in holds),
        len(passed),
        sum(_is_in(words, plain) for words in passed),
        len(story["others"]),
        sum(other["word"].casefold() in whole for other in story["others"]),
        context.tokens,
        tuple(thing["now_true"][0] for thing in holds if thing not in there),
    )


def _is_in(words: Sequence[str], text: str) -> bool:
    return any(word.casefold() in text for word in words)


def report(found: Sequence[Seen]) -> str:
    """A row for each conversation of each story, and one for all."""
    rows = [_row(seen.story, seen.where, [seen]) for seen in found]
    rows += [_row("all", where, [seen for seen in found if seen.where == where]) for where in ("here", "new")]
    header = ["story", "greeted in", "holds", "of it standing", "passed, as if it held", "of other sentences", "tokens"]
    return table(header, rows)


def _row(name: str, where: str, some: Sequence[Seen]) -> list[str]:
    def of(part: str, whole: str) -> str:
        return f"{sum(getattr(one, part) for one in some)} of {sum(getattr(one, whole) for one in some)}"

    return [
        name,
        where,
        of("told", "holds"),
        of("standing", "holds"),
        of("passed_told", "passed"),
        of("others_told", "others"),
        f"{max(one.tokens for one in some):,}",
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
