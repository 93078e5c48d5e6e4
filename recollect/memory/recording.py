"""Whether Recollect records what it sees, and what it keeps out: pauses, and what was marked as not to be recorded.

It concerns whatever is recorded without being told to each time: sessions that are followed, hooks, the proxy and
wrapped clients, and what a model remembers. It is kept in a file of the user, not in a store: a pause holds at once for
all programs of the user on this machine, whatever they record into. The file holds times and digests, no words.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from recollect.errors import InvalidInput, StoreError
from recollect.memory.settings import own_places
from recollect.record import NodeId, from_microseconds, to_microseconds, utc_now
from recollect.runtime.files import own_database

#: Its file in the data folder.
FILE = "recording.db"
#: The variable that keeps out what runs with it.
VARIABLE = "RECOLLECT_RECORD"

_YES, _NO = ("", "yes", "on", "true", "1"), ("no", "off", "false", "0")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS pause (began INTEGER NOT NULL, ends INTEGER);
CREATE TABLE IF NOT EXISTS kept_out (name TEXT PRIMARY KEY) WITHOUT ROWID;
"""
_ALL = "SELECT began, ends FROM pause ORDER BY began"
_BEGIN = "INSERT INTO pause VALUES (?, ?)"
_END = "UPDATE pause SET ends = ?1 WHERE ends IS NULL OR ends > ?2"
_KEEP_OUT = "INSERT INTO kept_out VALUES (?) ON CONFLICT DO NOTHING"
_ANY = "SELECT 1 FROM kept_out LIMIT 1"
_KEPT_OUT = "SELECT name FROM kept_out WHERE name IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class Pause:
    """When nothing was recorded; `ends` is None until somebody resumes."""

    began: datetime
    ends: datetime | None = None

    def holds(self, moment: datetime) -> bool:
        """Whether a moment lies in it."""
        return self.began <= moment and (self.ends is None or moment < self.ends)


class Recording:
    """Pauses, and what is kept out, shared by all programs of a user. Thread-safe.

    Whoever cannot read it must not record: its methods raise StoreError.
    """

    def __init__(self, path: Path, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._path, self._clock = path, clock

    @classmethod
    def own(cls) -> Recording:
        """That of the user of this process."""
        return cls(own_places().data / FILE)

    def pause(self, until: datetime | None = None) -> Pause:
        """Records nothing from now on, until a time or until `resume`. A pause that goes on gets the new end."""
        current = self.paused()
        with self._writing() as db:
            now = to_microseconds(self._clock())
            if current is None:
                db.execute(_BEGIN, (now, to_microseconds(until)))
            else:
                db.execute(_END, (to_microseconds(until), now))
        return Pause(current.began if current else self._clock(), until)

    def resume(self) -> Pause | None:
        """Records again. Gives the pause that ended, None where there was none."""
        current = self.paused()
        if current is None:
            return None
        ended = self._clock()
        with self._writing() as db:
            db.execute(_END, (to_microseconds(ended), to_microseconds(ended)))
        return Pause(current.began, ended)

    def paused(self) -> Pause | None:
        """The pause of this moment. One that has begun holds on though the clock is set back."""
        now = self._clock()
        return next((one for one in reversed(self.pauses()) if one.ends is None or now < one.ends), None)

    def pauses(self) -> list[Pause]:
        """All pauses that there were, the oldest first."""
        if not self._path.exists():
            return []
        with self._open() as db:
            rows: list[Any] = db.execute(_ALL).fetchall()
        times = [(from_microseconds(began), from_microseconds(ends)) for began, ends in rows]
        return [Pause(began, ends) for began, ends in times if began is not None]

    def is_on(self, environment: Mapping[str, str] | None = None) -> bool:
        """Whether what is seen now is recorded: nobody has paused it, and this process is not marked.

        Raises InvalidInput for a mark that is neither yes nor no.
        """
        return not is_marked(os.environ if environment is None else environment) and self.paused() is None

    def keep_out(self, names: Iterable[NodeId]) -> None:
        """Keeps these out from now on."""
        rows = [(name,) for name in names]
        if rows:
            with self._writing() as db:
                db.executemany(_KEEP_OUT, rows)

    @property
    def keeps_any_out(self) -> bool:
        """Whether anything is kept out."""
        if not self._path.exists():
            return False
        with self._open() as db:
            return db.execute(_ANY).fetchone() is not None

    def kept_out(self, names: Collection[NodeId]) -> frozenset[NodeId]:
        """Those of them that are kept out."""
        if not names or not self._path.exists():
            return frozenset()
        import json

        with self._open() as db:
            return frozenset(NodeId(str(name)) for (name,) in db.execute(_KEPT_OUT, (json.dumps([*names]),)))

    @contextmanager
    def _open(self) -> Iterator[apsw.Connection]:
        try:
            with own_database(self._path) as db:
                db.execute(_SCHEMA)
                yield db
        except (OSError, apsw.Error) as error:
            raise StoreError(
                f"It cannot be known whether recording is paused: {self._path}: {error}.",
                hint="Nothing is recorded until then. Make the file readable, or remove it: no pause is known then.",
            ) from None

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        with self._open() as db, db:
            yield db


def is_marked(environment: Mapping[str, str]) -> bool:
    """Whether what runs with this environment is not to be recorded. Raises InvalidInput for another value: who means
    no and is not understood must be told.
    """
    value = environment.get(VARIABLE, "").strip().lower()
    if value not in _YES + _NO:
        raise InvalidInput(f"{VARIABLE}: {value!r} is neither yes nor no.", hint="Use yes or no.")
    return value in _NO
