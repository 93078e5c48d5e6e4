"""`recollect forget`, `delete` and `restore`: what goes, what is asked, what comes back."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import AbstractContextManager, closing, nullcontext
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

import recollect
from recollect.derive import worker
from recollect.faces.cli.main import main
from recollect.faces.cli.output import Output
from recollect.record import utc_now
from tests.disks import fill, needs_root, small_disk
from tests.faces.conftest import CommandLine
from tests.faces.terminal import typed_into

CANARY = "quokkatrombone"


@pytest.fixture
def own(run: CommandLine, sample_store: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line on a copy of the sample that may be changed."""
    store = home / "memory.db"
    shutil.copyfile(sample_store, store)
    monkeypatch.setenv("RECOLLECT_STORE", str(store))
    return run


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """Two conversations; one word stands in the first only, in its title and in a message."""
    path = tmp_path / "messages.jsonl"
    talks = [
        {"id": "c1", "title": f"About the {CANARY}", "created": "2024-02-01T10:00:00Z", "messages": [
            {"id": "c1-1", "role": "user", "content": f"Where is the {CANARY}?", "timestamp": "2024-02-01T10:00:00Z"},
            {"id": "c1-2", "role": "assistant", "content": "In the attic.", "timestamp": "2024-02-01T10:01:00Z"},
        ]},
        {"id": "c2", "title": "Bread", "created": "2025-03-01T10:00:00Z", "messages": [
            {"id": "c2-1", "role": "user", "content": "Which bread rises?", "timestamp": "2025-03-01T10:00:00Z"},
            {"id": "c2-2", "role": "assistant", "content": "Brioche.", "timestamp": "2025-03-01T10:01:00Z"},
        ]},
    ]  # fmt: skip
    path.write_text("".join(json.dumps(talk) + "\n" for talk in talks))
    return path


def test_it_shows_what_would_go_and_changes_nothing(own: CommandLine) -> None:
    ran = own("forget", "--source", "claude", "--until", "2023", "--dry-run")
    assert ran.code == 0
    assert ran.out.startswith("This removes 30 messages of 4 conversations") or ran.out.startswith(
        "This removes 4 conversations with 30 messages"
    )
    assert "  Sourdough turning out flat\n" in ran.out
    assert ran.out.endswith("Nothing was removed: this was a dry run.\n")
    assert own("stats", "--json").document["messages"] == 984


def test_what_was_forgotten_is_gone_and_the_last_line_says_how_it_comes_back(run: CommandLine, export: Path) -> None:
    run("import", export)
    assert run("search", CANARY).code == 0
    ran = run("forget", f"About the {CANARY}", "--yes")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "Removed 1 conversation with 2 messages. To bring it back from an export: recollect import --again PATH\n"
    )
    assert run("search", CANARY).code == 1
    assert CANARY not in run("list").out + run("export", "-").out
    assert run("show", f"About the {CANARY}").code == 1


def test_importing_again_leaves_it_out_and_says_so_unless_told_again(run: CommandLine, export: Path) -> None:
    run("import", export)
    run("forget", "c1", "--yes")
    ran = run("import", export)
    assert ran.code == 0
    assert "left out: 1 conversation that you forgot (recollect import --again PATH brings it back)" in ran.out
    assert run("search", CANARY).code == 1
    assert run("import", export, "--json").document["forgotten"] == 1
    assert "left out" not in run("import", "--again", export).out
    assert run("search", CANARY).code == 0


def test_where_all_of_an_export_was_forgotten_importing_it_is_no_error(run: CommandLine, export: Path) -> None:
    run("import", export)
    run("forget", "--all", "--yes")
    ran = run("import", export)
    assert (ran.code, ran.err) == (0, "")
    assert "left out: 2 conversations that you forgot" in ran.out


