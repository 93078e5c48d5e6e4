"""Making anew what search derives: beside what is in use, while all read and write on, in any number of runs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from recollect.engines.sqlite.engine import SQLiteStore
from recollect.errors import StoreError
from recollect.ingest.reindex import reindex
from recollect.memory import Handle, Memory
from recollect.models.embedding import Embedder
from recollect.store import passages
from tests.coherent import assert_coherent, found
from tests.exports import chat, dump_of, export, file
from tests.interrupting import Interrupted, Moment, at_every_moment, opened
from tests.store.builders import embedder

pytestmark = pytest.mark.slow

NOON = datetime(2025, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is interrupted reads on for as long as the other one acts: waiting for that is in vain."""
    monkeypatch.setattr("recollect.engines.sqlite.maintain._READERS", 0.05)


class Renamed:
    """The packaged embedder under another name, as another one of the same size would be."""

    name = "another"

    def __init__(self) -> None:
        self.dimensions = embedder().dimensions

    def embed(self, texts: list[str]) -> np.ndarray:
        return embedder().embed(texts)[:, ::-1].copy()  # and of other opinions


def with_another(path: Path) -> Memory:
    other: Embedder = Renamed()  # type: ignore[assignment]
    return Memory(Handle(SQLiteStore(path, durable=False), other))


def prepare(memory: Memory) -> None:
    """A conversation with a branch, a deleted message and a tool call; and a document."""
    memory.store_message("Where is the heron?", conversation_id="C", id="Q", title="Birds", timestamp=NOON)
    memory.store_message("By the weir.", "assistant", conversation_id="C", id="A", timestamp=NOON)
    memory.store_message("In the reeds.", "assistant", conversation_id="C", id="R", parent_id="Q", timestamp=NOON)
    memory.store_message("Never mind the belfry.", conversation_id="C", id="D", timestamp=NOON)
    memory.delete("D")
    memory.store_tool_call("tides", "Ostend", "high at noon", "R", timestamp=NOON)
    memory.store_message("One otter.", conversation_id="B", id="O", timestamp=NOON)
    times = {"created_at": "2025-03-01T09:00:00Z", "updated_at": "2025-03-01T09:00:00Z"}
    docs = [{"uuid": "d", "filename": "quay.md", "content": "The quay is closed.", **times}]
    folder = Path(memory.location).parent
    project = {"uuid": "p", "name": "Harbour", "prompt_template": "Be brief.", "docs": docs, **times}
    memory.import_file(file(folder / "projects.json", [project]))


INTRUSIONS: dict[str, Callable[[Memory], object]] = {
    "an append": lambda memory: memory.store_message("Thanks a lot.", conversation_id="C", id="T"),
    "a new conversation": lambda memory: memory.store_message("A lone kingfisher.", conversation_id="0", title="New"),
    "an edit": lambda memory: memory.update_message("A", "Under the bridge."),
    "a deletion": lambda memory: memory.delete("A"),
    "a restoring": lambda memory: memory.restore("D"),
    "a forgetting": lambda memory: memory.forget("A"),
    "a forgetting of all of it": lambda memory: memory.forget("C"),
    "the same once more": lambda memory: memory.upkeep.reindex(),
    "upkeep": lambda memory: memory.upkeep.maintain(),
    "a broken off one": lambda memory: broken_off(memory, 3),
    "another one, and one more that is broken off": lambda memory: (memory.upkeep.reindex(), broken_off(memory, 3)),
}
#: Every so many calls something comes between; each kind begins at another one.
STEPS = [5, pytest.param(1, marks=pytest.mark.long)]


def broken_off(memory: Memory, at: int) -> None:
    """Begins to make everything anew, and is stopped before that call."""

    def stop() -> None:
        raise KeyboardInterrupt

    store = Interrupted(memory.handle.store, Moment(at, stop))
    with suppress(KeyboardInterrupt):
        Memory(Handle(store, embedder())).upkeep.reindex()  # type: ignore[arg-type]


def with_vectors(memory: Memory) -> None:
    prepare(memory)
    memory.upkeep.embed(limit=1)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", INTRUSIONS)
def test_whatever_comes_between_everything_is_found_once(tmp_path: Path, name: str, step: int) -> None:
    first = list(INTRUSIONS).index(name) % step
    for memory in at_every_moment(tmp_path, prepare, lambda m: m.upkeep.reindex(), INTRUSIONS[name], first, step):
        assert_coherent(memory)
        if "broken off" not in name:
            assert (memory.upkeep.index().building, memory.upkeep.index().todo) == (None, ())
        if name == "an edit":
            assert found(memory, "under the bridge") == ["A"]
            assert found(memory, "by the weir") == []


