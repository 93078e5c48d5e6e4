"""What it adds to search for more than the question's own words: passages like the answer, other wordings, rules.

What a language model wrote is kept in sample/expansions.jsonl: for questions drawn at random, written from the question
alone by one that had seen neither the conversations nor the evidence, after the prompts `hyde` and `expand`. Other
techniques need no model, and are tried on every question.

python -m benchmarks.expansion --sets sample,beam-dev --mode instant
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from benchmarks.asking import first_of
from benchmarks.datasets import PUBLIC, SAMPLE_QUESTIONS, History, Question, sets_named
from benchmarks.intervals import mean_with_bounds
from benchmarks.prepared import Prepared, cache_folder
from benchmarks.tables import table
from benchmarks.wordings import keywords
from recollect.answer.ask.intents import Intent
from recollect.answer.ask.understand import Understood, widened
from recollect.memory import Memory
from recollect.search.results.result import SearchResults
from recollect.search.several import FURTHER, Find, fused, search_several
from recollect.text.terms import terms

DEFAULT = "sample,beam-dev,locomo-dev,lifebench-en-dev"
_LIMIT, _PARTS = 30, 4
_ALONE = "the question alone"
_AND = re.compile(r",|;|\b(?:and|or)\b")


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote for a question."""

    passage: str
    queries: tuple[str, ...]


#: A technique: what is found with it, given a search of the memory, the question and what was written for it.
Technique = Callable[[Memory, str, SearchResults, Written | None], SearchResults]


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    sets, notes = sets_named(options.sets.split(","), options.data)
    for line in notes:
        print(line, file=sys.stderr)
    kept = written(SAMPLE_QUESTIONS / "expansions.jsonl")
    for data in sets:
        prepared = Prepared(data, cache_folder())
        if options.mode == "quality":
            prepared.make_quality()
        for techniques, only in ((WITH_MODEL, True), (BY_RULES, False)):
            if only or not options.model_only:
                ranks = _measured(
                    data.name, data.histories, prepared, techniques, kept, options.mode, only_written=only
                )
                if not ranks:  # nothing was written for this set
                    continue
                print(
                    f"\n{data.name}, {options.mode}, {'with a model' if only else 'by rules'}\n{_told(ranks)}",
                    flush=True,
                )
    return 0