def test_one_message_goes_and_its_neighbour_stays(run: CommandLine, export: Path) -> None:
    run("import", export)
    ran = run("forget", "c1-1", "--yes")
    assert ran.out.startswith("Removed 1 message of 1 conversation.")
    shown = run("show", "c1")
    assert "forgotten" in shown.out
    assert "In the attic." in shown.out
    gone = run("show", "c1", "--json").document["messages"][0]
    assert (gone["content"], gone["deleted"], gone["erased"]) == ("", True, True)


def test_times_and_sources_choose(run: CommandLine, export: Path) -> None:
    run("import", export)
    ran = run("forget", "--until", "2024", "--yes", "--json")
    assert ran.document["messages"] == 2
    assert ran.document["titles"] == [f"About the {CANARY}"]
    assert ran.document["removed"] is True
    assert run("stats", "--json").document["messages"] == 2
    assert run("forget", "--source", "OpenAI", "--since", "2025", "--yes").code == 0
    assert run("stats", "--json").document["messages"] == 0


def test_a_name_and_a_time_must_both_hold(run: CommandLine, export: Path) -> None:
    run("import", export)
    assert run("forget", "Bread", "--until", "2024", "--yes").code == 1
    assert run("stats", "--json").document["messages"] == 4


def test_nothing_that_matches_is_said_and_exits_1(own: CommandLine) -> None:
    ran = own("forget", "--until", "1999", "--yes")
    assert (ran.code, ran.out) == (1, "Nothing matches; nothing was forgotten.\n")
    assert own("forget", "--until", "1999", "--yes", "--json").document["messages"] == 0


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_without_a_terminal_it_does_not_remove_unless_told_yes(own: CommandLine, more: tuple[str, ...]) -> None:
    ran = own("forget", "Bassinage for wetter dough", *more, stdin="y\n")
    assert ran.code == 2
    said = ran.document["error"]["message"] if more else ran.err
    assert said.startswith("Nothing was removed. This would remove 1 conversation with 8 messages")
    assert own("stats", "--json").document["messages"] == 984


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--all", "--source", "claude"),
        ("--all", "Bread"),
        ("1",),
        ("",),
        ("--since", "2025", "--until", "2024"),
        ("--since", "someday"),
    ],
)
def test_what_is_not_clear_is_refused(own: CommandLine, arguments: tuple[str, ...]) -> None:
    ran = own("forget", *arguments, "--yes")
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert own("stats", "--json").document["messages"] == 984


def test_one_name_that_is_not_there_keeps_all(own: CommandLine) -> None:
    assert own("forget", "Bassinage for wetter dough", "no such thing", "--yes").code == 1
    assert own("stats", "--json").document["messages"] == 984


def test_a_title_need_not_be_quoted(own: CommandLine) -> None:
    ran = own("forget", "Bassinage", "for", "wetter", "dough", "--dry-run", "--json")
    assert ran.document["titles"] == ["Bassinage for wetter dough"]


def test_the_state_keeps_no_word_of_what_was_forgotten(run: CommandLine, export: Path, home: Path) -> None:
    export.write_text(export.read_text() + f'{{"title": "{CANARY} again", "messages": [{{"role": \n')
    run("import", export)
    run("search", CANARY)
    run("forget", "c1", "--yes")
    kept = [path.read_bytes() for path in (home / "recollect" / "state").iterdir()]
    assert kept
    assert not any(CANARY.encode() in data for data in kept)
    assert run("show", "1").code == 1


@pytest.mark.parametrize(
    ("answer", "code", "left"), [("y\n", 0, 976), ("n\n", 1, 984), ("\n", 1, 984), ("\x04", 1, 984)]
)
def test_a_terminal_is_asked(own: CommandLine, answer: str, code: int, left: int) -> None:
    ended, screen = typed_into(["forget", "Bassinage for wetter dough"], os.environ | {"NO_COLOR": "1"}, answer)
    assert ended == code
    assert "This removes 1 conversation with 8 messages from default:\n  Bassinage for wetter dough\n" in screen
    assert "Remove for good? [y/N] " in screen
    assert ("Nothing was forgotten." in screen) == (code == 1)
    assert own("stats", "--json").document["messages"] == left


