"""What may be spent on models a day, counted so that no process, restart or crash loses the count.

The ledger is a small file in the data folder of the user, not a part of a store: it is one person's money, whatever
stores and namespaces are worked on; a store belongs to many and is copied, and an export must not tell what it cost.
On several machines each keeps its own. Days are those of UTC.

Before a request the most that it can take is held, so that workers beside each other never spend more than allowed;
after it, what it took is entered and the rest is free again. Who finds the rest of a budget held comes again in
seconds. What was held when a process died stays counted for as long as a request may take.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import apsw

from recollect.errors import ModelError
from recollect.models.language.base import (
    PRICES,
    BadAnswer,
    BudgetHeld,
    BudgetSpent,
    Completion,
    LanguageModel,
    LanguageModelError,
    ModelNotReady,
    Price,
    Request,
    Usage,
    estimated_tokens,
    price,
)
from recollect.models.language.talk import Spoken, Talk, TalkingModel
from recollect.record import utc_now
from recollect.runtime.files import own_database

#: The ledger's file in the data folder.
FILE = "spending.db"

_TOLD = 200  # characters of an error
_CALLS = 2  # of a request: a broken answer is repaired once
_THINKING = 4_000  # tokens of a call that are thought and not written
_SHOWN_AGAIN = 4_000  # tokens of a broken answer that the model is shown again
_LONGEST = timedelta(minutes=30)  # that a request may take, with what it is repeated
_LIKELY = 0.5  # of the longest answer, how long answers are

_SCHEMA = """
CREATE TABLE IF NOT EXISTS spent (
    day TEXT NOT NULL, store TEXT NOT NULL, namespace TEXT NOT NULL, kind TEXT NOT NULL, model TEXT NOT NULL,
    calls INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL, cost REAL NOT NULL,
    unpriced INTEGER NOT NULL, -- calls whose price is not known
    PRIMARY KEY (day, store, namespace, kind, model)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS hold (
    id INTEGER PRIMARY KEY, until REAL NOT NULL, calls INTEGER NOT NULL, tokens INTEGER NOT NULL, cost REAL NOT NULL
);
"""
_TOTAL = """
SELECT coalesce(sum(calls), 0), coalesce(sum(input + output), 0), coalesce(sum(cost), 0) FROM spent WHERE day = ?
"""
_HELD = "SELECT coalesce(sum(calls), 0), coalesce(sum(tokens), 0), coalesce(sum(cost), 0) FROM hold"
_FORGET_HOLDS = "DELETE FROM hold WHERE until < ?"
_HOLD = "INSERT INTO hold (until, calls, tokens, cost) VALUES (?, ?, ?, ?)"
_LET_GO = "DELETE FROM hold WHERE id = ?"
_ENTER = """
INSERT INTO spent VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, input = input + excluded.input,
    output = output + excluded.output, cost = cost + excluded.cost, unpriced = unpriced + excluded.unpriced
"""
_OF_NAMESPACE = """
SELECT kind, model, sum(calls), sum(input), sum(output), sum(cost), sum(unpriced) FROM spent
WHERE store = ? AND namespace = ? AND day >= ? GROUP BY kind, model ORDER BY kind, model
"""
_NAMELESS = """
INSERT INTO spent SELECT day, store, '', kind, model, calls, input, output, cost, unpriced FROM spent
WHERE store = ? AND namespace = ?
ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, input = input + excluded.input,
    output = output + excluded.output, cost = cost + excluded.cost, unpriced = unpriced + excluded.unpriced
"""
_WITHOUT = "DELETE FROM spent WHERE store = ? AND namespace = ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What may be spent a day; None is no limit. Money is in US dollars, and counted where the price is known."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """What a kind of work has taken. `unpriced` calls are not in `cost`."""

    kind: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float
    unpriced: int = 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """What requests will take, about. `cost` is None where the price is not known, `days` where no limit counts."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    days: int | None = None


def estimate(requests: Iterable[Request], price: Price | None, limits: Limits | None = None) -> Estimate:
    """What these requests will take, from the lengths of their texts, and how many days that is within the limits."""
    calls = sent = answered = 0
    for request in requests:
        calls += 1
        sent += _input_tokens(request)
        answered += int(request.max_tokens * _LIKELY)
    cost = price.of(Usage(calls, sent, answered)) if price else None
    days: list[float] = []
    if limits is not None:
        taken = ((calls, limits.calls), (sent + answered, limits.tokens), (cost, limits.cost))
        days = [amount / most for amount, most in taken if amount is not None and most]
    return Estimate(calls, sent, answered, cost, max(1, -int(-max(days) // 1)) if days and calls else None)


class SpendingLog:
    """The count of what was spent, shared by all processes of a user. Thread-safe."""

    def __init__(self, path: Path, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._path, self._clock = path, clock

    def hold(self, most: Usage, cost: float, limits: Limits) -> int:
        """Sets aside what a request can take. Raises BudgetSpent, BudgetHeld where requests under way hold the rest, or
        ModelNotReady where no day would be enough.
        """
        now = self._clock()
        wanted, allowed = (most.calls, most.tokens, cost), (limits.calls, limits.tokens, limits.cost)
        with self._writing() as db:
            db.execute(_FORGET_HOLDS, (now.timestamp(),))
            spent: Any = db.execute(_TOTAL, (self._day(),)).fetchone()
            held: Any = db.execute(_HELD).fetchone()
            rows = list(zip(("calls", "tokens", "cost"), wanted, spent, held, allowed, strict=True))
            for name, want, taken, _, limit in rows:
                if limit is not None and taken + want > limit:
                    raise self._refusal(name, want, limit)
            for name, want, taken, waiting, limit in rows:
                if limit is not None and taken + waiting + want > limit:
                    raise BudgetHeld(
                        f"Requests under way hold the rest of the daily budget for models ({name}).",
                        hint="It goes on in seconds, or with a higher daily_" + name + ".",
                    )
            db.execute(_HOLD, ((now + _LONGEST).timestamp(), *wanted))
            return int(db.last_insert_rowid())

    def enter(
        self, held: int | None, store: str, namespace: str, kind: str, model: str, usage: Usage, cost: float | None
    ) -> None:
        """Enters what a request took, and frees what was held for it."""
        with self._writing() as db:
            if held is not None:
                db.execute(_LET_GO, (held,))
            if usage.calls:
                row = (
                    usage.calls,
                    usage.input_tokens,
                    usage.output_tokens,
                    cost or 0.0,
                    0 if cost is not None else usage.calls,
                )
                db.execute(_ENTER, (self._day(), store, namespace, kind, model, *row))

    def spent(self, store: str, namespace: str, *, today: bool = False, since: date | None = None) -> list[Spent]:
        """What was spent on a namespace of a store, by kind of work and model; of `today` alone, `since` a day (UTC),
        or ever.
        """
        if not self._path.exists():
            return []
        first = self._day() if today else since.isoformat() if since else ""
        with self._open() as db:
            rows: list[Any] = db.execute(_OF_NAMESPACE, (store, namespace, first)).fetchall()
        return [Spent(*row) for row in rows]

    def forget(self, store: str, namespace: str) -> None:
        """Counts what was spent on a namespace under no name: it stays in the budget of its day."""
        if self._path.exists():
            with self._writing() as db:
                db.execute(_NAMELESS, (store, namespace))
                db.execute(_WITHOUT, (store, namespace))

    def _refusal(self, name: str, want: float, limit: float) -> LanguageModelError:
        if want > limit:
            shown = f"${want:.4f}" if name == "cost" else f"{want:,} {name}"
            return ModelNotReady(
                f"The daily budget is too small for one request, which may take {shown}.",
                hint=f"Raise daily_{name} (recollect config shows where it is set).",
            )
        now = self._clock().astimezone(UTC)
        tomorrow = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
        problem = BudgetSpent(
            f"The daily budget for models is spent ({name}).",
            hint=f"It goes on tomorrow, or with a higher daily_{name}.",
        )
        problem.retry_after = (tomorrow - now).total_seconds()
        return problem

    def _day(self) -> str:
        return self._clock().astimezone(UTC).date().isoformat()

    @contextmanager
    def _open(self) -> Iterator[apsw.Connection]:
        try:
            with own_database(self._path) as db:
                yield db
        except (OSError, apsw.Error) as error:
            raise ModelNotReady(
                f"What is spent on models cannot be counted in {self._path}: {error}.",
                hint="Nothing is asked without the count. Make the folder writable, or set RECOLLECT_HOME.",
            ) from None

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute(_SCHEMA)
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")


M = TypeVar("M", bound=LanguageModel)


class Metered(Generic[M]):
    """A model whose requests are counted, and refused where the day's budget is spent. Thread-safe."""

    def __init__(
        self,
        model: M,
        ledger: SpendingLog,
        limits: Limits,
        *,
        price: Price | None,
        store: str,
        namespace: str,
    ) -> None:
        self._model, self._ledger, self.limits, self.price = model, ledger, limits, price
        self._store, self._namespace = store, namespace
        self.name = model.name

    def complete(self, request: Request) -> Completion:
        """As the model does. Raises BudgetSpent before anything is asked, and whatever the model raises."""
        most = most_usage(request)
        held = self._ledger.hold(most, self.price.of(most) if self.price else 0.0, self.limits)
        try:
            with _own_errors(self.name):
                answer: Completion = _of_type(self._model.complete(request), Completion)
        except LanguageModelError as problem:
            self._enter(held, request, problem.usage, self.price.of(problem.usage) if self.price else None)
            raise
        usage = Usage(answer.calls, answer.input_tokens, answer.output_tokens)
        self._enter(held, request, usage, answer.cost)
        return answer

    def within(self, namespace: str) -> Self:
        """The same model and budget, counted for another namespace of the store."""
        return type(self)(
            self._model, self._ledger, self.limits, price=self.price, store=self._store, namespace=namespace
        )

    def estimate(self, requests: Iterable[Request]) -> Estimate:
        """What these requests will take."""
        return estimate(requests, self.price, self.limits)

    def spent(self, *, today: bool = False) -> list[Spent]:
        """What was spent on this namespace."""
        return self._ledger.spent(self._store, self._namespace, today=today)

    def _enter(self, held: int, request: Request, usage: Usage, cost: float | None) -> None:
        self._ledger.enter(held, self._store, self._namespace, request.prompt.name, self.name, usage, cost)


class MeteredTalk(Metered[TalkingModel]):
    """The same of a model that talks, which it then does as well."""

    def talk(self, talk: Talk) -> Iterator[str | Spoken]:
        """As the model does, counted like a request. Raises BudgetSpent before anything is asked."""
        most = Usage(1, estimated_tokens(talk.text) * 2, talk.max_tokens * 2 + _THINKING)
        held = self._ledger.hold(most, self.price.of(most) if self.price else 0.0, self.limits)
        used, cost, ended = most, self.price.of(most) if self.price else None, False
        try:
            with _own_errors(self.name):
                parts = iter(self._model.talk(talk))
            while True:
                with _own_errors(self.name):
                    part = next(parts, None)
                    if part is None and ended:
                        break
                    part = _of_type(part, str, Spoken)
                if isinstance(part, Spoken):
                    used, cost, ended = part.usage, part.cost, True
                yield part
        except LanguageModelError as problem:
            used, cost, ended = problem.usage, self.price.of(problem.usage) if self.price else None, True
            raise
        finally:
            if ended:  # who goes away in the middle leaves what was held: the provider may count all of it
                self._ledger.enter(held, self._store, self._namespace, talk.name, self.name, used, cost)


@contextmanager
def _own_errors(name: str) -> Iterator[None]:
    """What a model of a program's own raises, as an error of a model: it costs no more than its answer."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:  # also InvalidInput, which would blame the caller of ask or chat
        told = " ".join(f"{type(error).__name__}: {error}".split())[:_TOLD]
        raise BadAnswer(f"{name} failed ({told}).") from error


def _of_type(given: Any, *types: type[Any]) -> Any:
    if not isinstance(given, types):
        raise TypeError(f"it gave {type(given).__name__} instead of {types[0].__name__}")
    return given


def within(model: LanguageModel, namespace: str) -> LanguageModel:
    """The model, with what it takes counted for this namespace, where it is counted."""
    return model.within(namespace) if isinstance(model, Metered) else model


def metered(
    model: LanguageModel, data: Path, limits: Limits, *, store: str, namespace: str, prices: Path | None = None
) -> Metered[Any]:
    """A model within a daily budget, counted in the data folder. `prices` is a folder that may hold a table of them."""
    known, ledger = price(model.name, prices / PRICES if prices else None), SpendingLog(data / FILE)
    if isinstance(model, TalkingModel):
        return MeteredTalk(model, ledger, limits, price=known, store=store, namespace=namespace)
    return Metered(model, ledger, limits, price=known, store=store, namespace=namespace)


def most_usage(request: Request) -> Usage:
    """The most that a request can take, with the repair of a broken answer."""
    sent = _input_tokens(request) * 2  # no tokenizer makes so many
    return Usage(_CALLS, sent * _CALLS + _SHOWN_AGAIN, request.max_tokens * 3 + _THINKING * _CALLS)


def _input_tokens(request: Request) -> int:
    told: list[Any] = [request.prompt.system, json.dumps(request.prompt.schema), json.dumps(request.prompt.example)]
    return estimated_tokens("\n".join([*told, request.text]))
