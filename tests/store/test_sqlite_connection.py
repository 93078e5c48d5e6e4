"""The file of the embedded engine: who may read it, what is said of one that is no store, threads, old programs."""

from __future__ import annotations

import gzip
import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw
import pytest

from recollect.engines.sqlite.engine import SQLiteStore
from recollect.errors import StoreBusy, StoreError
from recollect.record import Conversation
from recollect.store import Change, Where
from tests.disks import fill, needs_root, small_disk
from tests.store.builders import DEFAULT, change_of, holding, talk, write

NOBODY = 65534
OLD_STORE = Path(__file__).parents[1] / "fixtures" / "memory-0.1.0.db.gz"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps permissions otherwise")
def test_the_store_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "memory.db"
    store = SQLiteStore(path)
    write(store, talk("a", "one"))
    files = list(path.parent.iterdir())
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    store.close()


def conversations(path: Path) -> list[Conversation]:
    """What a store holds, read as another process would."""
    store = SQLiteStore(path)
    try:
        with store.space(DEFAULT).view() as view:
            return view.find(Conversation, Where(), limit=9999).items
    finally:
        store.close()


def files_open() -> list[str]:
    """The files that this process holds open; none where the system does not tell."""
    found = []
    for entry in Path("/proc/self/fd").iterdir() if Path("/proc/self/fd").exists() else ():
        with suppress(OSError):
            found.append(str(entry.readlink()))
    return found


# --- what can be no store ------------------------------------------------------------------------------------------


def test_a_folder_means_the_memory_in_it(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path)
    assert store.location == str(tmp_path / "memory.db")
    store.close()


def test_somebody_elses_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    text, foreign = tmp_path / "notes.txt", tmp_path / "other.db"
    text.write_text("dear diary " * 100)
    with closing(apsw.Connection(str(foreign))) as connection:
        connection.execute("CREATE TABLE diary (day TEXT)")
    for path in (text, foreign):
        before = path.read_bytes()
        with pytest.raises(StoreError, match=r"is not a Recollect store\. Choose another place"):
            SQLiteStore(path)
        assert path.read_bytes() == before
    assert {file.name for file in tmp_path.iterdir()} == {"notes.txt", "other.db"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_what_is_no_file_is_no_store(path: Path) -> None:
    os.mkfifo(path)
    with pytest.raises(StoreError, match="is not a file"):
        SQLiteStore(path)
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_what_cannot_be_created_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be"):
        SQLiteStore(tmp_path / "file" / "memory.db")


def test_a_damaged_file_is_told_in_our_words(path: Path) -> None:
    store = SQLiteStore(path)
    write(store, *(talk(f"t{i}", *(f"heron {i} {j}" for j in range(30))) for i in range(20)))
    store.close()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(path.stat().st_size - 8192))
    with pytest.raises(StoreError, match="damaged"):
        conversations(path)


