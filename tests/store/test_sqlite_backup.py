"""Backups of a store that is in use, and a store from a backup."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from recollect.engines.sqlite.backup import restore_backup
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.errors import InvalidInput, NotFound, StoreBusy, StoreError
from recollect.record import Conversation
from recollect.store import Where
from tests.disks import fill, needs_root, small_disk
from tests.store.builders import DEFAULT, change_of, holding, query, talk, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def conversations(path: Path) -> int:
    store = SQLiteStore(path)
    with store.space(DEFAULT).view() as view:
        found = len(view.find(Conversation, Where(), limit=10_000).items)
    assert store.space(DEFAULT).check() == []
    store.close()
    return found


def test_a_backup_is_the_store_of_one_moment_while_others_write(path: Path, tmp_path: Path) -> None:
    store, other = SQLiteStore(path), SQLiteStore(path)
    write(store, *(talk(f"t{i}", *(f"heron {i} {j}" for j in range(40))) for i in range(30)))
    stop, written = threading.Event(), 0

    def append() -> None:
        nonlocal written
        while not stop.is_set():
            write(other, talk(f"more {written}", "one more heron"))
            written += 1

    writer = threading.Thread(target=append)
    writer.start()
    steps: list[tuple[int, ...]] = []
    for i in range(3):
        store.backup(tmp_path / f"copy{i}.db", lambda *step: steps.append(step))
    stop.set()
    writer.join()
    assert steps[-1][0] == steps[-1][1] > 0
    copy = tmp_path / "copy2.db"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert 30 <= conversations(copy) <= 30 + written
    left = {file.name for file in tmp_path.iterdir() if not file.name.startswith("memory.db")}
    assert left == {"copy0.db", "copy1.db", "copy2.db"}
    store.close()
    other.close()


@pytest.mark.parametrize("kind", ["file", "folder", "link", "pipe", "itself"])
def test_no_backup_replaces_anything(path: Path, tmp_path: Path, kind: str) -> None:
    store = SQLiteStore(path)
    write(store, talk("a", "one"))
    target = path if kind == "itself" else tmp_path / "target"
    if kind == "file":
        target.write_text("dear diary")
    elif kind == "folder":
        target.mkdir()
    elif kind == "link":
        target.symlink_to(tmp_path / "nowhere")
    elif kind == "pipe":
        os.mkfifo(target)
    with pytest.raises(InvalidInput, match=r"there already|is a folder"):
        store.backup(target)
    assert not (tmp_path / "nowhere").exists()
    if kind == "file":
        assert target.read_text() == "dear diary"
    store.close()


def test_a_backup_that_cannot_be_written_leaves_nothing(path: Path, tmp_path: Path) -> None:
    store = SQLiteStore(path)
    write(store, talk("a", "one"))
    with pytest.raises(StoreError, match="cannot be written"):
        store.backup(tmp_path / "no folder" / "copy.db")

    def interrupt(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.backup(tmp_path / "copy.db", interrupt)
    assert {file.name for file in tmp_path.iterdir()} <= {"memory.db", "memory.db-wal", "memory.db-shm"}
    store.close()


# Pages beside those of the copy that there is room for: from none at all to just enough, the log's index included.
ROOM = (-1000, -1, 0, 1, 4, 8)


@needs_root
@pytest.mark.parametrize("room", ROOM)
def test_a_backup_to_a_full_disk_names_its_file_and_leaves_nothing(path: Path, tmp_path: Path, room: int) -> None:
    store = SQLiteStore(path)
    write(store, *(talk(f"t{i}", *(f"heron {i} {j}" for j in range(40))) for i in range(5)))
    store.backup(tmp_path / "copy.db")
    with small_disk(tmp_path / "small", 2) as small:
        filler = fill(small, leave=(tmp_path / "copy.db").stat().st_size + (room << 12))
        said = done(lambda: store.backup(small / "copy.db"))
        assert said == ("" if room == ROOM[-1] else f"The disk is full: {small / 'copy.db'} could not be written.")
        assert {file.name for file in small.iterdir()} == {filler.name} | ({"copy.db"} if not said else set())
        filler.unlink()
        (small / "copy.db").unlink(missing_ok=True)
        store.backup(small / "copy.db")
        assert conversations(small / "copy.db") == 5
    store.close()


@needs_root
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("room", ROOM)
def test_what_does_not_fit_is_not_restored_and_the_store_is_named(
    path: Path, tmp_path: Path, log: bool, room: int
) -> None:
    store = SQLiteStore(path)
    write(store, *(talk(f"t{i}", *(f"heron {i} {j}" for j in range(40))) for i in range(5)))
    store.backup(tmp_path / "copy.db")
    with small_disk(tmp_path / "small", 2) as small:
        filler = fill(small, leave=(tmp_path / "copy.db").stat().st_size + (room << 12))
        target = small / "memory.db"
        said = done(lambda: restore_backup(path if log else tmp_path / "copy.db", target))
        assert said in ("", f"The disk is full: {target} could not be written.")
        assert said or room > 0
        assert {file.name for file in small.iterdir()} == {filler.name} | ({"memory.db"} if not said else set())
    store.close()


def done(work: Callable[[], object]) -> str:
    """What is said of a store that cannot do it; nothing where it was done."""
    try:
        work()
    except StoreError as problem:
        return problem.message
    return ""


def test_a_store_comes_back_from_its_backup(path: Path, tmp_path: Path) -> None:
    store = SQLiteStore(path)
    write(store, talk("a", "the heron stands"))
    store.backup(tmp_path / "copy.db")
    write(store, talk("b", "an egret flies"))
    store.close()
    with pytest.raises(InvalidInput, match="already"):
        restore_backup(tmp_path / "copy.db", path)
    assert conversations(path) == 2
    restore_backup(tmp_path / "copy.db", path, replace=True)
    assert conversations(path) == 1
    restore_backup(tmp_path / "copy.db", tmp_path / "new" / "memory.db")
    assert conversations(tmp_path / "new" / "memory.db") == 1
    assert stat.S_IMODE((tmp_path / "new" / "memory.db").stat().st_mode) == 0o600
    restore_backup(tmp_path / "copy.db", tmp_path, replace=True)  # the memory in a folder
    assert not [file.name for file in tmp_path.iterdir() if file.name.endswith(".part")]


def test_a_restored_store_is_another_one_to_what_is_kept_beside_it(path: Path, tmp_path: Path) -> None:
    store = SQLiteStore(path)
    write(store, talk("a", "the heron stands"))
    store.backup(tmp_path / "copy.db")
    write(store, talk("b", "an egret flies"))
    assert len(holding(store.space(DEFAULT), "egret")) == 1
    folder = path.with_name("memory.db-index")
    folder.mkdir(exist_ok=True)
    (folder / "block").write_bytes(b"x")
    store.close()
    with closing(apsw.Connection(str(path))) as connection:
        before = connection.execute("SELECT identity FROM about").get
    restore_backup(tmp_path / "copy.db", path, replace=True)
    assert not folder.exists()
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.execute("SELECT identity FROM about").get != before
    store = SQLiteStore(path)
    write(store, talk("c", "a zeppelin lands"))
    with store.space(DEFAULT).view() as view:
        assert view.candidates(query("egret zeppelin")).frequencies.tolist() == [0, 1]
    store.close()


def test_a_store_in_use_is_not_replaced(path: Path, tmp_path: Path) -> None:
    store = SQLiteStore(path)
    write(store, talk("a", "one"))
    store.backup(tmp_path / "copy.db")
    with store.space(DEFAULT).view(), pytest.raises(StoreBusy, match="in use"):
        restore_backup(tmp_path / "copy.db", path, replace=True)
    store.close()
    assert conversations(path) == 1


def test_what_is_no_whole_store_is_not_restored(path: Path, tmp_path: Path) -> None:
    store = SQLiteStore(path)
    write(store, *(talk(f"t{i}", *(f"heron {i} {j}" for j in range(40))) for i in range(30)))
    store.backup(tmp_path / "copy.db")
    store.close()
    raw = (tmp_path / "copy.db").read_bytes()
    broken = {
        "text": b"dear diary " * 900,
        "short": raw[: len(raw) // 2 // 4096 * 4096],
        "flipped": raw[:8192] + os.urandom(40960) + raw[49152:],
        "empty": b"",
    }
    for name, data in broken.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(StoreError):
            restore_backup(tmp_path / name, path, replace=True)
    with closing(apsw.Connection(str(tmp_path / "copy.db"))) as newer:
        newer.execute("PRAGMA user_version = 99; UPDATE about SET written_by = '9.9.9'")
    with pytest.raises(StoreError, match=r"9\.9\.9"):
        restore_backup(tmp_path / "copy.db", path, replace=True)
    with pytest.raises(NotFound):
        restore_backup(tmp_path / "nothing", path, replace=True)
    assert conversations(path) == 30


def test_a_damaged_store_is_replaced(path: Path, tmp_path: Path) -> None:
    store = SQLiteStore(path)
    write(store, talk("a", "one"))
    store.backup(tmp_path / "copy.db")
    store.close()
    path.write_bytes(os.urandom(9999))
    restore_backup(tmp_path / "copy.db", path, replace=True)
    assert conversations(path) == 1
    store = SQLiteStore(path)
    store.space(DEFAULT).write(change_of(talk("b", "two")))
    store.close()
