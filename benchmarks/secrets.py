"""How well secrets are found in texts by writers who had not seen the detector: `python -m benchmarks.secrets`.

A secret is found where all of it is marked. Speed is that of one core. `--misses` lists what is missed in the part that
is there to be looked at, and what is marked in its ordinary messages; the other part is only counted.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from typing import NamedTuple

from benchmarks.secret_texts import KINDS, PARTS, Kind, Message, messages
from recollect.text.secrets import Secret, find_secrets


class Share(NamedTuple):
    """How many of how many."""

    some: int
    of: int

    def __str__(self) -> str:
        return f"{self.some / self.of:.1%} of {self.of:,}" if self.of else "none there"


class Figures(NamedTuple):
    """What was found in a part."""

    found: dict[Kind, Share]
    marked: Share
    messages_a_second: float

    def row(self, name: str) -> str:
        """A row of the table."""
        cells = (name, self.found["listed"], self.marked, self.found["prose"], f"{self.messages_a_second:,.0f}")
        return f"| {' | '.join(map(str, cells))} |"


HEAD = """\
| texts | secrets with a format or in a place that tells | ordinary messages marked | in sentences | messages a second |
|---|---:|---:|---:|---:|"""


def is_found(text: str, secret: str, marks: Iterable[Secret]) -> bool:
    """Whether every occurrence of a secret is marked, by one mark or several side by side."""
    covered = bytearray(len(text))
    for mark in marks:
        covered[mark.start : mark.end] = b"\1" * (mark.end - mark.start)
    at = text.find(secret)
    while at >= 0:
        if not all(covered[at : at + len(secret)]):
            return False
        at = text.find(secret, at + 1)
    return secret in text


def measure(texts: list[Message]) -> Figures:
    """Find the secrets of these messages and count."""
    find_secrets("password: warm-up-1 AKIA")  # compiles the patterns
    began = time.process_time()
    marks = [find_secrets(message.text) for message in texts]
    took = time.process_time() - began
    read = list(zip(texts, marks, strict=True))
    found = {}
    for kind in KINDS:
        hits = [is_found(text, one, own) for (text, secrets, of, _), own in read if of == kind for one in secrets]
        found[kind] = Share(sum(hits), len(hits))
    ordinary = [bool(own) for message, own in read if message.kind == "ordinary"]
    return Figures(found, Share(sum(ordinary), len(ordinary)), len(texts) / took)


def misses(texts: list[Message]) -> Iterable[str]:
    """A line for each secret that is not found, but for those in sentences, and each mark that is wrong."""
    for text, secrets, kind, form in texts:
        marks = find_secrets(text)
        wrong = [text[mark.start : mark.end] for mark in marks] if kind == "ordinary" else []
        missed = [one for one in secrets if not is_found(text, one, marks)] if kind == "listed" else []
        for one in wrong + missed:
            at = text.index(one)
            yield f"{kind}, {form}: {text[max(0, at - 80) : at + len(one) + 40]!r}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--misses", action="store_true", help="list what is missed or wrong in the part `dev`")
    if parser.parse_args().misses:
        print(*misses(list(messages("dev"))), sep="\n")
        return
    print(HEAD)
    for part, name in zip(PARTS, ("to improve on", "kept apart"), strict=True):
        print(measure(list(messages(part))).row(name))


if __name__ == "__main__":
    main()
