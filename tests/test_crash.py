"""Killed at any moment: what was acknowledged is there, what was forgotten is not, and what is run again goes on."""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import recollect
from recollect.memory import Memory
from tests.coherent import assert_tree, found, passages_that_belong, threads_of
from tests.exports import archive, chat, dump_of, export, messages_of, node, opened, tree
from tests.interrupting import opened as without_model
from tests.processes import finished, started
from tests.working import KINDS

pytestmark = pytest.mark.slow

SUBJECTS = ("tide", "weir", "belfry", "heron", "otter", "lease", "bread", "kiln")


def export_of(path: Path, conversations: int) -> Path:
    """A folder with an export of ChatGPT, with branches and tool calls, and one of Claude, with a project."""
    chats = [
        chat(
            *(f"{SUBJECTS[(n + i) % 8]} number {i} of {n}, as ever" for i in range(24)), name=f"c{n}", title=f"Talk {n}"
        )
        for n in range(conversations)
    ]
    branched = [
        tree(
            node("q", None, f"Which {subject}?"),
            node("t", "q", f"look_up({subject!r})", "assistant", minute=1, recipient="python"),
            node("r", "t", f"{subject} found", "tool", minute=2),
            node("a", "r", f"The second {subject}.", "assistant", minute=3),
            node("b", "q", f"The first {subject}.", "assistant", minute=4),
            name=f"b-{subject}",
        )
        for subject in SUBJECTS
    ]
    archive(
        path / "chatgpt.zip", {"conversations-000.json": chats[::2], "conversations-001.json": chats[1::2] + branched}
    )
    times = {"created_at": "2025-03-01T09:00:00Z", "updated_at": "2025-03-01T09:00:00Z"}
    docs = [
        {"uuid": f"d{i}", "filename": f"{i}.md", "content": f"{SUBJECTS[i % 8]} rules. " * 500, **times}
        for i in range(12)
    ]
    project = {"uuid": "p", "name": "Harbour", "prompt_template": "Be brief.", "docs": docs, **times}
    archive(path / "claude.zip", {"projects.json": [project]})
    return path


def seconds_of(process: subprocess.Popen[str]) -> float:
    return float(json.loads(finished(process)[-1])["seconds"])


def killed_and_resumed(tmp_path: Path, export: Path, kills: int, *, check_each: bool) -> None:
    """Kills an import again and again, lets it end at last, and compares with one that was left in peace."""
    length = seconds_of(started("import", tmp_path / "calm.db", export))
    chance = random.Random(20250301)
    store = tmp_path / "killed.db"
    cut_short = 0
    for kill in range(kills):
        # Later kills let more pass, or the first of them would see the only unfinished imports.
        with started("import", store, export) as process:
            try:
                process.wait(chance.uniform(min(0.05, length / 2), length * (0.3 + 0.7 * (kill + 1) / kills)))
            except subprocess.TimeoutExpired:
                cut_short += 1
            process.kill()
        if check_each:
            with opened(store) as memory:
                assert memory.upkeep.check() == []
    assert cut_short > kills / 3
    finished(started("import", store, export))
    with opened(store) as killed, opened(tmp_path / "calm.db") as calm:
        assert killed.upkeep.check() == []
        assert dump_of(killed) == dump_of(calm)
        assert killed.upkeep.stats() == calm.upkeep.stats()


def test_an_import_killed_three_times_ends_like_one_that_never_was(tmp_path: Path) -> None:
    killed_and_resumed(tmp_path, export_of(tmp_path / "export", 60), 3, check_each=True)


@pytest.mark.long
def test_an_import_killed_fifty_times_ends_like_one_that_never_was(tmp_path: Path) -> None:
    killed_and_resumed(tmp_path, export_of(tmp_path / "export", 300), 50, check_each=False)


def acknowledged_until_killed(store: Path, conversation: str, after: int) -> list[str]:
    """The messages that a process said it had stored before it was killed."""
    with started("append", store, conversation) as process:
        assert process.stdout is not None
        told = [process.stdout.readline().strip() for _ in range(after)]
        process.kill()
        return [*told, *(line.strip() for line in process.stdout if line.endswith("\n"))]


@pytest.mark.parametrize("kills", [2, pytest.param(25, marks=pytest.mark.long)])
def test_every_message_that_was_acknowledged_is_there(tmp_path: Path, kills: int) -> None:
    store, chance = tmp_path / "memory.db", random.Random(7)
    told = [
        message
        for kill in range(kills)
        for message in acknowledged_until_killed(store, f"C{kill % 2}", chance.randrange(1, 60))
    ]
    with opened(store) as memory:
        assert memory.upkeep.check() == []
        there = {message.id: message for message in memory.messages(told)}
        assert set(there) == set(told)
        assert all(message.content.endswith("of the tide") for message in there.values())
        assert memory.upkeep.stats().messages - len(told) <= kills  # at most the one that was under way each time
        assert len(memory.search("tide", group_by="message", limit=1000)) > 0


# --- writers of every kind -----------------------------------------------------------------------------------------