def test_what_it_counts_reads_as_a_sentence(run: CommandLine, export: Path) -> None:
    run("import", export)
    ran = run("forget", "c1", "c2-1", "--dry-run")
    assert ran.out.startswith("This removes 3 messages of 2 conversations (1 of them whole) from default:\n")
    ran = run("forget", "c1", "c2-1", "--yes")
    assert ran.out.startswith("Removed 3 messages of 2 conversations (1 of them whole). ")


@pytest.mark.parametrize(
    "command",
    [("show",), ("delete",), ("restore",), ("forget", "--yes"), ("remember", "more", "--in"), ("context", "x", "--in")],
)
def test_what_was_forgotten_is_called_so(run: CommandLine, export: Path, command: tuple[str, ...]) -> None:
    run("import", export)
    message = run("show", "c1-1", "--json").document["messages"][0]["id"]
    conversation = run("show", "c2", "--json").document["conversation"]["id"]
    run("forget", message, "c2", "--yes")
    back = "To bring it back from an export: recollect import --again PATH\n"
    for name in (message, message[-6:], "c1-1"):
        assert (run(*command, name).code, run(*command, name).err) == (1, f"Message {message} was forgotten. {back}")
    ran = run(*command, conversation)
    assert (ran.code, ran.err) == (1, f"Conversation {conversation} was forgotten. {back}")


@needs_root
def test_words_that_a_full_disk_keeps_from_being_overwritten_are_overwritten_by_the_command_that_is_named(
    run: CommandLine,
    export: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "_UPKEEP", timedelta(0))  # as where there is much to do
    with small_disk(tmp_path / "small", 4) as small:
        of = ("--store", small / "memory.db")
        run("import", export, *of)
        with recollect.open(small / "memory.db") as memory:
            memory.store_message("x" * 300_000, kind="tool")
        filler = fill(small, leave=300 << 10)
        assert run("forget", "c1", "--yes", *of).code == 0
        (told,) = [record.message for record in caplog.records if "not overwritten yet" in record.message]
        assert "The disk is full" in told
        assert told.endswith(" could not be written. To overwrite them later: recollect worker --once")
        filler.unlink()
        assert run("worker", "--once", *of).code == 0
        assert not any(CANARY.encode() in file.read_bytes() for file in small.rglob("*") if file.is_file())
        with closing(apsw.Connection(str(small / "memory.db"))) as connection:
            assert connection.execute("SELECT scrub FROM about").get == 0


MEANWHILE = "Never seen by who was asked."


@pytest.mark.parametrize(
    ("asked", "added", "left", "said"),
    [
        (("c1",), ("--in", "c1"), 3, True),
        (("c1", "c2"), ("--in", "c1"), 1, True),
        (("--source", "OpenAI"), ("--in", "c1"), 1, True),
        (("--until", "2024"), ("--in", "c1"), 3, True),
        (("c1-1",), ("--in", "c1"), 4, False),
        (("--all",), ("--title", "New"), 1, False),
    ],
)
def test_what_comes_in_while_it_asks_is_not_forgotten_unseen(
    run: CommandLine,
    export: Path,
    monkeypatch: pytest.MonkeyPatch,
    asked: tuple[str, ...],
    added: tuple[str, ...],
    left: int,
    said: bool,
) -> None:
    run("import", export)

    def confirms(out: Output, question: str) -> bool:
        return main(["remember", MEANWHILE, *added]) == 0

    monkeypatch.setattr(Output, "can_ask", True)
    monkeypatch.setattr(Output, "confirms", confirms)
    ran = run("forget", *asked)
    assert (ran.code, ran.err) == (0, "")
    assert ("What was added meanwhile is still there." in ran.out) == said
    assert run("stats", "--json").document["messages"] == left
    assert run("search", f'"{MEANWHILE}"').code == 0
    assert run("search", '"attic"').code == (0 if asked == ("c1-1",) else 1)
    assert run("check").code == 0


