"""How often `ask` gives the right answer, end to end, by the verdict of a model on sets that give the answers.

python -m benchmarks.judged --model anthropic:claude-haiku-5-5 --judge anthropic:claude-sonnet-5-5 --most 50

Questions and passages go to the model, question and answers to the judge (prompts/judge.toml); both cost money and are
counted within the daily budget of the settings. --save keeps each verdict in a file: run it again with the same file,
such as on the next day, and only what is missing is asked. `--model none` has the extract judged.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.datasets import PUBLIC, DataSet, History, Question, sets_named
from benchmarks.intervals import mean_of_groups, mean_with_bounds
from benchmarks.judging import Verdict, judge, prompt
from benchmarks.machine import machine
from benchmarks.prepared import Prepared, cache_folder
from benchmarks.report import machine_line
from benchmarks.tables import table
from benchmarks.verdicts import Judged, Kept
from recollect.errors import InvalidInput, ModelError
from recollect.memory import Memory
from recollect.memory.settings import load_settings, own_places
from recollect.models.language.base import LanguageModel
from recollect.models.language.budget import metered
from recollect.models.language.choose import open_model
from recollect.models.language.usage import NOTHING_USED, Usage, total_cost

#: The sets that give an answer to each question.
SETS = "lifebench-en-dev,lifebench-zh-dev,qmsum-dev"
_MOST = 20  # questions of a set, unless told: a first look shall not cost much
_SHARES = (Verdict.PARTLY, Verdict.WRONG, Verdict.SILENT, Verdict.FAILED)


def main(arguments: list[str]) -> int:
    """Asks, judges, prints the table. 1 where it was ended before all questions were asked."""
    options = _options(arguments)
    model, judging = _opened(options.model), _opened(options.judge or options.model)
    if judging is None:
        raise InvalidInput("There is no judge.", hint="Name one: --judge anthropic:…, openai:…")
    sets, notes = sets_named([name.strip() for name in options.sets.split(",") if name.strip()], options.data)
    wanted = [(data, chosen(data, options.most, options.seed)) for data in sets]
    notes += [f"Not judged, for it gives no answers: {data.name}." for data, questions in wanted if not questions]
    wanted = [(data, questions) for data, questions in wanted if questions]
    for line in notes:
        _say(line)
    kept = Kept(options.save, (model.name if model else "", judging.name, prompt().id, options.mode))
    found: dict[str, list[Judged]] = {}
    ended = ""
    for data, questions in wanted:
        rows = found.setdefault(data.name, [])
        try:
            for row in asked(data, questions, model, judging, options.mode, kept):
                rows.append(row)
                _say(f"{data.name} {len(rows)}/{len(questions)}: {row.verdict.value}")
        except ModelError as problem:
            ended = f"Ended before all was asked: {problem}"
            break
    print(report({name: rows for name, rows in found.items() if rows}))
    print(f"\nAnswers by {model.name if model else 'the extract'}, judged by {judging.name} ({prompt().id}).")
    if model is not None and model.name == judging.name:
        print("The judge is the model that answered: models are kinder to their own words than to those of others.")
    print("\n".join(filter(None, (ended, machine_line(machine())))))
    return 1 if ended else 0


def chosen(data: DataSet, most: int, seed: int) -> frozenset[Question]:
    """So many of the questions that have an answer, drawn by chance."""
    answered = [question for history in data.histories for question in history.questions if question.answer]
    return frozenset(random.Random(seed).sample(answered, most) if len(answered) > most else answered)


def asked(
    data: DataSet,
    questions: frozenset[Question],
    model: LanguageModel | None,
    judging: LanguageModel,
    mode: str,
    kept: Kept,
) -> Iterator[Judged]:
    """Each of the questions with the verdict on its answer. Raises ModelError where the next would fail as well."""
    prepared = Prepared(data, cache_folder())
    if mode == "quality":
        prepared.make_quality()
    for history, own in _by_history(data, questions):
        with prepared.memory(history, model) as memory:
            for question in own:
                row = kept.get(data.name, question.text)
                if row is None:
                    row = _judged(data.name, memory, question, judging, mode)
                    kept.add(row)
                yield row


def _by_history(data: DataSet, questions: frozenset[Question]) -> Iterator[tuple[History, list[Question]]]:
    for history in data.histories:
        own = [question for question in history.questions if question in questions]
        if own:
            yield history, own


def _judged(data: str, memory: Memory, question: Question, judging: LanguageModel, mode: str) -> Judged:
    began = time.perf_counter()
    try:
        answer = memory.ask(question.text, mode=mode)
    except ModelError as problem:
        if problem.outage:
            raise
        return Judged(data, question.text, Verdict.FAILED, str(problem), usage=getattr(problem, "usage", NOTHING_USED))
    taken = (time.perf_counter() - began) * 1000
    cited = any(citation.message.source_id in question.evidence for citation in answer.citations)
    row = Judged(
        data,
        question.text,
        Verdict.UNJUDGED,
        "",
        answer=answer.text,
        intent=answer.intent.value,
        is_cited=cited,
        usage=answer.usage,
        cost=answer.cost,
        milliseconds=taken,
    )
    try:
        said = judge(judging, question.text, question.answer, answer.text)
    except ModelError as problem:
        if problem.outage:
            raise
        return row.with_verdict(Verdict.UNJUDGED, str(problem), getattr(problem, "usage", NOTHING_USED), None)
    return row.with_verdict(said.verdict, said.reason, said.usage, said.cost)


def report(sets: Mapping[str, Sequence[Judged]]) -> str:
    """A row a set. An answer that failed is not right; one that was not judged counts for nothing."""
    head = ["set", "questions", "right, %", *(f"{verdict.value}, %" for verdict in _SHARES), "not judged"]
    head += ["citations hold, %", "tokens of answers", "cost", "tokens of the judge", "cost", "p50 / p95"]
    rows = [_row(name, rows) for name, rows in sets.items()]
    if len(sets) > 1:
        right = mean_of_groups([_right(rows) for rows in sets.values()])
        mean = f"{right.mean:.1f} [{right.low:.0f}-{right.high:.0f}]"
        rows.append(["mean of sets", "", mean, *("" for _ in head[3:])])
    return table(head, rows)


def _row(name: str, rows: Sequence[Judged]) -> list[str]:
    right = mean_with_bounds(_right(rows))
    counted = [row for row in rows if row.verdict is not Verdict.UNJUDGED]
    slow = np.percentile([row.milliseconds for row in rows], (50, 95)) / 1000
    return [
        name,
        str(len(rows)),
        f"{right.mean:.1f} [{right.low:.0f}-{right.high:.0f}]",
        *(f"{100 * sum(row.verdict is verdict for row in counted) / (len(counted) or 1):.1f}" for verdict in _SHARES),
        str(len(rows) - len(counted)),
        f"{100 * sum(row.is_cited for row in rows) / len(rows):.1f}",
        *_taken([(row.usage, row.cost) for row in rows]),
        *_taken([(row.judging, row.judging_cost) for row in rows]),
        f"{slow[0]:.1f} / {slow[1]:.1f} s",
    ]


def _right(rows: Sequence[Judged]) -> list[float]:
    return [100.0 * (row.verdict is Verdict.RIGHT) for row in rows if row.verdict is not Verdict.UNJUDGED]


def _taken(spent: Sequence[tuple[Usage, float | None]]) -> tuple[str, str]:
    """Tokens read and written, and what they cost."""
    paid = [(usage, cost) for usage, cost in spent if usage.calls]
    used = sum((usage for usage, _ in paid), NOTHING_USED)
    cost = total_cost(cost for _, cost in paid)
    return f"{used.input_tokens:,} + {used.output_tokens:,}", "not known" if cost is None else f"${cost:.3f}"


def _opened(spec: str) -> LanguageModel | None:
    """The model, counted and within the daily budget. Raises InvalidInput, ModelNotReady."""
    places = own_places()
    model = open_model(spec, prices=places.prices)
    if model is None:
        return None
    limits = load_settings(where=places).limits
    return metered(model, places.data, limits, store="benchmarks", namespace="bench", prices=places.prices)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks.judged", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, help="what answers: anthropic:…, openai:…, none for the extract")
    parser.add_argument("--judge", default="", help="what judges; the model that answers, unless told")
    parser.add_argument("--sets", default=SETS, help=f"with commas between them; {SETS} unless told")
    parser.add_argument("--data", type=Path, default=PUBLIC, help="a folder with sets of the same form")
    parser.add_argument("--most", type=int, default=_MOST, metavar="N", help=f"questions of a set; {_MOST} unless told")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--mode", choices=("auto", "instant", "quality"), default="auto")
    parser.add_argument(
        "--save", type=Path, metavar="FILE", help="keeps answers and verdicts, and asks what is missing"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (InvalidInput, ModelError) as error:
        sys.exit(str(error))