ABSENT = ("absent", "")


@dataclass
class Ledger:
    """What the writers told: for each message the states that it may be in, and what was imported and backed up."""

    states: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    imported: set[Path] = field(default_factory=set)
    backups: set[Path] = field(default_factory=set)
    kills: int = 0

    def read(self, lines: Iterable[str]) -> None:
        """Takes in what one process printed before it was killed. The last line may be cut off."""
        for line in lines:
            if line.endswith("\n"):
                step, own, state = json.loads(line)
                match step, state:
                    case "did", ["imported"]:
                        self.imported.add(Path(own))
                    case "did", ["backed up"]:
                        self.backups.add(Path(own))
                    case "did", [name, words]:
                        self.states[own] = {(name, words)}
                    case "begins", [name, words]:
                        self.states.setdefault(own, {ABSENT}).add((name, words))
        self.kills += 1


def state_of(memory: Memory, ids: Iterable[str]) -> dict[str, tuple[str, str]]:
    there = {m.id: m for m in memory.messages(ids)}
    return {
        own: ("deleted" if there[own].deleted else "living", there[own].content) if own in there else ABSENT
        for own in ids
    }


def kill_writers(ledger: Ledger, store: Path, folder: Path, kinds: Iterable[str], chance: random.Random) -> None:
    """Lets writers work at once for a moment and kills them."""
    processes = [started("work", store, kind, f"r{ledger.kills}w{number}", folder) for number, kind in enumerate(kinds)]
    time.sleep(chance.uniform(0.02, 0.5))
    for process in processes:
        process.kill()
    for process in processes:
        with process:
            assert process.stdout is not None
            ledger.read(process.stdout.readlines())
            errors = process.stderr.read() if process.stderr else ""
            assert "Error" not in errors, errors


def assert_kept(ledger: Ledger, store: Path, folder: Path) -> None:
    """Everything that was acknowledged holds, from the record to the bytes of the files."""
    with without_model(store) as memory:
        assert memory.upkeep.check() == []
        states = state_of(memory, ledger.states)
        for own, allowed in ledger.states.items():
            # What was forgotten is as if it had never been.
            assert states[own] in {ABSENT if state[0] == "forgotten" else state for state in allowed}, own
        for name, words in random.Random(5).sample(list(states.values()), min(300, len(states))):
            if name != "absent":
                assert len(found(memory, words.split()[0])) == (name == "living"), words
        wanted = {text for path in ledger.imported for text in texts_in(path)}
        assert wanted <= {m.content for m in messages_of(memory)}
        threads = threads_of(memory)
        for thread in threads:
            assert_tree(thread)
        assert memory.upkeep.stats().passages == passages_that_belong(memory, threads)
        memory.upkeep.reindex()
        memory.upkeep.embed()
        counts = memory.upkeep.stats()
        assert counts.quality == counts.said_passages
        memory.upkeep.maintain()
        assert memory.upkeep.check() == []
    data = b"".join(path.read_bytes() for path in store.parent.rglob("*") if path.is_file())
    for allowed in ledger.states.values():
        if all(name == "forgotten" for name, _ in allowed):
            ((_, words),) = allowed
            assert words.split()[0].encode() not in data, words
    for path in sorted((folder / "backups").glob("*.db")) if ledger.backups else ():
        place = recollect.restore(path, folder / "restored" / path.name)
        with opened(place) as restored:
            assert restored.upkeep.check() == []
    assert all(path.exists() for path in ledger.backups)


def texts_in(path: Path) -> set[str]:
    conversations = json.loads((path / "conversations.json").read_text())
    return {
        node["message"]["content"]["parts"][0]
        for conversation in conversations
        for node in conversation["mapping"].values()
    }


@pytest.mark.parametrize("kills", [10, pytest.param(200, marks=pytest.mark.long)])
def test_writers_of_every_kind_are_killed_and_what_they_acknowledged_holds(tmp_path: Path, kills: int) -> None:
    store, chance, ledger = tmp_path / "store" / "memory.db", random.Random(kills), Ledger()
    store.parent.mkdir()
    for number in range(4):
        talks = [chat(*(f"import {number} {n} {i}" for i in range(20)), name=f"x{number}c{n}") for n in range(6)]
        export(tmp_path / "exports" / str(number), talks)
    (tmp_path / "restored").mkdir()
    with opened(store) as memory:  # enough for a generation and a backup to take a while
        talks = [chat(*(f"{SUBJECTS[i % 8]} {i} of {n}" for i in range(30)), name=f"c{n}") for n in range(20)]
        memory.import_file(export(tmp_path / "first", talks))
    order = list(KINDS)
    while ledger.kills < kills:
        kinds = [order[ledger.kills % len(order)], *([chance.choice(order)] if kills > 50 else [])]
        kill_writers(ledger, store, tmp_path, kinds, chance)
        if kills > 50 and ledger.kills % 20 < len(kinds):
            with opened(store) as memory:
                assert memory.upkeep.check() == []
    assert ledger.states
    assert_kept(ledger, store, tmp_path)
