"""How many answers survive in a tenth of the length: our extracts beside plainer ones, on conversations with questions.

python -m benchmarks.extracts                     all sets that are here
python -m benchmarks.extracts --sets beam-dev

Each conversation is cut into runs as the product does it, and each run with evidence is shortened to a tenth of its
characters. A question is answered by one sentence: of the evidence, that with most of the rare words of the answer, or
of the question where the set has no answers. It survives where the extract holds nine of ten of its words in one
sentence.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.datasets import ALL_NAMES, PUBLIC, History, sets_named
from benchmarks.intervals import Interval, mean_of_groups, mean_with_bounds
from benchmarks.tables import table
from recollect.derive.summaries.extract import choose, weighed
from recollect.derive.summaries.policy import DEFAULT
from recollect.derive.summaries.segmentation import segment
from recollect.models.embedding.static import StaticEmbedder
from recollect.record import Message, NodeId, Role
from recollect.text.sentences import cut_sentences
from recollect.text.terms import terms

SETS = ("locomo-dev", "beam-dev", "lifebench-en-dev", "lifebench-zh-dev", "qmsum-dev", "sample")

#: The weights of the product were fitted on these; the others were only measured.
FITTED = ("locomo-dev", "beam-dev", "lifebench-en-dev")

SHARE = 0.1
_SAME = 0.9  # of the words of a sentence
_SEEDS = 5  # of random extracts
_DAMPING, _ROUNDS, _LIKE = 0.85, 30, 0.1  # of LexRank, as its authors have them

_STATIC = StaticEmbedder()


@dataclass(frozen=True, slots=True)
class Wanted:
    """A question: the sentences that answer it, by the run they stand in."""

    answers: tuple[tuple[int, frozenset[str]], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """The runs of a history that hold evidence, and its questions."""

    runs: Mapping[int, Sequence[Message]]
    questions: tuple[Wanted, ...]


#: An extract: sentences of these messages, together no longer than that.
System = Callable[[Sequence[Message], int], list[str]]


def ours(messages: Sequence[Message], length: int) -> list[str]:
    """What the product quotes."""
    sentences = [one for one in weighed(messages, DEFAULT, _STATIC) if len(one.text) < length]
    return [sentences[place].text for place in choose(sentences, length)]


def first(messages: Sequence[Message], length: int) -> list[str]:
    """The first sentences."""
    return _filled([text for _, text in _sentences(messages)], length)


def first_of_each(messages: Sequence[Message], length: int) -> list[str]:
    """The first sentence of each message, then the second of each …"""
    return _filled([text for _, text in sorted(_sentences(messages), key=lambda found: found[0])], length)


def lexrank(messages: Sequence[Message], length: int) -> list[str]:
    """LexRank (Erkan and Radev 2004): sentences that are like many others."""
    found = [text for _, text in _sentences(messages)]
    if not found:
        return []
    rows = [Counter(terms(text)) for text in found]
    held = Counter(term for row in rows for term in row)
    places = {term: place for place, term in enumerate(held)}
    weights = np.zeros((len(found), max(len(held), 1)), np.float32)
    for number, row in enumerate(rows):
        for term, count in row.items():
            weights[number, places[term]] = count * math.log(1 + len(found) / held[term])
    weights /= np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), 1e-9)
    like = weights @ weights.T
    like[like < _LIKE] = 0
    like /= np.maximum(like.sum(axis=1, keepdims=True), 1e-9)
    rank = np.full(len(found), 1 / len(found))
    for _ in range(_ROUNDS):
        rank = (1 - _DAMPING) / len(found) + _DAMPING * rank @ like
    return _filled([found[place] for place in np.argsort(-rank, kind="stable").tolist()], length)


def drawn(seed: int) -> System:
    """Sentences at random."""

    def system(messages: Sequence[Message], length: int) -> list[str]:
        found = [text for _, text in _sentences(messages)]
        random.Random(f"{seed} {messages[0].id}").shuffle(found)
        return _filled(found, length)

    return system


SYSTEMS: Mapping[str, Sequence[System]] = {
    "ours": [ours],
    "first sentences": [first],
    "first of each message": [first_of_each],
    "LexRank": [lexrank],
    "random": [drawn(seed) for seed in range(_SEEDS)],
}


def case(history: History, answers: Mapping[str, str]) -> Case | None:
    """A history as runs and questions. Where any question of the set has an answer, those without are left out."""
    messages = [
        Message(
            NodeId(m.id), NodeId(history.id), Role(m.role), m.content, speaker=m.speaker, timestamp=m.time, position=n
        )
        for n, m in enumerate(history.messages)
    ]
    cut, waiting = segment(messages, DEFAULT, _STATIC)
    runs: list[Sequence[Message]] = [[m for exchange in run for m in exchange] for run in cut]
    runs += [waiting] if waiting else []
    where = {message.id: (number, message) for number, run in enumerate(runs) for message in run}
    held = Counter(term for message in messages for term in set(terms(message.content)))
    rare = {term: math.log(1 + len(messages) / (1 + count)) for term, count in held.items()}
    questions = []
    for question in history.questions:
        evidence = [where[NodeId(i)] for i in sorted(question.evidence) if NodeId(i) in where]
        asked = set(terms(question.text))
        answer = set(terms(answers.get(question.text, ""))) - asked
        best = [(number, *_best(message.content, answer if answers else asked, rare)) for number, message in evidence]
        if answers:  # one sentence of all the evidence
            best = sorted(best, key=lambda found: -found[2])[:1]
            best = [found for found in best if found[2] > 0]
        if best:
            questions.append(Wanted(tuple((number, frozenset(terms(text))) for number, text, _ in best)))
    needed = {number for wanted in questions for number, _ in wanted.answers}
    return Case({number: runs[number] for number in needed}, tuple(questions)) if questions else None


def survival(case: Case, systems: Sequence[System]) -> list[float]:
    """For each question the share of its sentences that survive, the mean over the systems."""
    rounds = []
    for system in systems:
        extracts = {
            number: [frozenset(terms(text)) for text in system(run, round(SHARE * sum(len(m.content) for m in run)))]
            for number, run in case.runs.items()
        }
        rounds.append([
            sum(_holds(extracts[number], words) for number, words in wanted.answers) / len(wanted.answers)
            for wanted in case.questions
        ])  # fmt: skip
    return [float(mean) for mean in np.mean(rounds, axis=0)]


def _holds(extract: Sequence[frozenset[str]], words: frozenset[str]) -> bool:
    return bool(words) and any(len(words & said) >= _SAME * len(words) for said in extract)


def _best(text: str, wanted: set[str], rare: Mapping[str, float]) -> tuple[str, float]:
    """The sentence that holds most of the wanted words, rare ones counting more; of equals the longer."""
    parts = cut_sentences(text).parts
    worth = [sum(rare.get(term, 0.0) for term in set(terms(part)) & wanted) for part in parts]
    place = max(range(len(parts)), key=lambda n: (worth[n], len(parts[n])))
    return parts[place], worth[place]


def _sentences(messages: Sequence[Message]) -> list[tuple[int, str]]:
    """All sentences as they stand there, with their places in their messages."""
    return [
        (place, " ".join(part.split()))
        for message in messages
        for place, part in enumerate(cut_sentences(message.content).parts)
    ]


def _filled(texts: Sequence[str], length: int) -> list[str]:
    """Those that still fit, one after the other."""
    found, left = [], length
    for text in texts:
        if len(text) < left:
            found.append(text)
            left -= len(text) + 1
    return found


def _answers(name: str) -> dict[str, str]:
    """The answers by question, where the set has any."""
    path = PUBLIC / f"{name}.json"
    if not path.is_file():
        return {}
    given = json.loads(path.read_text(encoding="utf-8"))["conversations"]
    asked = (question for conversation in given for question in conversation["questions"])
    return {question["question"]: question["answer"] for question in asked if question.get("answer")}


def _percent(interval: Interval) -> str:
    return f"{100 * interval.mean:.1f} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def _difference(interval: Interval) -> str:
    return f"{100 * interval.mean:+.1f} [{100 * interval.low:+.1f}, {100 * interval.high:+.1f}]"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=ALL_NAMES, metavar="NAME")
    chosen = parser.parse_args(arguments)
    found, notes = sets_named(chosen.sets)
    figures: dict[str, dict[str, list[float]]] = {}
    for data in found:
        cases = [made for history in data.histories if (made := case(history, _answers(data.name)))]
        figures[data.name] = {
            name: [value for one in cases for value in survival(one, systems)] for name, systems in SYSTEMS.items()
        }
    print("\n".join(notes))
    rows = []
    for name, by_system in figures.items():
        label = f"{name} ({len(by_system['ours'])}){' fitted' if name in FITTED else ''}"
        rows.append([label, *(_percent(mean_with_bounds(by_system[system])) for system in SYSTEMS)])
    print(table(["survives in a tenth, %", *SYSTEMS], rows), "\n")
    for label, names in (("all sets", list(figures)), ("not fitted", [name for name in figures if name not in FITTED])):
        if names:
            paired = [
                [label, system, _difference(mean_of_groups([_minus(figures[name], system) for name in names]))]
                for system in SYSTEMS
                if system != "ours"
            ]
            print(table(["ours, paired, each set the same", "minus", "points"], paired), "\n")
    return 0


def _minus(figures: Mapping[str, list[float]], system: str) -> list[float]:
    return [mine - theirs for mine, theirs in zip(figures["ours"], figures[system], strict=True)]


if __name__ == "__main__":
    raise SystemExit(main())