# --- read only -----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that others may look into, too."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """The folder is one that this process cannot write to, also where it runs as root."""
    root = os.geteuid() == 0
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps permissions otherwise")
def test_a_read_only_disk_lets_search_and_refuses_to_write(folder: Path) -> None:
    """U7: what can be read is read; writing is refused in one sentence."""
    path = folder / "memory.db"
    store = SQLiteStore(path)
    write(store, talk("a", "the heron stands", "and waits"))
    assert holding(store.space(DEFAULT), "heron") == ["the heron stands"]
    store.close()
    with read_only(folder):
        store = SQLiteStore(path)
        space = store.space(DEFAULT)
        assert holding(space, "heron") == ["the heron stands"]
        with space.view() as view:
            assert view.counts().messages == 2
            assert view.thread(talk("a", "x").conversation.id) is not None
        assert space.check() == []
        assert store.info().bytes > 0
        for write_to_it in (lambda: space.write(change_of(talk("b", "x"))), lambda: space.erase([])):
            with pytest.raises(StoreError, match="is read-only: nothing can be written to it"):
                write_to_it()
        store.close()
    assert [file.name for file in folder.iterdir()] == ["memory.db"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps permissions otherwise")
def test_a_read_only_store_whose_log_was_left_says_so(folder: Path) -> None:
    path = folder / "memory.db"
    code = (
        "import os, sys; from pathlib import Path; from recollect.engines.sqlite.engine import SQLiteStore\n"
        "from tests.store.builders import talk, write\n"
        "store = SQLiteStore(Path(sys.argv[1])); write(store, talk('a', 'one')); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, cwd=Path(__file__).parents[2])
    (folder / "memory.db-shm").unlink()
    with read_only(folder), pytest.raises(StoreError, match="was not closed"):
        SQLiteStore(path)
    store = SQLiteStore(path)  # and here the log is read
    with store.space(DEFAULT).view() as view:
        assert view.counts().messages == 1
    store.close()


# --- threads and processes -----------------------------------------------------------------------------------------


def test_two_thousand_threads_use_few_connections(path: Path) -> None:
    """S7: a connection is lent to a thread, not kept by it."""
    store = SQLiteStore(path)
    write(store, talk("a", "one"))
    space = store.space(DEFAULT)
    problems: list[BaseException] = []

    def read() -> None:
        try:
            with space.view() as view:
                view.counts()
        except BaseException as problem:
            problems.append(problem)

    most = 0
    for _ in range(20):
        threads = [threading.Thread(target=read) for _ in range(100)]
        for one in threads:
            one.start()
        most = max(most, len(files_open()))
        for one in threads:
            one.join()
    assert problems == []
    assert most < 400
    store.close()
    assert [name for name in files_open() if name.startswith(str(path))] == []


def test_views_within_views_do_not_wait_for_themselves(path: Path) -> None:
    store = SQLiteStore(path, wait=1.0)
    write(store, talk("a", "one"))
    space = store.space(DEFAULT)
    held = [space.view() for _ in range(60)]
    views = [one.__enter__() for one in held]
    space.write(change_of(talk("b", "two")))
    assert {view.counts().messages for view in views} == {1}
    for one in held:
        one.__exit__(None, None, None)
    store.close()


def test_who_waits_for_a_connection_is_lent_the_next_and_not_who_asks_again_at_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.engines.sqlite.connection._MOST", 1)
    order: list[str] = []
    with closing(SQLiteStore(path)) as store:

        def wait() -> None:
            with store.database.reading():
                order.append("waiting")

        thread = threading.Thread(target=wait)
        with store.database.reading():
            thread.start()
            while not store.database._asking:
                time.sleep(0.001)
        with store.database.reading():
            order.append("again")
        thread.join()
    assert order == ["waiting", "again"]


def test_threads_that_wait_for_another_process_do_not_wait_one_after_the_other(path: Path) -> None:
    store = SQLiteStore(path, wait=0.5)
    write(store, talk("a", "one"))
    store.close()
    with closing(apsw.Connection(str(path))) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        with ThreadPoolExecutor(8) as pool:
            for opened in [pool.submit(SQLiteStore, path, wait=0.5) for _ in range(8)]:
                with pytest.raises(StoreBusy):
                    opened.result()
        assert time.monotonic() - began < 2.0


def test_a_writer_that_waits_too_long_says_so(path: Path) -> None:
    store, told = SQLiteStore(path, wait=0.2), list[bool]()
    other = SQLiteStore(path, wait=0.2, on_wait=lambda: told.append(True))
    with store.database.writing(), pytest.raises(StoreBusy):
        other.space(DEFAULT).write(Change())
    other.space(DEFAULT).write(Change())
    store.close()
    other.close()


def test_an_older_program_that_is_running_refuses_a_newer_store(path: Path) -> None:
    """S8: the version is compared in every transaction."""
    store = SQLiteStore(path)
    space = store.space(DEFAULT)
    write(store, talk("a", "one"))
    with closing(apsw.Connection(str(path))) as newer:
        newer.execute("PRAGMA user_version = 4; UPDATE about SET written_by = '9.9.9'")
    for use in (lambda: space.write(change_of(talk("b", "two"))), lambda: space.view().__enter__(), store.namespaces):
        with pytest.raises(StoreError, match=r"written by Recollect 9\.9\.9"):
            use()
    store.close()
    with pytest.raises(StoreError, match=r"written by Recollect 9\.9\.9"):
        SQLiteStore(path)
    with closing(apsw.Connection(str(path))) as newer:
        assert newer.execute("SELECT count(*) FROM message").get == 1


@needs_root
def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path / "small", 2) as small:
        store = SQLiteStore(small / "memory.db")
        space, written = store.space(DEFAULT), 0
        said = ""
        while not said:
            try:
                space.write(change_of(talk(f"t{written}", *(f"heron {os.urandom(400).hex()}" for _ in range(20)))))
                written += 1
            except StoreError as problem:
                said = str(problem)
        assert said.startswith(f"The disk is full: {small / 'memory.db'} could not be written.")
        assert "Everything saved so far is safe" in said
        with space.view() as view:
            assert view.counts().conversations == written > 0
        store.close()
        assert len(conversations(small / "memory.db")) == written


@needs_root
def test_where_nothing_fits_on_the_disk_any_more_the_store_is_read_and_written_again_when_there_is_room(
    tmp_path: Path,
) -> None:
    """A log needs an index beside the file, and there is no room for that either."""
    with small_disk(tmp_path / "small", 2) as small:
        store = SQLiteStore(small / "memory.db")
        write(store, talk("a", "the heron stands", "and waits"))
        store.close()
        filler = fill(small)
        store, other = SQLiteStore(small / "memory.db"), SQLiteStore(small / "memory.db")
        space = store.space(DEFAULT)
        with space.view() as view:
            assert view.counts().messages == 2
            assert holding(other.space(DEFAULT), "heron") == ["the heron stands"]
            with pytest.raises(StoreError, match="The disk is full"):
                space.write(change_of(talk("b", "x")))
        assert space.check() == []
        for write_to_it in (lambda: space.write(change_of(talk("b", "x"))), lambda: space.erase([])):
            with pytest.raises(StoreError, match="The disk is full"):
                write_to_it()
        filler.unlink()
        write(store, talk("b", "an egret flies"))
        assert holding(other.space(DEFAULT), "egret") == ["an egret flies"]
        write(other, talk("c", "a zeppelin lands"))
        assert holding(space, "zeppelin") == ["a zeppelin lands"]
        store.close()
        other.close()
        assert len(conversations(small / "memory.db")) == 3


@needs_root
def test_threads_that_read_on_a_full_disk_leave_nothing_behind_that_keeps_from_writing(tmp_path: Path) -> None:
    with small_disk(tmp_path / "small", 2) as small:
        store = SQLiteStore(small / "memory.db")
        write(store, talk("a", "the heron stands"))
        store.close()
        filler = fill(small)
        store = SQLiteStore(small / "memory.db")
        space = store.space(DEFAULT)

        def read() -> int:
            with space.view() as view:
                return view.counts().messages

        with ThreadPoolExecutor(8) as pool:
            reading = [pool.submit(read) for _ in range(200)]
            for _ in range(20):
                with pytest.raises(StoreError, match="The disk is full"):
                    space.write(change_of(talk("b", "x")))
            assert {one.result() for one in reading} == {1}
        filler.unlink()
        write(store, talk("b", "an egret flies"))
        store.close()


@needs_root
def test_a_store_of_0_1_0_that_does_not_fit_on_the_disk_is_left_as_it_is(tmp_path: Path) -> None:
    with small_disk(tmp_path / "small", 4) as small:
        path = small / "memory.db"
        path.write_bytes(gzip.decompress(OLD_STORE.read_bytes()))
        filler = fill(small)
        with pytest.raises(StoreError, match="The disk is full"):
            SQLiteStore(path)
        filler.unlink()
        assert conversations(path)
