"""An engine in lists: what happens to the rows of a partition, and a source for every state that it has had."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from recollect.index.numeric import to_int8
from recollect.index.source import COLUMNS, IndexState, SegmentMark, TailRow, seal, without
from recollect.record import NodeId
from recollect.store.passages import KINDS, ROLE_SHIFT, Int

SIZE, QUALITY_SIZE = 32, 12


def row(number: int, terms: Mapping[str, int], vector: np.ndarray | None = None, **columns: int) -> TailRow:
    """A row as engines write it; columns that are not named are as those of a message of its own."""
    record = np.zeros(1, COLUMNS)
    values = {"message": number, "session": number, "first": 1, "length": max(1, sum(terms.values())), **columns}
    for name, value in {"number": number, **values}.items():
        record[name] = value
    if vector is None:
        vector = np.random.default_rng(number).normal(size=SIZE).astype(np.float32)
    return TailRow(number, record.tobytes(), to_int8(vector[None])[0].tobytes(), dict(terms))


def made_rows(count: int, seed: int = 0, first: int = 1, gap: int = 1) -> list[TailRow]:
    """Rows as conversations make them: sessions, previous messages, further passages, people and times."""
    chance = np.random.default_rng(seed)
    words = [f"w{n}" for n in range(60)]
    likelihood = 1 / np.arange(1, len(words) + 1)
    centres = chance.normal(size=(8, SIZE))
    rows: list[TailRow] = []
    message, session, conversation = first * 10, 0, first
    for place in range(count):
        number = first + place * gap
        new = place == 0 or chance.random() < 0.2
        further = not new and chance.random() < 0.15
        previous = 0 if new or further else message
        if not further:
            message += 1
        if new:
            session, conversation = message, conversation + 1
        if previous and chance.random() < 0.1:
            previous -= 1  # a branch
        drawn = chance.choice(words, chance.integers(1, 12), p=likelihood / likelihood.sum()).tolist()
        time = int(chance.integers(1, 400)) * 86_400_000_000 if chance.random() < 0.9 else 0
        flags = int(chance.random() < 0.5) | int(chance.integers(3)) << ROLE_SHIFT | int(conversation % 3 == 0) << 14
        rows.append(
            row(
                number,
                {word: drawn.count(word) for word in drawn},
                (centres[chance.integers(8)] + chance.normal(size=SIZE)).astype(np.float32),
                message=message,
                previous=previous,
                session=session,
                conversation=conversation,
                time=time,
                flags=flags,
                speaker=int(chance.integers(3)),
                kind=int(chance.integers(len(KINDS))),
                length=int(chance.integers(1, 1_000_000)),  # no two are alike: no two scores are
                first=int(not further),
            )
        )
    return rows


@dataclass(frozen=True)
class ListSource:
    """A state of a `ListEngine`, which stays as it is."""

    now: IndexState
    sealed: Mapping[int, tuple[SegmentMark, bytes]]
    rows: Sequence[TailRow]
    log: Sequence[tuple[int, int]]
    vectors: Sequence[tuple[int, int, bytes]]
    speakers: Mapping[str, int] = field(default_factory=dict)
    phrases: Mapping[tuple[str, ...], Sequence[int]] = field(default_factory=dict)
    sources: Mapping[str, Sequence[int]] = field(default_factory=dict)
    sentences: Mapping[int, bytes] = field(default_factory=dict)
    read: list[int] = field(default_factory=list)  # segments that were read
    rows_read: list[int] = field(default_factory=list)  # of the tail

    def state(self) -> IndexState:
        return self.now

    def segments(self) -> list[SegmentMark]:
        return [mark for mark, _ in self.sealed.values()]

    def segment(self, first: int) -> bytes:
        self.read.append(first)
        return self.sealed[first][1]

    def tail(self, after: int) -> Iterator[TailRow]:
        found = [row for row in self.rows if row.number > after]
        self.rows_read.extend(row.number for row in found)
        return iter(found)

    def deaths(self, after: int) -> Sequence[tuple[int, int]]:
        return [death for death in self.log if death[0] > after]

    def quality(self, after: int, first: int = 0) -> Sequence[tuple[int, int, bytes]]:
        return [entry for entry in self.vectors if entry[0] > after and entry[1] >= first]

    def runs(self, numbers: Sequence[int]) -> Sequence[tuple[int, bytes]]:
        return [(number, self.sentences[number]) for number in numbers if number in self.sentences]

    def pieces(self) -> tuple[int, bytes] | None:
        return 10, np.arange(100, dtype=np.uint32).tobytes()

    def conversations(self, sources: tuple[str, ...], ids: tuple[NodeId, ...] | None) -> Sequence[int]:
        return [number for source in sources for number in self.sources[source]]

    def holding(self, phrase: tuple[str, ...]) -> Int:
        return np.array(self.phrases.get(phrase, ()), np.int64)

    def speaker(self, name: str) -> int:
        return self.speakers.get(name, -1)


class ListEngine:
    """What happens to the rows of a partition: they are written, sealed, die, are compacted and erased."""

    def __init__(self) -> None:
        self.state = IndexState(1, 0, 0, 0, 0, 0)
        self.sealed: dict[int, tuple[SegmentMark, bytes]] = {}
        self.tail: list[TailRow] = []
        self.log: list[tuple[int, int]] = []
        self.vectors: list[tuple[int, int, bytes]] = []
        self.living: dict[int, TailRow] = {}

    def source(self, **more: object) -> ListSource:
        """The state as it is now."""
        return ListSource(self.state, dict(self.sealed), [*self.tail], [*self.log], [*self.vectors], **more)  # type: ignore[arg-type]

    def add(self, rows: Sequence[TailRow]) -> None:
        self.tail += rows
        self.living |= {row.number: row for row in rows}
        self.state = replace(self.state, last=max([self.state.last, *(row.number for row in rows)]))

    def seal(self, most: int) -> None:
        if self.tail:
            rows, self.tail = self.tail[:most], self.tail[most:]
            made = seal(rows)
            self.sealed[made[0].first] = made
            self.state = replace(self.state, sealed=made[0].last)

    def kill(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self.living.pop(number, None)
            self.log.append((self.state.deaths + 1, number))
            self.state = replace(self.state, deaths=self.state.deaths + 1)
        self.tail = [row for row in self.tail if row.number not in numbers]
        self.vectors = [entry for entry in self.vectors if entry[1] not in numbers]

    def compact(self) -> None:
        """Takes the dead out of the segments, as erasing does."""
        left = [made for _, data in self.sealed.values() if (made := without(data, [n for _, n in self.log]))]
        self.sealed = {mark.first: (mark, data) for mark, data in left}
        self.log = []
        self.state = replace(self.state, epoch=self.state.epoch + 1)

    def add_quality(self, numbers: Sequence[int]) -> None:
        known = {number for _, number, _ in self.vectors}
        for number in numbers:
            if number in self.living and number not in known:
                place = self.state.quality + 1
                self.vectors.append((place, number, quality_vector(number)))
                self.state = replace(self.state, quality=place)


def quality_vector(number: int) -> bytes:
    """The quality vector that a passage has in these tests."""
    return np.random.default_rng([number, 7]).integers(-127, 128, QUALITY_SIZE).astype(np.int8).tobytes()
