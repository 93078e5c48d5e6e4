"""What was forgotten stays away under any title, id or format, and nothing else does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import pytest

import recollect
from recollect.importers.records.forgotten import COUNT, FORGOTTEN
from recollect.record import Node, NodeKind
from recollect.store import Where
from recollect.store.transfer import every
from tests.exports import dump_of, opened

SAID = (
    "hi",
    "Hello! How can I help you today?",
    "My sister Ines has been diagnosed with coeliac disease, what can she bake?",
    "Buckwheat, rice and chestnut flour hold together well with psyllium husk.",
    "And which of these is the cheapest where she lives, in Lisbon?",
    "Rice flour, by some distance; chestnut flour is a luxury there.",
)
MORE = ("Does psyllium go off?", "It keeps for two years in a closed jar.")


@pytest.fixture(params=["sqlite", "neo4j"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[recollect.Memory]:
    if request.param == "neo4j":
        place = request.getfixturevalue("neo4j_place")
        with recollect.open(place, background=False) as memory:
            yield memory
    else:
        with opened(tmp_path / "memory.db") as memory:
            yield memory


def chatgpt(said: Sequence[str], title: str) -> list[Any]:
    """A conversation of ChatGPT, a chain of nodes, with ids that no other export has."""
    nodes: dict[str, Any] = {"root": {"id": "root", "parent": None, "children": [], "message": None}}
    parent = "root"
    for at, text in enumerate(said):
        own = str(uuid5(NAMESPACE_OID, f"{title} {at}"))
        nodes[parent]["children"].append(own)
        message = {
            "id": own,
            "author": {"role": "assistant" if at % 2 else "user"},
            "create_time": 1_740_000_000.0 + at,
            "content": {"content_type": "text", "parts": [text]},
        }
        nodes[own] = {"id": own, "parent": parent, "children": [], "message": message}
        parent = own
    own = str(uuid5(NAMESPACE_OID, title))
    return [{"title": title, "create_time": 1_740_000_000.0, "mapping": nodes, "current_node": parent, "id": own}]


def as_chatgpt(said: Sequence[str], title: str) -> tuple[str, str]:
    return "conversations.json", json.dumps(chatgpt(said, title))


def as_jsonl(said: Sequence[str], title: str) -> tuple[str, str]:
    turns = [{"role": "assistant" if at % 2 else "user", "content": text} for at, text in enumerate(said)]
    return "talks.jsonl", json.dumps({"title": title, "messages": turns}) + "\n"


def as_sharegpt(said: Sequence[str], title: str) -> tuple[str, str]:
    turns = [{"from": "gpt" if at % 2 else "human", "value": f"  {text}\n"} for at, text in enumerate(said)]
    return "shared.json", json.dumps([{"id": f"of-{title}", "conversations": turns}])


FORMATS = [as_chatgpt, as_jsonl, as_sharegpt]
Format = Callable[[Sequence[str], str], tuple[str, str]]


@pytest.fixture
def take(memory: recollect.Memory, tmp_path: Path) -> Callable[..., Any]:
    """Imports a conversation in a format, from a folder of its own."""
    count = 0

    def take(format: Format, said: Sequence[str], title: str, **more: Any) -> Any:
        nonlocal count
        count += 1
        folder = tmp_path / f"export{count}"
        folder.mkdir()
        name, text = format(said, title)
        (folder / name).write_text(text, encoding="utf-8")
        return memory.import_file(folder, **more)

    return take


@pytest.mark.parametrize("first", FORMATS)
def test_it_stays_away_with_another_title_in_another_format_and_grown(
    take: Callable[..., Any], memory: recollect.Memory, first: Format
) -> None:
    take(first, SAID, "Baking")
    assert memory.upkeep.stats().messages == len(SAID)
    memory.forget(memory.conversations()[0].conversation.id)
    for form in FORMATS:
        for title, said in (("Baking", SAID), ("Recipes", SAID), ("Bread", (*SAID, *MORE)), ("Cut", SAID[:5])):
            report = take(form, said, title)
            assert memory.upkeep.stats().messages == 0, (form, title)
            assert report.forgotten == 1, (form, title)
    assert take(as_sharegpt, SAID, "Recipes", again=True).forgotten == 0
    assert memory.upkeep.stats().messages == len(SAID)
    take(as_jsonl, SAID, "Asked for")
    assert memory.upkeep.stats().conversations > 0
    assert memory.upkeep.check() == []


@pytest.mark.parametrize("alone", [False, True])
def test_it_stays_away_from_an_import_that_began_before(
    take: Callable[..., Any], memory: recollect.Memory, monkeypatch: pytest.MonkeyPatch, alone: bool
) -> None:
    take(as_chatgpt, SAID, "Baking")
    thread = memory.conversation(memory.conversations()[0].conversation.id)
    monkeypatch.setattr("recollect.ingest.importing.BATCH_MESSAGES", 4)
    told: list[int] = []

    def forgets(progress: Any) -> None:
        if not told:
            told.append(progress.messages)
            memory.forget(thread.messages[2].id if alone else thread.conversation.id)

    def as_lines(said: Sequence[str], _: str) -> tuple[str, str]:
        others = [as_jsonl([f"Of the garden, bed {n}: what grows?", "Beans."] * 3, f"Bed {n}")[1] for n in range(3)]
        return "talks.jsonl", "".join([*others, as_jsonl(said, "Recipes")[1]])

    take(as_lines, SAID, "", progress=forgets)
    assert told
    assert b"coeliac" not in dump_of(memory)
    assert dump_of(memory).count(b"bed 2: what grows") >= 1


def test_a_message_that_was_forgotten_alone_stays_away_too(take: Callable[..., Any], memory: recollect.Memory) -> None:
    take(as_sharegpt, SAID, "Baking")
    thread = memory.conversation(memory.conversations()[0].conversation.id)
    memory.forget(thread.messages[2].id)
    take(as_chatgpt, SAID, "My sister Ines has been diagnosed…")
    assert b"coeliac" not in dump_of(memory)
    assert b"sister Ines" not in dump_of(memory)
    assert dump_of(memory).count(b"psyllium husk") >= 1
    memory.forget(thread.conversation.id)
    for row in memory.conversations():
        memory.forget(row.conversation.id)
    assert take(as_jsonl, SAID, "Once more").forgotten == 1


@pytest.mark.parametrize("form", [as_chatgpt, as_sharegpt, as_jsonl])
@pytest.mark.parametrize("where", [0, 2])
def test_a_message_that_was_forgotten_alone_stays_away_under_another_id(
    take: Callable[..., Any], memory: recollect.Memory, form: Format, where: int
) -> None:
    take(form, SAID, "Baking")
    thread = memory.conversation(memory.conversations()[0].conversation.id)
    memory.forget(*(message.id for message in thread.messages if message.content.strip() in SAID[1:3]))
    more = ("One more thing about the oven in the kitchen of my parents.", "Which one? Tell me.")
    take(form, (*SAID[:where], *more, *SAID[where:], SAID[1]), "Baking")  # ids go by the place
    assert b"coeliac" not in dump_of(memory)
    assert memory.upkeep.check() == []


@pytest.mark.parametrize("form", FORMATS)
def test_it_stays_away_in_parts(take: Callable[..., Any], memory: recollect.Memory, form: Format) -> None:
    whole = [text for n in range(6) for text in (f"{SAID[2]} Ask number {n}.", f"{SAID[3]} Answer {n}.")]
    take(as_sharegpt, whole, "Baking")
    memory.forget(memory.conversations()[0].conversation.id)
    for first, last in ((0, 6), (6, 12), (4, 6), (0, 3)):
        assert take(form, whole[first:last], f"Part {first} to {last}").forgotten == 1
    grown = take(
        form, [*whole[:2], "Is the oven of my parents warm enough for it?", "It is, from 220 degrees on."], "Grown"
    )
    assert grown.forgotten == 0
    assert memory.upkeep.check() == []


def test_a_thousand_that_begin_alike_all_come_in(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        talks = [(*SAID[:2], f"What about subject {n}?", f"Subject {n} is a wide field.") for n in range(1001)]
        greetings = [("hi", "Hello! How can I help you today?")]
        lines = [as_jsonl(said, f"Talk {n}")[1] for n, said in enumerate([*greetings, *talks])]
        (tmp_path / "first.jsonl").write_text("".join(lines[:2]))
        memory.import_file(tmp_path / "first.jsonl")
        assert memory.upkeep.stats().conversations == 2
        memory.forget(everything=True)
        (tmp_path / "all.jsonl").write_text("".join(lines))
        report = memory.import_file(tmp_path / "all.jsonl")
        assert (report.forgotten, memory.upkeep.stats().conversations) == (2, 1000)


def test_the_digests_tell_nothing_and_are_no_others(tmp_path: Path) -> None:
    bodies = []
    for name in ("one", "other"):
        with opened(tmp_path / f"{name}.db") as memory:
            memory.store_messages([{"content": text} for text in SAID], conversation_id="c")
            memory.forget("c")
            memory.forget(everything=True)
            with memory.handle.space.view() as view:  # what is stored
                found = every(view, Node, Where(kinds=(NodeKind.REPORT.value,), states=(FORGOTTEN,)))
                nodes = [node for node in found if node.id != COUNT]
        assert len(nodes) == 1
        bodies.append(nodes[0].body)
        assert nodes[0].text == ""
        assert list(nodes[0].body["digests"]) == sorted(nodes[0].body["digests"])
    assert set(bodies[0]["digests"]).isdisjoint(bodies[1]["digests"])


def test_a_tombstone_of_an_older_version_still_works_by_its_id(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        (tmp_path / "conversations.json").write_text(as_chatgpt(SAID, "Baking")[1])
        memory.import_file(tmp_path / "conversations.json")
        memory.handle.space.erase([memory.conversations()[0].conversation.id])  # as 0.2.0 forgot it
        assert memory.import_file(tmp_path / "conversations.json").forgotten == 1
        assert memory.upkeep.stats().messages == 0


def test_what_was_forgotten_stays_away_in_a_memory_that_was_moved(tmp_path: Path) -> None:
    with opened(tmp_path / "old.db") as memory:
        memory.store_messages([{"content": text} for text in SAID], conversation_id="c")
        memory.forget("c")
        memory.export(tmp_path / "dump.jsonl")
    name, text = as_sharegpt(SAID, "Again")
    (tmp_path / name).write_text(text)
    with opened(tmp_path / "new.db") as memory:
        memory.import_file(tmp_path / "dump.jsonl")
        assert memory.import_file(tmp_path / name).forgotten == 1
        assert memory.upkeep.stats().messages == 0


def test_talks_that_share_courtesies_alone_all_come_in(take: Callable[..., Any], memory: recollect.Memory) -> None:
    polite = ("thanks", "You're welcome!")
    take(as_jsonl, (*SAID[:2], "Why is the sea salt?", "Rivers bring it.", *polite), "Salt")
    memory.forget(memory.conversations()[0].conversation.id)
    for at in range(20):
        take(as_jsonl, (*SAID[:2], f"Where is town {at}?", f"Town {at} is up north.", *polite), f"Town {at}")
    assert memory.upkeep.stats().conversations == 20


def test_a_question_with_its_answer_stays_away_however_it_went_on(
    take: Callable[..., Any], memory: recollect.Memory
) -> None:
    take(as_chatgpt, SAID[2:4], "Baking")
    memory.forget(memory.conversations()[0].conversation.id)
    assert take(as_jsonl, (*SAID[2:4], *MORE, *(f"And subject {n}?" for n in range(20))), "Bread").forgotten == 1
    assert memory.upkeep.stats().messages == 0


@pytest.mark.parametrize("form", FORMATS)
def test_what_a_forgotten_message_said_before_it_was_edited_stays_away(
    take: Callable[..., Any], memory: recollect.Memory, form: Format
) -> None:
    take(as_jsonl, SAID, "Baking")
    message = memory.conversation(memory.conversations()[0].conversation.id).messages[2]
    memory.update_message(message.id, "What can somebody bake?")
    memory.forget(message.id)
    take(form, SAID, "Recipes")
    assert b"coeliac" not in dump_of(memory)


def test_the_dump_of_another_memory_brings_nothing_back(
    take: Callable[..., Any], memory: recollect.Memory, tmp_path: Path
) -> None:
    take(as_chatgpt, SAID, "Baking")
    own = memory.conversations()[0].conversation.id
    memory.export(tmp_path / "before.jsonl")
    with opened(tmp_path / "other.db") as other:
        other.store_messages([{"content": text} for text in SAID], conversation_id="c")
        other.export(tmp_path / "other.jsonl")
        other.import_file(tmp_path / "before.jsonl")
        other.forget(other.conversation(own).messages[4].id)
        other.export(tmp_path / "one.jsonl")
    memory.forget(own)
    for name in ("other", "one", "before"):
        memory.import_file(tmp_path / f"{name}.jsonl")
        assert memory.upkeep.stats().messages == 0, name
    assert take(as_sharegpt, SAID, "Again").forgotten == 1
    assert memory.upkeep.check() == []


def test_an_older_dump_takes_nothing_back(take: Callable[..., Any], memory: recollect.Memory, tmp_path: Path) -> None:
    take(as_chatgpt, SAID, "Baking")
    thread = memory.conversation(memory.conversations()[0].conversation.id)
    memory.forget(thread.messages[4].id)
    memory.export(tmp_path / "then.jsonl")
    memory.forget(thread.conversation.id)
    memory.import_file(tmp_path / "then.jsonl")
    assert take(as_sharegpt, SAID, "Again").forgotten == 1
    assert memory.upkeep.stats().messages == 0


def test_a_dump_hides_what_was_forgotten_there_and_takes_no_words(
    take: Callable[..., Any], memory: recollect.Memory, tmp_path: Path
) -> None:
    take(as_chatgpt, SAID, "Baking")
    own = memory.conversations()[0].conversation.id
    memory.export(tmp_path / "before.jsonl")
    before = memory.conversation(own)
    with opened(tmp_path / "other.db") as other:
        other.import_file(tmp_path / "before.jsonl")
        other.forget(before.messages[2].id)
        other.export(tmp_path / "one.jsonl")
        other.forget(own)
        other.export(tmp_path / "all.jsonl")
    memory.import_file(tmp_path / "one.jsonl")
    assert [m.deleted for m in memory.conversation(own).messages] == [False, False, True, False, False, False]
    assert memory.upkeep.check() == []
    memory.import_file(tmp_path / "all.jsonl")
    assert memory.conversations() == []
    assert not memory.search("coeliac")
    assert memory.upkeep.check() == []
    memory.restore(own)
    assert memory.conversation(own) == before
    assert memory.search("coeliac")
