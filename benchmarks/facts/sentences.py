"""The hand-made set: a sentence a line, and what must be drawn from it.

`WORDS => CLAIM; CLAIM`, where a claim is `entity|attribute|value`, with `|ended` where something ended; a value that
begins with "~" need only be contained. After " ? " come claims that may be drawn and need not. `@Name:` is a person who
speaks, `#assistant:`, `#context:` and `#tool:` say whose words they are, `U:` and `A:` stand before what was said
before, up to `>>`, separated by `||`. "# " begins a remark. Nothing after "=>": nothing must be drawn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from recollect.derive.facts.claim import Claim, entity_key, folded
from recollect.record import Kind, Message, NodeId, Role

HERE = Path(__file__).parent
PARTS = ("dev", "heldout")
_SAID = datetime(2025, 7, 14, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A claim as the set names it."""

    entity: str
    attribute: str
    value: str
    ended: bool

    def fits(self, claim: Claim) -> bool:
        """Whether a claim is this one."""
        value = _plain(claim.value)
        same = (
            self.value[1:].lower() in claim.value.lower() if self.value.startswith("~") else value == _plain(self.value)
        )
        return (
            same
            and entity_key(claim.entity) == entity_key(self.entity)
            and claim.attribute == self.attribute
            and (claim.polarity.value == "ended") == self.ended
        )


@dataclass(frozen=True, slots=True)
class Example:
    """A message with what came before it, what must be drawn, and what may be."""

    message: Message
    before: tuple[Message, ...]
    must: tuple[Wanted, ...]
    may: tuple[Wanted, ...]


def examples(part: str) -> list[Example]:
    """The examples of a part, in order."""
    lines = (HERE / f"{part}.txt").read_text(encoding="utf-8").splitlines()
    return [_example(line, number) for number, line in enumerate(lines) if line.strip() and not line.startswith("# ")]


def _example(line: str, number: int) -> Example:
    words, _, wanted = line.rpartition("=>")
    before: list[Message] = []
    if " >> " in words:
        earlier, _, words = words.partition(" >> ")
        for at, said in enumerate(earlier.split(" || ")):
            role = Role.USER if said.startswith("U:") else Role.ASSISTANT
            before.append(_message(said[2:].strip(), at, number, role=role))
    must, _, may = wanted.partition(" ? ") if " ? " in wanted else (wanted, "", "")
    return Example(_read(words.strip(), len(before), number), tuple(before), _claims(must), _claims(may))


def _read(words: str, position: int, number: int) -> Message:
    if match := re.match(r"@(\w+): ", words):
        return _message(words[match.end() :], position, number, speaker=match[1])
    if match := re.match(r"#(assistant|context|tool): ", words):
        role = {"assistant": Role.ASSISTANT, "context": Role.USER, "tool": Role.TOOL}[match[1]]
        kind = {"assistant": Kind.SAID, "context": Kind.CONTEXT, "tool": Kind.TOOL}[match[1]]
        return _message(words[match.end() :], position, number, role=role, kind=kind)
    return _message(words, position, number)


def _message(
    words: str,
    position: int,
    number: int,
    *,
    role: Role = Role.USER,
    kind: Kind = Kind.SAID,
    speaker: str | None = None,
) -> Message:
    return Message(
        id=NodeId(f"m{number}-{position}"),
        conversation_id=NodeId(f"c{number}"),
        role=role,
        content=words.replace("\\n", "\n"),
        kind=kind,
        speaker=speaker,
        timestamp=_SAID,
        position=position,
    )


def _claims(text: str) -> tuple[Wanted, ...]:
    found = []
    for part in filter(str.strip, text.strip().removeprefix("?").split(";")):
        entity, attribute, value, *more = part.strip().split("|")
        found.append(Wanted(entity, attribute, value, more == ["ended"]))
    return tuple(found)


def _plain(value: str) -> str:
    return re.sub(r" years?$", "", folded(value))


@dataclass(frozen=True, slots=True)
class Judged:
    """What was drawn from an example, against what must be."""

    example: Example
    right: tuple[Claim, ...]
    wrong: tuple[Claim, ...]
    missed: tuple[Wanted, ...]


def judged(example: Example, claims: Sequence[Claim]) -> Judged:
    """Each claim is right or wrong; what may be drawn counts as neither."""
    right = [c for c in claims if any(w.fits(c) for w in example.must)]
    wrong = [c for c in claims if not any(w.fits(c) for w in (*example.must, *example.may))]
    missed = [w for w in example.must if not any(w.fits(c) for c in claims)]
    return Judged(example, tuple(right), tuple(wrong), tuple(missed))
