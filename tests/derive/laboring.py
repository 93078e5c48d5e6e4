"""A process that works on a store until it is done or killed: `python -m tests.derive.laboring STORE LOG`.

What the model is asked, and what is kept of it, is written to the log as it happens, each line at once.
"""

from __future__ import annotations

import os
import sys
import time
from datetime import timedelta
from pathlib import Path
from random import Random

from recollect.derive import worker
from recollect.derive.tasks import worker as desk
from recollect.engines.sqlite.engine import SQLiteSpace, SQLiteStore
from recollect.models.language.base import Completion, Request
from recollect.record import utc_now
from tests.derive.workshop import Parrot, handlers
from tests.store.builders import embedder


def main(store: str, log: str) -> None:
    desk.LEASE = worker.LEASE = timedelta(seconds=1)
    lines = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    class Telling(Parrot):
        def complete(self, request: Request) -> Completion:
            os.write(lines, f"asked {request.text}\n".encode())
            time.sleep(Random().uniform(0, 0.02))
            return super().complete(request)

    keep = SQLiteSpace.keep

    def kept(self, lease, answer):  # type: ignore[no-untyped-def]
        keep(self, lease, answer)
        os.write(lines, f"kept {desk._decoded(answer).data['text'].split(' & ')[0]}\n".encode())

    SQLiteSpace.keep = kept  # type: ignore[method-assign]
    own = worker.Worker(
        SQLiteStore(Path(store)), embedder(), handlers=handlers(), model=lambda namespace: Telling(), clock=utc_now
    )
    print("ready", flush=True)
    own.drain()


if __name__ == "__main__":
    main(*sys.argv[1:])
