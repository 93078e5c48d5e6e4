"""Sets imported once and kept: an experiment with the ranker asks its questions within seconds.

A store is kept by what is in it and by the code that makes passages, so it is made again when either changes. The cache
is the folder of RECOLLECT_BENCH_CACHE, or recollect-benchmarks in the user's cache; it can be deleted at any time.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from copy import copy
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.convert import openai_conversation, write_openai
from benchmarks.datasets import ROOT, DataSet, History
from benchmarks.vectors import RememberingModel
from recollect.engines import open_store
from recollect.memory import Handle, Memory
from recollect.models.embedding.base import TokenEmbedder
from recollect.models.embedding.static import StaticEmbedder
from recollect.models.language.base import LanguageModel
from recollect.record import Namespace
from recollect.store import View

#: What decides how a message becomes a passage, and what of the store only reads passages and may change meanwhile.
_WRITES = ("importers", "text", "models/embedding", "record", "store", "engines", "index", "ingest")
_ONLY_READS = (
    "store/passages.py",
    "engines/neo4j/indexing.py",
    "index/candidates.py",
    "index/pool.py",
    "index/vocabulary.py",
)
_KEPT = 2  # stores a set: one of the main line, one of a branch beside it


def cache_folder() -> Path:
    """Where prepared stores and vectors are kept."""
    if named := os.environ.get("RECOLLECT_BENCH_CACHE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "recollect-benchmarks"


class Prepared:
    """A set in a store of its own, each history in a namespace. Close it when done."""

    def __init__(self, data: DataSet, cache: Path, *, fresh: bool = False) -> None:
        """Imports the set, unless that was done before. Raises what importing raises."""
        folder = cache / "stores" / f"{data.name}-{key(data)}"
        if fresh or not folder.exists():
            _make(data, folder)
        os.utime(folder)
        self._place, self._data, self._cache = str(folder / "memory.db"), data, cache
        self._model: RememberingModel | None = None

    def memory(self, history: History, asked_model: LanguageModel | None = None) -> Memory:
        """The memory of one of its histories; `asked_model` answers."""
        return _opened(self._place, self._data, history, self.model, asked_model)

    @contextmanager
    def view(self, history: History) -> Iterator[View]:
        """A snapshot of the namespace of one of its histories."""
        store = open_store(self._place)
        try:
            with store.space(_namespace(self._data, history)).view() as view:
                yield view
        finally:
            store.close()

    def model(self) -> RememberingModel:
        """The quality model, computing nothing twice."""
        if self._model is None:
            self._model = RememberingModel.packaged(self._cache)
        return self._model

    def copied(self, folder: Path) -> Prepared:
        """The same over a copy of the store in an empty folder: for what writes, such as deleting."""
        shutil.copytree(Path(self._place).parent, folder, dirs_exist_ok=True)
        copied = copy(self)
        copied._place = str(folder / "memory.db")
        return copied

    def make_quality(self) -> None:
        """Makes those vectors of the quality mode that are not there yet."""
        for history in self._data.histories:
            with self.memory(history) as memory:
                memory.upkeep.embed()


def key(data: DataSet) -> str:
    """What a prepared store depends on, as a short name."""
    known = sha256()
    for history in data.histories:
        known.update(f"\0{history.id}".encode())
        for session in history.sessions:
            known.update(json.dumps(openai_conversation(session), ensure_ascii=False).encode())
    for path in sorted(_code()):
        known.update(
            f"\0{path.name} ".encode() + (path.read_bytes() if path.suffix in (".py", ".sql") else _size(path))
        )
    return known.hexdigest()[:12]


def _code() -> Iterable[Path]:
    for name in _WRITES:
        for file in (ROOT / "recollect" / name).rglob("*"):
            place = file.relative_to(ROOT / "recollect").as_posix()
            if file.is_file() and file.suffix != ".pyc" and place not in _ONLY_READS:
                yield file


def _size(path: Path) -> bytes:
    return str(path.stat().st_size).encode()


def _make(data: DataSet, folder: Path) -> None:
    """Beside its place first, so that what stands there is whole."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".making-", dir=folder.parent) as making:
        new = Path(making) / "store"
        new.mkdir()
        with ExitStack() as opened:
            for history in data.histories:
                memory = opened.enter_context(_opened(str(new / "memory.db"), data, history, None))
                write_openai(history.sessions, new / "export.jsonl")
                report = memory.import_file(new / "export.jsonl")
                least = len({message.id for message in history.messages})  # some sets repeat messages
                if (stored := report.stored.messages) < least:
                    raise RuntimeError(f"{stored} of {len(history.messages)} messages of {history.id} are in.")
        (new / "export.jsonl").unlink()
        if folder.exists():
            shutil.rmtree(folder)
        new.rename(folder)
    _forget_old(folder.parent, data.name)


def _forget_old(stores: Path, name: str) -> None:
    of_set = [folder for folder in stores.glob(f"{name}-*") if len(folder.name) == len(name) + 13]
    for folder in sorted(of_set, key=lambda path: path.stat().st_mtime, reverse=True)[_KEPT:]:
        shutil.rmtree(folder, ignore_errors=True)


def _opened(
    place: str,
    data: DataSet,
    history: History,
    quality: Callable[[], TokenEmbedder] | None,
    asked_model: LanguageModel | None = None,
) -> Memory:
    namespace = _namespace(data, history)
    return Memory(Handle(open_store(place), StaticEmbedder(), namespace, quality=quality, asked_model=asked_model))


def _namespace(data: DataSet, history: History) -> Namespace:
    return Namespace(f"bench/{data.histories.index(history)}")
