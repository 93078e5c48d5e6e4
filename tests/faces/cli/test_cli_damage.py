"""What the terminal says of a damaged index or file, and how it is mended; what an interrupt leaves."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect.engines.neo4j import check as neo4j_check
from recollect.engines.sqlite import check as sqlite_check
from recollect.faces.cli.commands.storage import PROBLEMS
from recollect.ingest import reindex
from recollect.store import Invariant
from tests.faces.conftest import CommandLine, Ran

pytestmark = pytest.mark.slow


@pytest.fixture
def store(sample_store: Path, home: Path) -> Path:
    """A copy of the sample that may be damaged."""
    path = home / "memory.db"
    shutil.copyfile(sample_store, path)
    return path


@pytest.fixture
def own(run: CommandLine, store: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line on it."""
    monkeypatch.setenv("RECOLLECT_STORE", str(store))
    return run


def change(store: Path, statement: str) -> None:
    """Does something to the file behind our back."""
    with apsw.Connection(str(store)) as connection:
        connection.execute(statement)
    connection.close()
    shutil.rmtree(store.with_name(f"{store.name}-index"), ignore_errors=True)


def ids(ran: Ran) -> list[Any]:
    return [message["id"] for result in ran.document["results"] for message in result["messages"]]


def command_of(ran: Ran, begins: str) -> list[str]:
    """The command that is printed, as one types it."""
    text = ran.out + ran.err
    return text[text.index(begins) :].split("\n")[0].rstrip(".").split()[1:]


DAMAGE = (
    "UPDATE segment_data SET data = zeroblob(1000)",
    "DELETE FROM segment_data",
    "DELETE FROM tail",
    "DELETE FROM segment",
    "UPDATE index_state SET last = 10",
)


@pytest.mark.parametrize("damage", DAMAGE[:2])
def test_with_a_damaged_index_search_answers_with_words_and_says_what_mends_it(
    own: CommandLine, store: Path, damage: str
) -> None:
    change(store, damage)
    ran = own("search", "nginx reverse proxy")
    assert ran.code == 0
    assert "Full Stack App Planning" in ran.out
    assert len(ran.err.splitlines()) == 1
    assert "damaged" in ran.err
    assert own("search", "nginx reverse proxy", "--json").document["notes"]
    checked = own("check")
    assert checked.code == 1
    assert "recollect check --repair" in checked.err
    mended = own(*command_of(checked, "recollect check --repair"))
    assert (mended.code, mended.out.splitlines()[-1]) == (0, "[ok] Repaired: no problems left.")
    again = own("search", "nginx reverse proxy")
    assert (again.code, again.err) == (0, "")


@pytest.mark.parametrize("damage", DAMAGE)
def test_check_names_the_damage_once_and_repair_mends_it(own: CommandLine, store: Path, damage: str) -> None:
    before = ids(own("search", "why does my sourdough turn out flat", "--json"))
    change(store, damage)
    checked = own("check", "--json")
    assert checked.code == 1
    assert {violation["remedy"] for violation in checked.document["violations"]} == {"reindex"}
    repaired = own("check", "--repair", "--json")
    assert (repaired.code, repaired.document) == (0, {"ok": True, "repaired": True, "violations": []})
    assert ids(own("search", "why does my sourdough turn out flat", "--json")) == before
    assert own("check").out == "[ok] No problems found.\n"


def test_check_says_which_segment_is_damaged_and_how(own: CommandLine, store: Path) -> None:
    change(store, "UPDATE segment_data SET data = substr(data, 1, 999)")
    told = own("check").out.splitlines()
    assert told == [line for line in told if line.startswith("[bad] a part of the search index is damaged")]
    assert re.search(r": Segment of passages \d+ to \d+ of the search index is cut off, Segment of", told[0])


def test_a_note_keeps_the_options_of_the_run(run: CommandLine, store: Path) -> None:
    change(store, DAMAGE[0])
    ran = run("search", "nginx", "--store", store)
    assert f"recollect --store {store} " in ran.err


