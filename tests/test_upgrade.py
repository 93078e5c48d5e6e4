"""A memory of 0.2.0 opens, and nothing that a hand did is lost. What moves is moved however often that is killed."""

from __future__ import annotations

import asyncio
import gzip
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import httpx2
import pytest

import recollect
from recollect.engines.neo4j.engine import Neo4jSpace
from recollect.engines.plans import renamed
from recollect.engines.sqlite.engine import SQLiteSpace
from recollect.errors import NotFound
from recollect.frameworks import mem0
from recollect.frameworks.openai_agents import RecollectSession
from recollect.memory import Memory
from recollect.record import Namespace, namespace_part
from tests.faces.proxy.conftest import serving
from tests.fixtures.make_memory_0_2_0 import FOLDER, HOMES, PROJECT, USERS, shown, talk_of
from tests.gateway.upstream import upstream
from tests.models.language.wire_server import Says
from tests.paths import ROOT

FIXTURES = ROOT / "tests" / "fixtures"
DUMPS = zipfile.ZipFile(FIXTURES / "memory-0.2.0.dumps.zip")
TOLD: dict[str, Any] = json.loads(DUMPS.read("told.json"))


class Killed(BaseException):
    """The process is gone."""


def unpacked(folder: Path) -> Path:
    """A store that 0.2.0 wrote."""
    folder.mkdir(exist_ok=True)
    path = folder / "memory.db"
    path.write_bytes(gzip.decompress((FIXTURES / "memory-0.2.0.db.gz").read_bytes()))
    return path


