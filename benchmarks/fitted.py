"""Fitting with a set left out, and what it says of the weights and of each term."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.intervals import Interval, mean_of_groups, mean_with_bounds
from benchmarks.listwise import Array, Asked, Lists
from benchmarks.tables import table

Hits = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """The names of the terms, the weights in use, which terms may have a weight, and how strong the pull to them is."""

    terms: Sequence[str]
    given: Array
    kept: NDArray[np.bool_]
    strength: float

    def fit(self, asked: Sequence[Asked], *, from_zero: bool = False) -> Array:
        """Weights fitted towards the given ones, or towards none; what is not kept is 0."""
        cut = [_with_features(question, self.kept) for question in asked]
        weights = np.zeros(len(self.given))
        towards = np.zeros(int(self.kept.sum())) if from_zero else self.given[self.kept]
        weights[self.kept] = Lists(cut).fit(towards, self.strength)
        return weights


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
    """A set that was left out, in percent a question: H@5 with the weights in use, with those fitted on the others
    towards them and towards nothing. For each term what taking it out costs: of those fitted, and of those in use.
    """

    data: str
    given: Hits
    fitted: Hits
    from_zero: Hits
    lost: dict[str, Hits]
    lost_in_use: dict[str, Hits]


def held_out(asked: Sequence[Asked], setting: Setting, say: Callable[[str], None]) -> list[Tried]:
    """Leaves out each set in turn, with everything that has the same origins."""
    tried = []
    for data in dict.fromkeys(question.data for question in asked):
        left = [question for question in asked if question.data == data]
        origins = {question.origin for question in left}
        others = [question for question in asked if question.origin not in origins]
        if not others:
            say(f"{data} is not left out: nothing would remain.")
            continue
        say(f"{data} left out, fitted on {len(others)} questions")
        fitted, zero = setting.fit(others), setting.fit(others, from_zero=True)
        given, near, bare = (hits(left, weights) for weights in (setting.given, fitted, zero))
        lost, lost_in_use = _lost(left, setting.terms, fitted), _lost(left, setting.terms, setting.given)
        tried.append(Tried(data, given, near, bare, lost, lost_in_use))
    return tried


def _lost(asked: Sequence[Asked], terms: Sequence[str], weights: Array) -> dict[str, Hits]:
    """What each question loses without a term, for each that has a weight and is not 0 throughout."""
    base = hits(asked, weights)
    return {
        name: base - hits(asked, np.where(np.arange(len(weights)) == i, 0.0, weights))
        for i, name in enumerate(terms)
        if weights[i] and any(question.features[:, i].any() for question in asked)
    }


def hits(asked: Sequence[Asked], weights: Array) -> Hits:
    """100 for each question with evidence among the first five, else 0."""
    return np.array([100 * question.hit(weights) for question in asked])


def report(asked: Sequence[Asked], setting: Setting, tried: Sequence[Tried]) -> str:
    """The sets left out, the proposed weights, and what each term earns, in those that were fitted and those in use."""
    parts = ["## Sets left out", _sets(tried), "## Weights", _weights(asked, setting)]
    for heading, lost in (
        ("Terms, in the weights fitted without the set", [(t.data, t.lost) for t in tried]),
        ("Terms, in the weights in use", [(t.data, t.lost_in_use) for t in tried]),
    ):
        single = [(data, of_terms) for data, of_terms in lost if data not in _made_of_several(asked)]
        parts += [f"## {heading}", _EARNS, _terms(setting.terms, lost), _verdicts(setting.terms, single)]
    return "\n\n".join(parts)


def _made_of_several(asked: Sequence[Asked]) -> set[str]:
    """Sets that are no further witnesses: their questions are those of others."""
    origins: dict[str, set[str]] = {}
    for question in asked:
        origins.setdefault(question.data, set()).add(question.origin)
    return {data for data, found in origins.items() if len(found) > 1}


_EARNS = (
    "H@5 that a set loses without the term; a star where the 95 % interval leaves out zero, nothing where the term is "
    "nowhere. A term may earn nothing alone because another one stands in for it."
)

#: Sets with what each loses without a term.
_Losses = Sequence[tuple[str, dict[str, Hits]]]


def _sets(tried: Sequence[Tried]) -> str:
    rows = [
        [t.data, str(len(t.given)), f"{t.given.mean():.1f}", f"{t.fitted.mean():.1f}",
         told(mean_with_bounds(t.fitted - t.given)), f"{t.from_zero.mean():.1f}",
         told(mean_with_bounds(t.from_zero - t.given))]
        for t in tried
    ]  # fmt: skip
    kinds = ([t.given for t in tried], [t.fitted for t in tried], [t.from_zero for t in tried])
    given, fitted, zero = (mean_of_groups([list(hits) for hits in kind]).mean for kind in kinds)
    differences = [mean_of_groups([list(n - t.given) for n, t in zip(kind, tried, strict=True)]) for kind in kinds[1:]]
    mean = [
        "mean of sets",
        "",
        f"{given:.1f}",
        f"{fitted:.1f}",
        told(differences[0]),
        f"{zero:.1f}",
        told(differences[1]),
    ]
    head = ["set", "questions", "H@5 in use", "towards them", "difference", "towards nothing", "difference"]
    return table(head, [*rows, mean])


def _weights(asked: Sequence[Asked], setting: Setting) -> str:
    """Fitted on all sets; what is shown is what one would write down."""
    fitted, zero = setting.fit(asked), setting.fit(asked, from_zero=True)
    rows = [
        [name, f"{given:.2f}", f"{own:.2f}", f"{bare:.2f}"]
        for name, given, own, bare in zip(setting.terms, setting.given, fitted, zero, strict=True)
        if given or own or bare
    ]
    return table(["term", "in use", "towards them", "towards nothing"], rows)


def _terms(terms: Sequence[str], losses: _Losses) -> str:
    rows = []
    for name in terms:
        found = [mean_with_bounds(lost[name]) if name in lost else None for _, lost in losses]
        if any(found):
            mean = mean_of_groups([list(lost[name]) for _, lost in losses if name in lost])
            rows.append([name, *(_cell(value) for value in found), told(mean)])
    return table(["term", *(data for data, _ in losses), "mean"], rows)


def _verdicts(terms: Sequence[str], losses: _Losses) -> str:
    """The terms that every set can do without, those that one alone needs, and those that harm one."""
    lists: dict[str, list[str]] = {"Earns nothing": [], "Earns on one set only": [], "Harms": []}
    for name in terms:
        measured = {data: mean_with_bounds(lost[name]) for data, lost in losses if name in lost}
        gains = [data for data, lost in measured.items() if lost.low > 0]
        harms = [data for data, lost in measured.items() if lost.high < 0]
        if measured and not gains:
            lists["Earns nothing"].append(name)
        if len(gains) == 1:
            lists["Earns on one set only"].append(f"{name} ({gains[0]})")
        if harms:
            lists["Harms"].append(f"{name} ({', '.join(harms)})")
    return "\n".join(f"- {verdict}: {', '.join(names) or 'none'}" for verdict, names in lists.items())


def told(difference: Interval) -> str:
    """A difference with its bounds, starred where it is proven."""
    star = "*" if difference.is_proven else ""
    return f"{difference.mean:+.1f}{star} [{difference.low:.1f}, {difference.high:.1f}]"


def _cell(value: Interval | None) -> str:
    return "" if value is None else f"{value.mean:.1f}{'*' if value.is_proven else ''}"


def _with_features(asked: Asked, kept: NDArray[np.bool_]) -> Asked:
    return Asked(asked.data, asked.origin, asked.features[:, kept], asked.evidence, asked.messages)