def test_what_others_forget_while_it_asks_is_gone_all_the_same(
    run: CommandLine, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("import", export)
    monkeypatch.setattr(Output, "can_ask", True)
    monkeypatch.setattr(Output, "confirms", lambda out, question: main(["forget", "c1", "--yes"]) == 0)
    ran = run("forget", "c1", "c2")
    assert (ran.code, ran.err) == (0, "")
    assert "meanwhile" not in ran.out
    assert run("stats", "--json").document["messages"] == 0


def test_where_others_forget_all_of_it_first_json_is_still_json(
    run: CommandLine, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("import", export)

    def others_first(*given: object) -> AbstractContextManager[None]:
        with recollect.open(background=False) as memory:
            memory.forget(memory.resolve("c1")[0].conversation.id)
        return nullcontext()

    monkeypatch.setattr("recollect.faces.cli.commands.removing.progress", others_first)
    ran = run("forget", "c1", "--yes", "--json")
    assert (ran.code, ran.err) == (1, "")
    assert (ran.document["removed"], ran.document["messages"]) == (False, 0)


# --- delete and restore ----------------------------------------------------------------------------------------------
def test_what_is_deleted_is_hidden_and_restored_by_the_command_that_is_printed(own: CommandLine) -> None:
    ran = own("delete", "Bassinage for wetter dough")
    assert ran.code == 0
    told = 'Deleted 8 messages of "Bassinage for wetter dough". To undo: recollect restore '
    assert ran.out.startswith(told)
    assert own("search", '"bassinage"').code == 1
    assert "Bassinage" not in own("list", "--limit", "500").out
    back = own("restore", *ran.out.removeprefix(told).split())
    assert back.out == "Restored 8 messages.\n"
    assert own("search", '"bassinage"').code == 0
    assert own("check").code == 0


def test_a_deleted_message_is_shown_as_deleted_and_not_its_words(run: CommandLine, export: Path) -> None:
    run("import", export)
    assert run("delete", "c1-1", "--json").document == {"deleted": 1}
    shown = run("show", "c1")
    assert "1 message - 1 deleted" in shown.out
    assert "Where is" not in shown.out
    restore = next(line for line in shown.out.splitlines() if line.startswith("  deleted")).split("recollect ")[1]
    gone = run("show", "c1", "--json").document["messages"][0]
    assert (gone["content"], gone["deleted"], gone["erased"]) == ("", True, False)
    assert run(*restore.split(), "--json").document == {"restored": 1}
    assert "Where is" in run("show", "c1").out


def test_deleting_twice_and_restoring_what_is_there_does_nothing_and_says_so(run: CommandLine, export: Path) -> None:
    run("import", export)
    again = run("restore", "c1-1")
    assert (again.code, again.out.split(":")[0]) == (1, "Nothing was restored")
    assert run("delete", "c1-1").code == 0
    again = run("delete", "c1-1")
    assert (again.code, again.out.split(":")[0]) == (1, "Nothing was deleted")
    assert run("restore", "c1-1").out == "Restored 1 message.\n"
    again = run("restore", "c1-1", "--json")
    assert (again.code, again.document) == (1, {"restored": 0})


def test_what_was_forgotten_cannot_be_restored(run: CommandLine, export: Path) -> None:
    run("import", export)
    run("forget", "c1-1", "--yes")
    assert run("restore", "c1-1").code == 1
    assert "Where is" not in run("show", "c1").out + run("export", "-").out


@pytest.mark.parametrize("command", ["delete", "restore"])
@pytest.mark.parametrize("name", ["1", "", "no such thing"])
def test_names_that_mean_nothing_are_told(own: CommandLine, command: str, name: str) -> None:
    ran = own(command, name)
    assert ran.code in (1, 2)
    assert len(ran.err.splitlines()) == 1


def test_a_part_of_a_title_changes_nothing_that_was_not_agreed_to(run: CommandLine, tmp_path: Path) -> None:
    """I1: forgotten by a part of a title, the next one of that name went as well."""
    for number in ("1", "12"):
        run("remember", f"Invoice number {number}.", "--title", f"Invoice {number}")
    assert run("forget", "Invoice 1", "--yes").code == 0
    for guess in (
        ("forget", "Invoice 1", "--yes"),
        ("delete", "Invoice 1"),
        ("restore", "Invoice 1"),
        ("delete", "nvoice"),
    ):
        ran = run(*guess)
        assert ran.code != 0
        assert "Invoice 12" in ran.err
    assert run("stats", "--json").document["messages"] == 1
    assert run("delete", "invoice 12").code == 0


def test_a_namespace_is_dropped_with_its_name(run: CommandLine) -> None:
    run("remember", "A tenant's word.", "--namespace", "acme")
    assert run("drop", "acme").code == 2  # there is nobody to ask
    assert run("drop", "acme", "--yes", "--json").document == {"dropped": True, "namespace": "acme"}
    assert run("drop", "acme", "--yes").code == 1


@pytest.fixture
def talk(own: CommandLine, derived_store: Path) -> None:
    """Somebody says something, and you speak of her."""
    shutil.copyfile(derived_store, os.environ["RECOLLECT_STORE"])
    with recollect.open(os.environ["RECOLLECT_STORE"], background=False) as memory:
        memory.store_message("I moved to Uxbridgeville.", speaker="Zsofka", conversation_id="g", title="Flats")
        memory.store_message("I like Zsofka's flat.", conversation_id="own", title="Mine")
        memory.upkeep.consolidate()


@pytest.mark.usefixtures("talk")
def test_a_person_is_shown_in_three_groups_and_what_others_say_is_asked_for_by_itself(
    own: CommandLine,
) -> None:
    shown = own("forget", "--person", "zsofka", "--dry-run")
    assert shown.code == 0
    assert "What they said: 1 message\n" in shown.out
    assert "Zsofka: I moved to Uxbridgeville." in shown.out
    assert "What others say of them: 1 message\n" in shown.out
    assert "user: I like Zsofka's flat." in shown.out
    assert "What was derived: " in shown.out
    assert "dry run" in shown.out
    ended, screen = typed_into(["forget", "--person", "Zsofka"], os.environ | {"NO_COLOR": "1"}, "y\nn\n")
    assert ended == 0
    assert "Remove 1 message as well?" in screen
    assert "Uxbridgeville" not in own("search", "Uxbridgeville").out
    assert "I like Zsofka's" in own("search", "flat", "-n", "50").out


@pytest.mark.usefixtures("talk")
def test_without_a_terminal_a_person_is_forgotten_with_yes_alone(own: CommandLine) -> None:
    assert own("forget", "--person", "Zsofka").code == 2
    assert own("forget", "--person", "Zsofka", "--source", "chatgpt").code == 2
    assert own("forget", "--mentions").code == 2
    done = own("forget", "--person", "Zsofka", "--yes", "--mentions", "--json").document
    assert (done["removed"], len(done["said"]), len(done["mentions"])) == (True, 1, 1)
    assert own("forget", "--person", "Zsofka", "--yes").code != 0


def test_what_is_older_than_months_goes_by_source_and_to_the_day(own: CommandLine) -> None:
    day = utc_now() - timedelta(days=1)
    with recollect.open(os.environ["RECOLLECT_STORE"], background=False) as memory:
        for age in range(1, 60):
            memory.store_message(f"Day {age}.", conversation_id="days", id=f"day{age}", timestamp=day - timedelta(age))
    assert own("forget", "--source", "recollect", "--before", "4 weeks ago", "--yes").code == 0
    with recollect.open(os.environ["RECOLLECT_STORE"], background=False) as memory:
        left = [m for m in memory.conversation("days").messages if m.content]
        assert len(left) == 27
        assert memory.upkeep.stats().by_source["chatgpt"] > 0