@pytest.fixture(params=["sqlite", "neo4j"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    """A memory of 0.2.0: its file, or a server that its exports were imported to."""
    if request.param == "sqlite":
        with recollect.open(unpacked(tmp_path), durable=False) as memory:
            yield memory
        return
    with recollect.open(request.getfixturevalue("neo4j_place")) as memory:
        for name in TOLD["after"]:
            dump = tmp_path / "dump.jsonl"
            dump.write_bytes(DUMPS.read(f"{name.replace('/', '+')}.jsonl"))
            memory.beside(name).import_file(dump)
            memory.beside(name).upkeep.consolidate()
        yield memory


def _of_hands(told: dict[str, Any]) -> dict[str, Any]:
    """Without what 0.2.0 took for a name by itself, and is none."""
    return told | {"entities": [one for one in told["entities"] if one[0] != "Mondays"]}


def test_nothing_that_a_hand_did_is_lost(old: Memory) -> None:
    assert {str(name) for name in old.upkeep.namespaces()} == set(TOLD["after"])
    for name, before in TOLD["after"].items():
        memory, wanted = old.beside(name), _of_hands(before)
        assert _of_hands(json.loads(json.dumps(shown(memory)))) == wanted, name
        memory.upkeep.consolidate(again=True)
        assert _of_hands(json.loads(json.dumps(shown(memory)))) == wanted, name
        assert memory.upkeep.check() == [], name
    told = TOLD["hands"]
    facts = {fact.content: fact for fact in old.facts()}
    assert facts[told["pinned"]].pinned
    assert facts[told["edited"]].by_hand
    assert old.knowledge.entity("Carin Holm").name == told["merged"]
    for gone in ("theremin", "zeppelin", "marimba"):
        assert not old.search(gone).hits
    with pytest.raises(NotFound, match="forgotten"):
        old.forget("note-3")


@pytest.mark.slow
def test_a_half_finished_talk_through_the_proxy_goes_on(tmp_path: Path, home: Path) -> None:
    unpacked(tmp_path)
    with upstream() as provider, serving(tmp_path, provider) as proxy, httpx2.Client() as client:
        for name in ("team/red", "team/blue", "user/ida"):
            talk = [*TOLD["proxied"][f"talk of {name}"], {"role": "user", "content": "Good. And who brings it?"}]
            headers = {"X-Recollect-Namespace": name, "X-Recollect-Conversation": "kitchen"}
            own = {"headers": headers} if name != "user/ida" else {}
            provider.script.append(Says(f"The ferry brings it, {name}."))
            body = {"model": "m", "messages": talk} | ({"user": "ida"} if name == "user/ida" else {})
            answer = client.post(f"{proxy.address}/v1/chat/completions", json=body, **own)
            assert answer.headers["X-Recollect-Conversation"] == TOLD["proxied"][name]
            messages = proxy.memory(name).conversation(TOLD["proxied"][name]).messages
            assert [m.content for m in messages] == [
                *(one["content"] for one in talk),
                f"The ferry brings it, {name}.",
            ]
            assert all(m.active for m in messages)


# --- users of the gateway -------------------------------------------------------------------------------------------

#: What 0.2.0 called the namespace of the user whose id is "Anna Smith".
OF_ANNA = Namespace(USERS["Anna Smith"])


def of_users(folder: Path) -> Path:
    """A store of 0.2.0 with talks of users."""
    path = folder / "memory.db"
    path.write_bytes(gzip.decompress((FIXTURES / "memory-0.2.0.users.db.gz").read_bytes()))
    return path


@pytest.mark.slow
def test_a_user_finds_what_was_said_and_whose_id_is_the_old_name_does_not(tmp_path: Path, home: Path) -> None:
    of_users(tmp_path)
    whose = [("Anna-Smith-h1g7e6", ""), ("Anna/Smith", ""), *((one, one) for one in USERS), (FOLDER, FOLDER)]
    with upstream() as provider, serving(tmp_path, provider) as proxy, httpx2.Client(timeout=60) as client:
        for user, found in whose:
            own = {} if user == FOLDER else {"user": user}
            before = talk_of(found or "Anna Smith")
            system = before[: len(before) % 2]
            alone = {"model": "m", "messages": [*system, {"role": "user", "content": "What is my boat called?"}], **own}
            told = client.post(f"{proxy.address}/v1/chat/completions", json=alone, headers={"X-Recollect-Store": "no"})
            assert (told.headers["X-Recollect-Context"] != "0") == bool(found), user
            talk = [*before, {"role": "user", "content": "And who brings her there?"}]
            provider.script.append(Says("The ferry."))
            body = {"model": "m", "messages": talk, **own}
            answer = client.post(f"{proxy.address}/v1/chat/completions", json=body)
            memory = proxy.memory(answer.headers["X-Recollect-Namespace"])
            said = [one["content"] for one in talk[len(system) :]]
            kept = memory.conversation(answer.headers["X-Recollect-Conversation"]).messages
            assert [one.content for one in kept] == [*said, "The ferry."]
            assert memory.upkeep.stats().conversations == 1
        assert OF_ANNA in proxy.memory("default").upkeep.namespaces()  # of the first who asked, and of nobody else
        assert proxy.memory(PROJECT).upkeep.stats().messages == 6


def test_a_user_whose_id_looks_like_an_old_name_keeps_the_memory(tmp_path: Path) -> None:
    for number, user in enumerate(("anna-104233", "big-customer-104233", "a-b-c-d-e-104233")):
        (tmp_path / str(number)).mkdir()
        path = of_users(tmp_path / str(number))
        with closing(apsw.Connection(str(path))) as connection:
            connection.execute("UPDATE namespace SET name = ? WHERE name = ?", (f"user/{user}", OF_ANNA))
        with recollect.open(path, namespace=f"user/{user}") as memory:
            assert memory.upkeep.stats().messages == 4


def test_renaming_users_may_be_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = of_users(tmp_path)

    def killed(names: Iterable[Namespace]) -> Iterator[tuple[Namespace, Namespace]]:
        yield from renamed(names)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("recollect.engines.plans.renamed", killed)
        with pytest.raises(Killed):
            recollect.open(path)
    with closing(apsw.Connection(str(path))) as connection:
        assert (OF_ANNA,) in list(connection.execute("SELECT name FROM namespace"))
    with recollect.open(path, namespace=f"user/{namespace_part('Anna Smith')}") as memory:
        assert memory.upkeep.stats().messages == 4
        assert memory.upkeep.check() == []
        assert OF_ANNA not in memory.upkeep.namespaces()


# --- users of adapters ----------------------------------------------------------------------------------------------


def open_mem0(old: Memory) -> None:
    mem0.Memory(old.beside("mem0"))


def see_mem0(old: Memory) -> None:
    base, told = old.beside("mem0"), TOLD["mem0"]
    adapter = mem0.Memory(base)
    for user, home in HOMES.items():
        assert adapter.get_all(filters={"user_id": user}, top_k=100)["results"] == told[f"all of {user}"]
        own = adapter.of(user_id=user)
        own.upkeep.consolidate()
        assert [fact.value for fact in own.facts() if "live" in fact.content] == [home]
        assert [fact.pinned for fact in own.facts() if "nuts" in fact.content] == ([True] if user == "alice" else [])
        assert own.upkeep.check() == []
    assert [one["memory"] for one in adapter.get_all(filters={"agent_id": "guide"})["results"]] == [
        "The agent speaks Danish."
    ]
    assert [one["event"] for one in adapter.history(told["gone"])] == ["ADD", "DELETE"]
    assert [one["new_memory"] for one in adapter.history(told["changed"])] == ["I like tea.", "I like coffee."]
    assert [m.content for m in base.conversation(told["own"]).messages] == [
        "A message of nobody's, beside the adapter."
    ]
    base.upkeep.consolidate()
    assert base.facts(include_past=True) == []
    assert base.upkeep.stats().messages == 1
    assert base.upkeep.check() == []


def open_agents(old: Memory) -> None:
    for user in HOMES:
        asyncio.run(RecollectSession(f"{user}-1", old.beside("agents"), user=user).get_items())


def see_agents(old: Memory) -> None:
    for user, home in HOMES.items():
        session = RecollectSession(f"{user}-1", old.beside("agents"), user=user)
        assert asyncio.run(session.get_items()) == TOLD["agents"][f"{user}-1"]["items"]
        session.memory.upkeep.consolidate()
        assert [fact.value for fact in session.memory.facts()] == [home]
        assert [m.content for row in session.memory.upkeep.deleted() for m in row.messages] == ["Never mind."]
        assert session.memory.upkeep.check() == []
    old.beside("agents").upkeep.consolidate()
    assert old.beside("agents").upkeep.stats().messages == 0
    assert old.beside("agents").facts(include_past=True) == []


def open_langgraph(old: Memory) -> None:
    pytest.importorskip("langgraph.store.base", reason="langgraph-checkpoint is not installed")
    from recollect.frameworks.langgraph import RecollectStore

    RecollectStore(old.beside("langgraph"))


def see_langgraph(old: Memory) -> None:
    from recollect.frameworks.langgraph import RecollectStore

    store = RecollectStore(old.beside("langgraph"))
    found = [one for prefix in (("users",), ("shared",)) for one in store.search(prefix, limit=50)]
    assert sorted([list(one.namespace), one.key, one.value] for one in found) == sorted(TOLD["langgraph"]["items"])
    assert [one.key for one in store.search(("users", "8"), query="Where does Bob live?", limit=1)] == ["home"]
    assert store.get(("users", "7"), "gone") is None
    assert list(old.beside("langgraph").documents()) == []
    assert old.beside("langgraph").search("Leeds").documents == ()


ADAPTERS = [(open_mem0, see_mem0), (open_agents, see_agents), (open_langgraph, see_langgraph)]


@pytest.mark.parametrize(("opens", "sees"), ADAPTERS)
def test_users_of_an_adapter_move_into_their_namespaces(
    old: Memory, opens: Callable[[Memory], None], sees: Callable[[Memory], None]
) -> None:
    opens(old)
    sees(old)
    sees(old)  # again: nothing more is moved


@pytest.mark.slow
@pytest.mark.parametrize(("opens", "sees"), ADAPTERS)
def test_the_move_may_be_killed_at_any_moment(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    opens: Callable[[Memory], None],
    sees: Callable[[Memory], None],
) -> None:
    killings(monkeypatch, SQLiteSpace, lambda n: recollect.open(unpacked(tmp_path / str(n))), opens, sees)


def killings(
    monkeypatch: pytest.MonkeyPatch,
    space: type,
    again: Callable[[int], Memory],
    opens: Callable[[Memory], None],
    sees: Callable[[Memory], None],
) -> None:
    """Kills before each write in turn, until there is none left to be killed at."""
    for last in count(1):
        with again(last) as memory, monkeypatch.context() as patch:
            died = kill_at(patch, space, last)
            with suppress(Killed):
                opens(memory)
            patch.undo()
            if not died():
                break
            sees(memory)
    assert last > 2


def kill_at(patch: pytest.MonkeyPatch, space: type, last: int) -> Callable[[], bool]:
    """Has the process die before the write of this number, counted from 1. Says afterwards whether it did."""
    writes = count(1)
    died: list[bool] = []

    def before(name: str) -> None:
        inner = getattr(space, name)

        def write(self: Any, *arguments: Any, **named: Any) -> Any:
            if next(writes) >= last:
                died.append(True)
                raise Killed
            return inner(self, *arguments, **named)

        patch.setattr(space, name, write)

    before("write")
    before("erase")
    return lambda: bool(died)


def test_the_move_may_be_killed_on_a_server(neo4j_place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.store import neo4j_server

    def again(number: int) -> Memory:
        neo4j_server.empty(neo4j_place)
        memory = recollect.open(neo4j_place)
        dump = tmp_path / "dump.jsonl"
        dump.write_bytes(DUMPS.read("agents.jsonl"))
        memory.beside("agents").import_file(dump)
        return memory

    killings(monkeypatch, Neo4jSpace, again, open_agents, see_agents)
