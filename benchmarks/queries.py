"""Searches as people type them about the made-up conversations: words, sentences, phrases, filters, people, dates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random

from benchmarks.generator import Talk, talks
from benchmarks.wording import NAMES, TOPICS, Writer, topic


@dataclass(frozen=True, slots=True)
class Query:
    """What is typed, and of which form it is."""

    form: str
    text: str


def queries(count: int, seed: int = 1) -> list[Query]:
    """So many searches about what `generator.talks` with the same seed made; the same ones for the same seed."""
    chance = Random(f"{seed} queries")
    said = list(islice(talks(5_000, seed), 200))
    return list(islice(_forever(chance, said), count))


def _forever(chance: Random, said: list[Talk]) -> Iterator[Query]:
    forms = list(_FORMS.items())
    number = 0
    while True:
        form, make = forms[number % len(forms)]
        yield Query(form, make(Writer(topic(chance.randrange(TOPICS)), chance), chance, said))
        number += 1


def _keywords(writer: Writer, chance: Random, said: list[Talk]) -> str:
    return " ".join(writer.word() for _ in range(chance.randint(1, 3)))


def _sentence(writer: Writer, chance: Random, said: list[Talk]) -> str:
    return writer.fill(chance.choice(("What did we decide about the {t} when the {t} was {g}?",
                                      "How many {t} did I want to buy for the {t} in {place}?",
                                      "Can you remind me how I should set up {t} with {t} so that the {g} works?",
                                      "Have I ever used {t} together with {t}?")))  # fmt: skip


def _identifier(writer: Writer, chance: Random, said: list[Talk]) -> str:
    return writer.identifier()


def _phrase(writer: Writer, chance: Random, said: list[Talk]) -> str:
    """Three words in a row that somebody said."""
    words = [w for w in chance.choice(chance.choice(said).messages).content.split() if w.isalpha()] or ["the"]
    start = chance.randrange(max(1, len(words) - 3))
    return f'"{" ".join(words[start : start + 3])}"'


def _filtered(writer: Writer, chance: Random, said: list[Talk]) -> str:
    return writer.fill(chance.choice(("role:user {t} {t}", "since:2024-03 {t} {g}", "{t} {t} -{t}",
                                      "role:assistant until:2025-06 how does {t} work with {t}")))  # fmt: skip


def _dated(writer: Writer, chance: Random, said: list[Talk]) -> str:
    return writer.fill("What did I say about {t} and {t} in {month} {year}?")


def _person(writer: Writer, chance: Random, said: list[Talk]) -> str:
    return writer.fill(f"When did {chance.choice(NAMES)} talk about the {{t}} and the {{t}}?")


_FORMS: dict[str, Callable[[Writer, Random, list[Talk]], str]] = {
    "keywords": _keywords,
    "sentence": _sentence,
    "identifier": _identifier,
    "phrase": _phrase,
    "filtered": _filtered,
    "dated": _dated,
    "person": _person,
}