def written(path: Path) -> dict[tuple[str, str], Written]:
    """What is kept, by set and digest of the question: the public questions are not ours to print."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {(row["set"], row["question"]): Written(row["passage"], tuple(row["queries"])) for row in rows}


def digest(question: str) -> str:
    """By which what is written for a question is found."""
    return sha256(question.encode()).hexdigest()[:16]


def _search(memory: Memory, text: str, mode: str) -> tuple[Find, SearchResults]:
    find: Find = memory.handle.searcher
    return find, find(memory.handle.read_search(text, limit=_LIMIT, group_by="message", mode=mode))


def _made(*, hyde: bool, wordings: bool) -> Technique:
    """As `ask` does it."""

    def found(memory: Memory, text: str, alone: SearchResults, made: Written | None) -> SearchResults:
        assert made is not None
        understood = Understood(
            intent=Intent.QA, like=(made.passage,) if hyde else (), wordings=made.queries if wordings else ()
        )
        search = memory.handle.read_search(text, limit=_LIMIT, group_by="message", mode=alone.mode)
        return widened(memory.handle.searcher, understood)(search)

    return found


def _by_ranks(memory: Memory, text: str, alone: SearchResults, made: Written | None) -> SearchResults:
    """Other wordings as queries of their own, put together by reciprocal ranks."""
    assert made is not None
    lists = [alone, *(_search(memory, query, alone.mode)[1] for query in made.queries)]
    scores: dict[str, float] = {}
    for results in lists:
        for rank, hit in enumerate(results):
            scores[hit.best.message.id] = scores.get(hit.best.message.id, 0.0) + 1 / (60 + rank)
    hits = {hit.best.message.id: hit for results in lists for hit in results}
    return replace(alone, hits=tuple(hits[name] for name in sorted(scores, key=lambda name: -scores[name])))


def _by_scores(memory: Memory, text: str, alone: SearchResults, made: Written | None) -> SearchResults:
    """The same by their scores: who, when and what kind of answer each wording says for itself."""
    assert made is not None
    return fused(alone, [_search(memory, query, alone.mode)[1] for query in made.queries], FURTHER, _LIMIT)


def _worded(wordings: Callable[[str], Sequence[str]]) -> Technique:
    """Wordings made by a rule, as `ask` searches those of a model."""

    def found(memory: Memory, text: str, alone: SearchResults, _: Written | None) -> SearchResults:
        search = memory.handle.read_search(text, limit=_LIMIT, group_by="message", mode=alone.mode)
        return search_several(memory.handle.searcher, [search, *(replace(search, wording=w) for w in wordings(text))])

    return found


def _like_best(memory: Memory, text: str, alone: SearchResults, _: Written | None) -> SearchResults:
    """The best message as the passage that an answer is like (pseudo-relevance feedback)."""
    search = memory.handle.read_search(text, limit=_LIMIT, group_by="message", mode=alone.mode)
    best = tuple(hit.best.message.content[:1_000] for hit in alone[:1])
    return memory.handle.searcher(replace(search, like=best))  # type: ignore[no-any-return]


def _parts(text: str) -> list[str]:
    parts = [part for part in _AND.split(text) if len(terms(part)) >= 2]
    return parts[:_PARTS] if len(parts) > 1 else []


WITH_MODEL: Mapping[str, Technique] = {
    "a passage like the answer": _made(hyde=True, wordings=False),
    "other wordings": _made(hyde=False, wordings=True),
    "both (ask)": _made(hyde=True, wordings=True),
    "wordings as queries, by score": _by_scores,
    "wordings as queries, by rank": _by_ranks,
}
BY_RULES: Mapping[str, Technique] = {
    "keywords beside it": _worded(lambda text: [words] if (words := keywords(text)).strip() else []),
    "its parts beside it": _worded(_parts),
    "like the best message": _like_best,
}


def _measured(
    name: str,
    histories: Sequence[History],
    prepared: Prepared,
    techniques: Mapping[str, Technique],
    kept: Mapping[tuple[str, str], Written],
    mode: str,
    *,
    only_written: bool,
) -> dict[str, list[int]]:
    """The ranks of the first evidence by technique; 0 where none is among the first."""
    ranks: dict[str, list[int]] = {}
    for history in histories:
        with prepared.memory(history) as memory:
            for question in _asked(name, history, kept, only_written=only_written):
                made = kept.get((name, digest(question.text)))
                _, alone = _search(memory, question.text, mode)
                ranks.setdefault(_ALONE, []).append(_rank(alone, question))
                for technique, find in techniques.items():
                    found = find(memory, question.text, replace(alone, mode=mode), made)
                    ranks.setdefault(technique, []).append(_rank(found, question))
    return ranks


def _asked(
    name: str, history: History, kept: Mapping[tuple[str, str], Written], *, only_written: bool
) -> Iterator[Question]:
    for question in history.questions:
        if not only_written or (name, digest(question.text)) in kept:
            yield question


def _rank(found: SearchResults, question: Question) -> int:
    return first_of([hit.best.message.source_id or "" for hit in found], question.evidence)


def _told(ranks: Mapping[str, Sequence[int]]) -> str:
    alone = ranks.get(_ALONE, ())
    rows = []
    for technique, found in ranks.items():
        hits = [f"{100 * sum(0 < rank <= k for rank in found) / len(found):.1f}" for k in (1, 5, 10)]
        gains = [float(0 < new <= 5) - float(0 < old <= 5) for new, old in zip(found, alone, strict=True)]
        bounds = mean_with_bounds(gains)
        gain = f"{100 * bounds.mean:+.1f} [{100 * bounds.low:+.0f} {100 * bounds.high:+.0f}]"
        rows.append([technique, str(len(found)), *hits, "" if technique == _ALONE else gain])
    return table(["searched for", "questions", "H@1", "H@5", "H@10", "H@5 gained [95 %]"], rows)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=DEFAULT)
    parser.add_argument("--data", type=Path, default=PUBLIC)
    parser.add_argument("--mode", choices=("instant", "quality"), default="instant")
    parser.add_argument("--model-only", action="store_true", help="leave out what needs no model")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