def test_nothing_found_in_a_damaged_index_says_so_too(own: CommandLine, store: Path) -> None:
    change(store, DAMAGE[0])
    ran = own("search", '"no such phrase anywhere"')
    assert ran.code == 1
    assert "damaged" in ran.err


@pytest.mark.parametrize(
    "command", [("list", "--limit", "500"), ("stats",), ("show", "Full Stack App Planning"), ("export", "-"), ()]
)
def test_a_damaged_index_stops_nothing_that_does_not_search(
    own: CommandLine, store: Path, command: tuple[str, ...]
) -> None:
    change(store, DAMAGE[0])
    ran = own(*command)
    assert (ran.code, ran.err) == (0, "")


def test_damaged_messages_are_told_with_what_to_do(own: CommandLine, store: Path) -> None:
    change(store, "UPDATE message SET position = position + 1000 WHERE num % 50 = 0")
    ran = own("check")
    assert ran.code == 1
    assert "recollect restore FILE --replace" in ran.err
    assert "recollect export FILE" in ran.err
    assert "check" not in ran.err
    still = own("check", "--repair")
    assert still.code == 1
    assert "recollect check --repair" not in still.err


PLAIN_WORDS = (
    ("UPDATE message SET active = 0 WHERE position = 0", "shown, but the message before it is on another branch"),
    (
        "INSERT INTO chunk (ns, id, parent_id, part, idx, start, end, tokens) VALUES (1, 'c', 'm', -1, 0, 5, 9, 1)",
        "parts of the text are missing, or overlap",
    ),
    ("UPDATE segment_data SET data = zeroblob(1000)", "a part of the search index is damaged"),
)


@pytest.mark.parametrize(("damage", "words"), PLAIN_WORDS)
def test_check_says_in_plain_words_what_is_wrong(own: CommandLine, store: Path, damage: str, words: str) -> None:
    change(store, damage)
    lines = own("check").out.splitlines()
    assert any(line.startswith(f"[bad] {words}") for line in lines), lines
    assert not any("does not hold" in line for line in lines), lines


def test_check_has_words_for_whatever_an_engine_may_find() -> None:
    for statements in (sqlite_check.RECORD, sqlite_check.INDEX, neo4j_check.RECORD, neo4j_check.INDEX):
        assert all(isinstance(invariant, Invariant) for invariant in statements)
    assert PROBLEMS.keys() == set(Invariant)


@pytest.mark.parametrize("seed", range(6))
def test_flipped_bytes_are_no_bug_of_ours(own: CommandLine, store: Path, seed: int) -> None:
    data = bytearray(store.read_bytes())
    dice = random.Random(seed)
    for _ in range(200):
        data[dice.randrange(100, len(data))] ^= 1 << dice.randrange(8)
    store.write_bytes(data)
    for command in (("search", "nginx"), ("check",), ("stats",), ("export", "-"), ("check", "--repair"), ("reindex",)):
        ran = own(*command)
        assert "Something went wrong" not in ran.err, (command, ran.err)
        assert "Traceback" not in ran.err
        assert ran.code in (0, 1, 2)
        if ran.code == 2:
            assert str(store) in ran.err or "damaged" in ran.err


def broken_page(store: Path) -> None:
    """Breaks a page of messages."""
    data = bytearray(store.read_bytes())
    at = data.index(b"nginx reverse proxy") // 4096 * 4096
    data[at : at + 4096] = b"\xff" * 4096
    store.write_bytes(data)


def no_header(store: Path) -> None:
    """Wipes out the first 100 bytes, without which SQLite sees no database."""
    data = bytearray(store.read_bytes())
    data[:100] = bytes(100)
    store.write_bytes(data)