def test_it_writes_no_record(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        prepare(memory)
        before = dump_of(memory)
        memory.upkeep.reindex()
        memory.upkeep.reindex()
        assert dump_of(memory) == before
        assert_coherent(memory)


def answers(memory: Memory) -> list[dict[str, float]]:
    queries = ("where is the heron?", "otter", "tides", "closed quay", "belfry")
    return [
        {hit.best.message.content: round(hit.score, 3) for hit in memory.search(query, group_by="message", kind="all")}
        for query in queries
    ]


@pytest.mark.parametrize("step", STEPS)
def test_broken_off_at_any_moment_it_changes_nothing_that_is_seen_and_goes_on_next_time(
    tmp_path: Path, step: int
) -> None:
    (tmp_path / "calm").mkdir()
    with opened(tmp_path / "calm" / "memory.db") as calm:
        prepare(calm)
        wanted = answers(calm)
    ends = 0
    for at in range(0, 10_000, step):
        path = tmp_path / f"{at}" / "memory.db"
        shutil.copytree(tmp_path / "calm", path.parent)
        with opened(path) as memory:
            before = memory.upkeep.index()
            broken_off(memory, at)
            assert answers(memory) == wanted
            after = memory.upkeep.index()
            ends += after.building is None and after.generation != before.generation
            memory.upkeep.reindex()
            assert answers(memory) == wanted
            assert_coherent(memory)
            assert memory.upkeep.index().generation > before.generation
        if ends:
            return


def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    """What was made is not made again: the work of all runs together is that of one, but for a batch."""
    made: list[int] = []
    with opened(tmp_path / "memory.db") as memory:
        memory.import_file(export(tmp_path, [chat("heron", *["weir"] * 399, name=f"c{i}") for i in range(6)]))
        steps: list[int] = []

        def stop(done: int, _: int) -> None:
            steps.append(done)
            if len(steps) == 2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            memory.upkeep.reindex(progress=stop)
        assert memory.upkeep.index().building is not None
        made.append(steps[-1])
        made.append(memory.upkeep.reindex())
        assert memory.upkeep.stats().messages == 2400
        assert made[1] < 2400
        assert sum(made) <= 2400 + 1400  # a batch, and the conversation that it broke off in
        assert memory.upkeep.index().building is None
        assert memory.upkeep.check() == []
        assert memory.upkeep.stats().passages == 2400 + 6


def test_search_answers_meanwhile_with_everything(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory, opened(tmp_path / "memory.db") as reader:
        memory.import_file(export(tmp_path, [chat("heron", *["weir"] * 399, name=f"c{i}") for i in range(6)]))
        seen: list[int] = []
        memory.upkeep.reindex(
            progress=lambda done, total: seen.append(len(reader.search('"heron"', group_by="message", limit=20)))
        )
        assert len(seen) > 2
        assert set(seen) == {6}
        assert len(reader.search('"heron"', group_by="message", limit=20)) == 6


# --- another embedder ----------------------------------------------------------------------------------------------


def test_another_embedder_takes_over_when_all_its_vectors_are_there(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as memory, with_another(path) as another:
        prepare(memory)
        mine = memory.upkeep.stored_embedder()
        assert mine == embedder().name
        with pytest.raises(StoreError) as refused:
            another.store_message("Not like this.", conversation_id="C")
        assert refused.value.code == "wrong_embedder"
        assert "recollect reindex" in refused.value.hint
        another.upkeep.reindex()
        assert another.upkeep.stored_embedder() == "another"
        assert_coherent(another)
        another.store_message("Thanks a lot.", conversation_id="C", id="T")
        assert found(another, "thanks a lot") == ["T"]
        for write in (
            lambda: memory.store_message("Too late.", conversation_id="C"),
            lambda: memory.update_message("A", "Too late."),
            lambda: memory.restore("D"),
        ):
            with pytest.raises(StoreError) as late:
                write()
            assert late.value.code == "wrong_embedder"
        memory.delete("T")  # no vectors are needed for that
        assert found(another, "thanks a lot") == []
        assert another.upkeep.check() == []


def test_passages_of_an_earlier_recipe_are_used_and_a_reindex_is_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier, opened(tmp_path / "memory.db") as memory:
        earlier.setattr(passages, "RECIPE", passages.RECIPE - 1)
        prepare(memory)
    with opened(tmp_path / "memory.db") as memory:
        made = memory.upkeep.index().embedder
        assert made is not None
        assert made.is_outdated
        memory.store_message("Thanks a lot.", conversation_id="C", id="T")  # nothing stops for it
        assert found(memory, "thanks a lot") == ["T"]
        memory.upkeep.reindex()
        made = memory.upkeep.index().embedder
        assert made is not None
        assert (made.name, made.is_outdated) == (embedder().name, False)
        assert_coherent(memory)


def test_a_worker_makes_passages_of_an_earlier_recipe_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as earlier, opened(tmp_path / "memory.db") as memory:
        earlier.setattr(passages, "RECIPE", passages.RECIPE - 1)
        prepare(memory)
    monkeypatch.setattr("recollect.derive.worker._TURN", 0)  # seconds until it looks for other work
    with opened(tmp_path / "memory.db") as memory:
        memory.upkeep.work(once=True)
        made = memory.upkeep.index().embedder
        assert made is not None
        assert not made.is_outdated
        assert found(memory, "where is the heron")
        assert_coherent(memory)


def test_a_reindex_that_is_stopped_again_and_again_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.ingest.reindex._BATCH", 1)
    with monkeypatch.context() as earlier, opened(tmp_path / "memory.db") as memory:
        earlier.setattr(passages, "RECIPE", passages.RECIPE - 1)
        prepare(memory)
    runs = 0
    while True:
        with opened(tmp_path / "memory.db") as memory:
            made = memory.upkeep.index().embedder
            if made is not None and not made.is_outdated:
                break
            assert found(memory, "where is the heron")
            reindex(memory.handle.space, memory.handle.ingest, stop=lambda: True)
            runs += 1
            assert runs < 20
    assert runs > 2


def test_the_name_alone_is_that_of_the_first_recipe() -> None:
    assert passages.EmbedderId.read("folder:/a recipe/b@1", 3) == passages.EmbedderId("folder:/a recipe/b@1", 3)
    assert passages.EmbedderId.read("folder:/a recipe/b@1", 3).recipe == 1
    current = passages.EmbedderId("static@1", 3)
    assert passages.EmbedderId.read(current.stored, 3) == current
    assert not passages.EmbedderId.read(current.stored, 3).is_outdated


def test_an_embedder_of_another_size_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """S1: three numbers where there are many; then every search would end in a trace."""

    class Small(Renamed):
        name = embedder().name

        def __init__(self) -> None:
            self.dimensions = 3

        def embed(self, texts: list[str]) -> np.ndarray:
            return np.tile(np.array([1, 0, 0], np.float32), (len(texts), 1))

    path = tmp_path / "memory.db"
    with opened(path) as memory:
        prepare(memory)
        small = Memory(Handle(SQLiteStore(path, durable=False), Small()))  # type: ignore[arg-type]
        for write in (
            lambda: small.store_message("Small.", conversation_id="C"),
            lambda: small.update_message("A", "Small."),
            lambda: small.restore("D"),
        ):
            with pytest.raises(StoreError):
                write()
        small.close()
        assert_coherent(memory)
        assert memory.search("where is the heron?")


# --- quality vectors -----------------------------------------------------------------------------------------------


def test_quality_vectors_are_taken_over(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        prepare(memory)
        made = memory.upkeep.embed()
        assert made == memory.upkeep.stats().quality > 0
        memory.upkeep.reindex()
        assert memory.upkeep.stats().quality == made
        assert memory.upkeep.embed() == 0
        assert memory.search("heron", mode="quality").mode == "quality"
        assert_coherent(memory)


@pytest.mark.parametrize("step", [2, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["an edit", "a forgetting", "the same once more"])
def test_quality_vectors_never_belong_to_other_words(tmp_path: Path, name: str, step: int) -> None:
    """What is embedded while its message is edited, forgotten or indexed anew belongs to nothing any more."""
    for memory in at_every_moment(tmp_path, with_vectors, lambda m: m.upkeep.embed(), INTRUSIONS[name], 0, step):
        assert_coherent(memory)
        memory.upkeep.embed()
        counts = memory.upkeep.stats()
        assert counts.quality == counts.said_passages
        assert_coherent(memory)
