"""A namespace that is dropped is gone with its name, on both engines, at whatever moment that is killed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.errors import RecollectError
from recollect.ingest import Ingest
from recollect.ingest.live import Exchange
from recollect.memory import Memory
from recollect.models.language.base import Usage
from recollect.models.language.budget import FILE, SpendingLog
from tests.exports import chat, export


class Killed(BaseException):
    """The process is gone."""


@pytest.fixture(params=["sqlite", "neo4j"])
def place(request: pytest.FixtureRequest, tmp_path: Path, home: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "memory.db")
    return str(request.getfixturevalue("neo4j_place"))


@pytest.fixture
def memory(place: str) -> Iterator[Memory]:
    with recollect.open(place, durable=False, background=False) as memory:
        yield memory


def fill(memory: Memory, folder: Path) -> None:
    """All kinds of records, derived ones, corrections, tombstones, tasks that wait."""
    for text in ("I live in Leeds.", "I am allergic to zirconium.", "My dog is called Zelda.", "Forget: zither."):
        said = memory.store_message(text, conversation_id="c", title="Zanzibar", speaker="Zoe")
    memory.forget(said.id)
    memory.store_tool_call("zoom", "{}", "zebra", memory.conversation("c").messages[0].id)
    memory.import_file(export(folder / "a", [chat("zucchini one", "zeppelin", title="Zoo")]))
    (folder / "zinc.md").write_text("# Zinc\n\nThe zinc is in the zenana.\n", encoding="utf-8")
    memory.import_documents(folder / "zinc.md")
    memory.upkeep.consolidate()
    memory.knowledge.pin_fact(memory.facts()[0].id)
    memory.knowledge.pin_entity("Leeds")
    memory.store_message("This waits for the worker: zodiac.")


def left(memory: Memory) -> list[Any]:
    """Whatever is in the store."""
    store: Any = memory.handle.store
    if (database := getattr(store, "database", None)) is not None:
        with database.reading() as connection:
            tables = ["task", "tool_call", "turn", "chunk", "message", "conversation", "document", "node", "speaker",
                      "edge", "generation", "namespace", "passage", "tail", "segment", "segment_data", "death",
                      "run_vector", "quality_vector", "todo", "index_state", "words"]  # fmt: skip
            return [(t, n) for t in tables if (n := connection.execute(f"SELECT count(*) FROM {t}").get)]
    rows = "MATCH (n) WHERE NOT n:Schema AND NOT n:Counter RETURN labels(n) AS labels, properties(n) AS told"
    return [*store.server.read(lambda tx: [(row["labels"], row["told"]) for row in tx.run(rows)])]


def test_nothing_of_a_namespace_stays(memory: Memory, tmp_path: Path) -> None:
    tenant = memory.beside("acme/zorro")
    fill(tenant, tmp_path)
    assert memory.upkeep.namespaces() == ["acme/zorro"]
    assert memory.upkeep.drop_namespace("acme/zorro")
    assert memory.upkeep.namespaces() == []
    assert left(memory) == []
    assert not memory.upkeep.drop_namespace("acme/zorro")
    assert tenant.upkeep.stats().messages == 0
    assert not tenant.search("zucchini").hits
    assert [*tenant.facts(), *tenant.entities(), *tenant.upkeep.tasks()] == []
    for path in tmp_path.rglob("memory.db*"):
        for word in (b"zorro", b"zirconium", b"zither", b"Zanzibar", b"zenana"):
            assert not path.is_file() or word not in path.read_bytes(), (path, word)


def test_others_stay_and_the_name_can_be_used_again(memory: Memory, tmp_path: Path) -> None:
    other, tenant = memory.beside("acme/rex"), memory.beside("acme")
    for one in (other, tenant):
        fill(one, tmp_path)
    facts = [fact.content for fact in other.facts()]
    assert memory.upkeep.drop_namespace("acme")
    assert memory.upkeep.namespaces() == ["acme/rex"]
    assert other.upkeep.check() == []
    assert [fact.content for fact in other.facts()] == facts
    assert other.search("zucchini").hits
    said = tenant.store_message("A new beginning.")
    tenant.import_file(tmp_path / "a")
    assert tenant.search("zucchini").hits  # no tombstone keeps it away
    assert tenant.messages([said.id])
    assert tenant.upkeep.check() == []


def test_what_a_tenant_cost_is_counted_under_no_name(memory: Memory, home: Path) -> None:
    ledger = SpendingLog(home / "recollect" / FILE)
    for name in ("acme", "other", "acme"):
        ledger.enter(None, memory.location, name, "facts", "m", Usage(1, 10, 10), 0.5)
    memory.upkeep.drop_namespace("acme")
    assert ledger.spent(memory.location, "acme") == []
    assert [one.calls for one in ledger.spent(memory.location, "")] == [2]
    assert [one.calls for one in ledger.spent(memory.location, "other")] == [1]


@pytest.mark.slow
def test_dropping_may_be_killed_at_any_moment(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = memory.beside("acme")
    store: Any = memory.handle.store
    target, name = (store.database, "writing") if hasattr(store, "database") else (store.server, "write")
    inner = getattr(target, name)
    for last in count(1):
        tenant.store_message("I live in Leeds.", speaker="Zoe", title="Zanzibar")
        tenant.upkeep.consolidate()
        left_to_live = iter(range(last - 1))
        died: list[bool] = []

        def write(*given: Any, left_to_live: Iterator[int] = left_to_live, died: list[bool] = died) -> Any:
            if next(left_to_live, None) is None:
                died.append(True)
                raise Killed
            return inner(*given)

        with monkeypatch.context() as patch, suppress(Killed):
            patch.setattr(target, name, write)
            memory.upkeep.drop_namespace("acme")
        if not died:
            break
        memory.upkeep.drop_namespace("acme")
        assert memory.upkeep.namespaces() == []
        assert left(memory) == []
    assert last > 5


def test_deriving_begins_no_namespace(memory: Memory) -> None:
    tenant = memory.beside("acme")
    tenant.upkeep.consolidate()
    tenant.upkeep.consolidate(again=True)
    tenant.upkeep.work(once=True)
    tenant.upkeep.embed()
    tenant.upkeep.reindex()
    assert memory.upkeep.namespaces() == []
    assert left(memory) == []


def test_what_is_being_derived_while_its_namespace_is_dropped_does_not_bring_it_back(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every write of a consolidation the namespace is gone, and in use again under the same name."""
    space: Any = type(memory.handle.space)
    tenant = memory.beside("acme")
    for again, last in ((again, last) for last in range(1, 40) for again in (False, True)):
        tenant.store_message("I live in Leeds.", speaker="Zoe", title="Zanzibar", conversation_id="c")
        calls = iter(range(last - 1))
        dropped: list[bool] = []

        def dropping(name: str, calls: Iterator[int] = calls, dropped: list[bool] = dropped, anew: bool = again) -> Any:
            inner = getattr(space, name)

            def call(self: Any, *given: Any) -> Any:
                if self.namespace == "acme" and not dropped and next(calls, None) is None:
                    dropped.append(memory.upkeep.drop_namespace("acme"))
                    if anew:
                        memory.beside("acme").store_message("A new beginning.", conversation_id="new")
                return inner(self, *given)

            return call

        with monkeypatch.context() as patch:
            for name in ("write", "claim", "keep", "renew", "release"):
                patch.setattr(space, name, dropping(name))
            with suppress(RecollectError):
                tenant.upkeep.consolidate()
        if not dropped:
            break
        if again:
            assert memory.upkeep.namespaces() == ["acme"]
            assert tenant.upkeep.stats().messages == 1
            assert tenant.upkeep.check() == []
            memory.upkeep.drop_namespace("acme")
        assert memory.upkeep.namespaces() == []
        assert left(memory) == []
    assert last > 3


def test_a_turn_that_is_written_behind_its_answer_beside_a_drop_goes_with_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever handle was asked: the turns of all of them are written before, and dropped with the rest."""
    asked = memory.beside("acme")
    asked.store_message("Luna weighs 12 kg.")
    written, may_write = Ingest.exchange, threading.Event()

    def late(self: Ingest, turn: Exchange) -> Any:
        assert may_write.wait(20)
        return written(self, turn)

    monkeypatch.setattr(Ingest, "exchange", late)
    asked.chat("c", "How heavy is Luna?", save="behind")
    with ThreadPoolExecutor(1) as pool:
        dropping = pool.submit(memory.upkeep.drop_namespace, "acme")
        may_write.set()
        assert dropping.result(60)
    asked.close()
    assert memory.upkeep.namespaces() == []
    assert left(memory) == []