@pytest.mark.parametrize("damage", [broken_page, no_header])
def test_check_names_a_damaged_file_and_export_saves_what_is_left(
    own: CommandLine, store: Path, home: Path, damage: Callable[[Path], None]
) -> None:
    damage(store)
    checked = own("check")
    assert checked.code == 1
    assert "[bad] the file is damaged" in checked.out
    told = own(*command_of(checked, "recollect export FILE")[:1], str(home / "rest.jsonl"))
    assert told.code == 1
    assert "Everything that can be read was exported." in told.err
    as_json = own("export", str(home / "rest.jsonl"), "--json")
    assert as_json.code == 1
    assert as_json.document["records"] > 110
    piped = own("export", "-")
    assert piped.code == 1
    assert piped.out.splitlines()[-1].startswith('{"conversations":')
    new = own("import", str(home / "rest.jsonl"), "--store", str(home / "new.db"))
    assert ("damaged memory" in new.out + new.err) == (damage is broken_page)
    messages = own("stats", "--store", str(home / "new.db"), "--json").document["messages"]
    assert messages == 984 - as_json.document["lost"]["messages"]
    assert own("check", "--store", str(home / "new.db")).code == 0


# --- interrupted ------------------------------------------------------------------------------------------------------
@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C at the third batch of a rebuild."""
    real, written = reindex._write, 0

    def write(*arguments: Any, **more: Any) -> None:
        nonlocal written
        written += 1
        if written == 3:
            raise KeyboardInterrupt
        real(*arguments, **more)

    monkeypatch.setattr(reindex, "_BATCH", 50)
    monkeypatch.setattr(reindex, "_write", write)


def test_an_interrupted_reindex_changes_nothing_that_is_seen_and_goes_on(own: CommandLine, interrupted: None) -> None:
    own("embed", "--limit", "4")
    before = own("search", "why does my sourdough turn out flat", "--json")
    ran = own("reindex")
    assert ran.code == 130
    assert ran.err == "Interrupted. Nothing has changed for search. To continue: recollect reindex\n"
    assert ids(own("search", "why does my sourdough turn out flat", "--json")) == ids(before)
    counts = own("stats", "--json").document
    assert counts["index"] == {"rebuilding": True}
    assert counts["quality"]["made"] == 4
    assert "Search index: being rebuilt; search uses the old one." in own().out
    assert own("check").code == 0
    assert own("reindex").out == "Search index rebuilt from 984 messages.\n"
    assert own("stats", "--json").document["index"] == {"rebuilding": False}
    assert own("stats", "--json").document["quality"]["made"] == 4
    assert ids(own("search", "why does my sourdough turn out flat", "--json")) == ids(before)


def test_what_is_written_meanwhile_is_found_before_and_after(own: CommandLine, interrupted: None) -> None:
    own("reindex")
    own("remember", "the quokka plays the trombone")
    assert own("search", '"quokka"').code == 0
    own("forget", "Bassinage for wetter dough", "--yes")
    assert own("reindex").code == 0
    assert own("search", '"quokka"').code == 0
    assert own("search", '"bassinage"').code == 1
    assert own("check").code == 0


def test_a_limit_of_embed_counts_quality_vectors_only(own: CommandLine) -> None:
    assert own("embed", "--limit", "8", "--json").document["quality"]["made"] == 8
    assert own("embed", "--limit", "4", "--json").document["quality"]["made"] == 12
    assert own("embed", "--again", "--limit", "4").code == 2, "that once threw away all other vectors"
    assert own("stats", "--json").document["quality"]["made"] == 12


def test_an_interrupted_embed_keeps_what_is_made(own: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    from recollect.derive.tasks import quality

    monkeypatch.setattr(quality, "_BATCH", 2)
    real, written = quality.IndexChange, 0

    def change_or_stop(**values: Any) -> Any:
        nonlocal written
        written += 1
        if written == 3:
            raise KeyboardInterrupt
        return real(**values)

    monkeypatch.setattr(quality, "IndexChange", change_or_stop)
    ran = own("embed", "--limit", "8")
    assert ran.code == 130
    assert ran.err == "Interrupted. Progress is saved. To continue: recollect embed\n"
    assert own("stats", "--json").document["quality"]["made"] == 4
