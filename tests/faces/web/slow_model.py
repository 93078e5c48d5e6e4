"""A model that says its words when the test lets it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from recollect.models.language.base import Completion, Request, RequestRejected, Usage
from recollect.models.language.talk import Said, Spoken, Talk


class SlowModel:
    """Says one piece after the other, each once `go` was called for it; answers no schemas."""

    name = "test:slow"

    def __init__(self, *pieces: str) -> None:
        self.pieces, self.talks, self.left = pieces, 0, False
        self._gate = threading.Semaphore(0)

    def go(self, pieces: int = 1) -> None:
        self._gate.release(pieces)

    def complete(self, request: Request) -> Completion:
        raise RequestRejected("It answers no schemas.")

    def talk(self, talk: Talk) -> Iterator[str | Spoken]:
        self.talks += 1
        try:
            for piece in self.pieces:
                assert self._gate.acquire(timeout=30)
                yield piece
        except GeneratorExit:
            self.left = True
            raise
        said = Said(role="assistant", text="".join(self.pieces))
        yield Spoken(said=said, stop="end", model=self.name, usage=Usage(1, 2140, 196), cost=0.008)
