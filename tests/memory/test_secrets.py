"""Secrets stay home: a person sees them, a model gets a mask, and what is forgotten of them is gone to the byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import recollect
from benchmarks.secret_texts.values import pem
from recollect.context.result import shortened
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.errors import InvalidInput
from recollect.memory import Handle, Memory
from recollect.models.embedding.base import Vectors
from recollect.models.embedding.remote import _parts
from recollect.record import Part, PartKind
from recollect.testing import FakeModel
from tests.coherent import assert_coherent
from tests.exports import chat, dump_of, export, opened
from tests.secret_values import AWS, GITHUB, OPENAI, PASSWORD, parts
from tests.store.builders import embedder

KEY = pem()
QUESTION = "what is the password of the Peniche router, and the key of the Peniche server?"
TOLD = [
    ("user", f"Remember the set-up of the Peniche server. My OpenAI key is {OPENAI}; it pays for the Peniche project."),
    ("assistant", f"Noted: {OPENAI} pays for the Peniche project."),
    ("user", f"The password of the router in Peniche is {PASSWORD}. I always use this router."),
    ("assistant", "Noted."),
    ("user", f"And the key of the Peniche server:\n{KEY}\nIt belongs to the Peniche office."),
    ("assistant", "Thanks, this key is for ssh."),
    ("user", f"Our router in Peniche has {PASSWORD} since March. I moved it to the Peniche office."),
    ("assistant", "I see."),
]


def told_of(text: object) -> list[str]:
    """Which secrets stand in a text or a record, whole or in part."""
    shown = text if isinstance(text, str) else repr(text)
    found = [name for name, one in {"openai": OPENAI, "github": GITHUB, "aws": AWS}.items() if _any(one[8:], shown)]
    found += ["password"] if PASSWORD in shown else []
    return found + (["pem"] if any(_any(line, shown) for line in KEY.splitlines()[1:-1]) else [])


def _any(secret: str, text: str) -> bool:
    return any(part in text for part in parts(secret))


@pytest.fixture
def model() -> FakeModel:
    return FakeModel("As was said.")


@pytest.fixture
def memory(tmp_path: Path, model: FakeModel) -> Iterator[Memory]:
    """Secrets in messages, a title, a tool call, an attachment, a document and a fact."""
    memory = Memory(Handle(SQLiteStore(tmp_path / "store" / "memory.db", durable=False), embedder(), model=model))
    (tmp_path / "store").mkdir(exist_ok=True)
    stored = memory.store_messages(
        [{"content": text, "role": role} for role, text in TOLD], conversation_id="C", title=f"{GITHUB} for Peniche"
    )
    header = f"Authorization: token {GITHUB}"
    memory.store_tool_call("bash", {"command": f"curl -H '{header}' peniche"}, f"200 {AWS} Peniche", stored[1].id)
    memory.store_message(
        "The file of the Peniche server.",
        conversation_id="C",
        parts=[Part(PartKind.ATTACHMENT, "peniche.env", f"AWS_ACCESS_KEY_ID={AWS}\nDB_PASSWORD={PASSWORD}\n")],
    )
    words = " ".join(f"word{n}" for n in range(4000))
    memory.store_message(f"{words} Peniche {OPENAI} {words}", conversation_id="C", id="LONG")
    memory.store_fact("The Peniche router has a password", "password", entity="Peniche router", value=PASSWORD)
    yield memory
    memory.close()


def test_a_context_has_masks_in_the_place_of_secrets(memory: Memory) -> None:
    memory.upkeep.consolidate()
    for asked in (QUESTION, "Peniche", "the file of the Peniche server", "router"):
        for budget in (2_000, 10_000):
            context = memory.prepare_context(asked, budget=budget)
            assert told_of(context) == []
            assert context.tokens <= budget
    assert "[secret: OpenAI key]" in memory.prepare_context(QUESTION).text


def test_what_the_asking_text_itself_tells_stays(memory: Memory) -> None:
    asked = f"does {OPENAI} still pay for the Peniche project?"
    context = memory.prepare_context(asked)
    assert context.messages[-1]["content"].endswith(asked)
    assert told_of(context.text.replace(OPENAI, "")) == []


def test_the_tools_answer_with_masks(memory: Memory) -> None:
    memory.upkeep.consolidate()
    calls: list[tuple[str, dict[str, Any]]] = [
        ("vector_search", {"query": "key of the Peniche server"}),
        ("search_and_retrieve", {"query": "password of the Peniche router"}),
        *(("get_message_by_id", {"id": m.id}) for m in memory.conversation("C").messages),
        ("get_message_with_chunks", {"id": "LONG"}),
        *(("get_tool_calls_by_message", {"message_id": m.id}) for m in memory.conversation("C").messages),
        ("get_conversation_thread", {"message_id": "LONG", "depth": 20}),
        ("search_facts", {"query": "router"}),
        ("get_all_facts", {}),
        ("get_message_by_id", {"id": OPENAI}),
        ("get_topic_messages", {"topic": OPENAI}),
    ]
    for most in (400, 4_500):
        box = memory.toolbox(max_tokens=most)
        for name, arguments in calls:
            answer = box.call(name, arguments)
            assert told_of(answer) == [], name
            assert answer.tokens <= most


def test_a_piece_of_a_text_tells_no_part_of_a_secret(memory: Memory) -> None:
    text = memory.toolbox().get_message_by_id("LONG").content
    at = text.index(OPENAI)
    for start in range(at - 20, at + len(OPENAI), 7):
        for length in (30, 60, 100):
            assert told_of(memory.integration.masked(text[start : start + length])) == []


@pytest.mark.parametrize("asks", ["ask", "chat", "research", "consolidate"])
def test_prompts_of_our_own_have_masks(memory: Memory, model: FakeModel, asks: str) -> None:
    made: dict[str, Callable[[], object]] = {
        "ask": lambda: memory.ask(QUESTION),
        "chat": lambda: memory.chat("C", QUESTION),
        "research": lambda: memory.research(QUESTION),
        "consolidate": memory.upkeep.consolidate,
    }
    if asks == "consolidate":  # what has been talked over to its end
        said = [f"{text} That was day {day}." for day in range(3) for _, text in TOLD[:4]]
        for number, text in enumerate(said):
            memory.store_message(text, ("user", "assistant")[number % 2], conversation_id="C")
    made[asks]()
    assert any("Peniche" in prompt for prompt in model.prompts)
    assert told_of("\n".join(model.prompts)) == []


def test_a_chat_hears_what_is_said_in_it_now(memory: Memory, model: FakeModel) -> None:
    memory.chat("C", f"is {AWS} the key of the Peniche server?")
    assert AWS in model.prompts[-1]


def test_a_person_sees_and_finds_everything_as_it_came(memory: Memory) -> None:
    assert OPENAI in memory.conversation("C").messages[0].content
    assert memory.conversation("C").conversation.title == f"{GITHUB} for Peniche"
    assert OPENAI.encode() in dump_of(memory)
    assert any(OPENAI in hit.best.message.content for hit in memory.search(OPENAI, group_by="message"))


def test_secrets_are_listed_without_their_words(memory: Memory) -> None:
    found = memory.upkeep.secrets()
    assert told_of(found) == []
    assert {(one.kind, one.where) for one in found} == {
        ("GitHub token", "title"),
        ("OpenAI key", "message"),
        ("password", "message"),
        ("private key", "message"),
        ("AWS access key", "message"),  # of the attachment, and of the result of the tool
        ("GitHub token", "tool_call"),
    }
    assert len(memory.upkeep.secrets(sources="recollect")) == len(found)
    with pytest.raises(InvalidInput):
        memory.upkeep.secrets(sources="chatgtp")


def test_secrets_on_neo4j(neo4j_place: str) -> None:
    with recollect.open(neo4j_place) as memory:
        memory.store_message(f"The Peniche server has the key {OPENAI}", conversation_id="C", title=f"Key {OPENAI}")
        memory.store_message(f"the password: {PASSWORD}", conversation_id="C", id="P")
        memory.upkeep.consolidate()
        context = memory.prepare_context("the key of the Peniche server")
        assert "[secret: OpenAI key]" in context.text
        assert told_of(context) == []
        assert memory.upkeep.forget_secrets().kinds == {"OpenAI key": 1, "password": 1}
        assert memory.upkeep.secrets() == []
        assert told_of(dump_of(memory).decode()) == []
        memory.store_message(f"so it is {PASSWORD}", conversation_id="C", id="Q")
        assert memory.toolbox().get_message_by_id("Q").content == "so it is [secret: password]"
        assert memory.search("Peniche", group_by="message")
        assert not memory.upkeep.check()


# --- forgotten -----------------------------------------------------------------------------------------------------


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_gone(folder: Path) -> None:
    """No file holds any secret, whatever the case; of a private key no line."""
    for name, data in bytes_of(folder).items():
        for secret in (OPENAI, GITHUB, AWS, PASSWORD, *KEY.splitlines()[1:-1]):
            assert secret.lower().encode() not in data.lower(), (name, secret[:6])


def test_what_is_forgotten_is_in_no_file_and_the_text_around_it_stays(memory: Memory, tmp_path: Path) -> None:
    memory.upkeep.consolidate()
    memory.update_message("LONG", f"Another wording, with {OPENAI}.")
    memory.delete("LONG")
    while memory.upkeep.maintain():
        pass
    asked = memory.upkeep.forget_secrets(dry_run=True)
    assert OPENAI in memory.conversation("C").messages[0].content
    done = memory.upkeep.forget_secrets()
    assert done == asked
    assert done.kinds == {"OpenAI key": 1, "GitHub token": 1, "AWS access key": 1, "password": 1, "private key": 1}
    assert_gone(tmp_path / "store")
    assert memory.upkeep.secrets() == []
    first = memory.conversation("C").messages[0]
    assert first.content == TOLD[0][1].replace(OPENAI, "[secret: OpenAI key]")
    assert memory.conversation("C").conversation.title == "[secret: GitHub token] for Peniche"
    assert [f.value for f in memory.facts() if f.entity == "Peniche router"] == ["[secret: password]"]
    memory.upkeep.consolidate()
    memory.close()
    assert_gone(tmp_path / "store")
    with opened(tmp_path / "store" / "memory.db") as again:
        assert_coherent(again)
        assert again.search("Peniche router", group_by="message")


def test_importing_again_does_not_bring_them_back(tmp_path: Path) -> None:
    texts = [f"The router has the password: {PASSWORD}", "Noted.", f"So {PASSWORD} it is, and {OPENAI}.", "Yes."]
    first = export(tmp_path / "first", [chat(*texts, title=f"Key {OPENAI[:30]}")])
    grown = export(tmp_path / "grown", [chat(*texts, f"Once more: {OPENAI}", "Yes.", title=f"Key {OPENAI[:30]}")])
    other = export(tmp_path / "other", [chat("Hello there", "Hi", f"Try {PASSWORD}", name="d")])
    (tmp_path / "store").mkdir()
    with opened(tmp_path / "store" / "memory.db") as memory:
        memory.import_file(first)
        memory.upkeep.forget_secrets()
        before = memory.integration.conversation_page(limit=10)
        report = memory.import_file(first)
        assert (report.written.new, report.written.changed) == (0, 0)
        assert memory.integration.conversation_page(limit=10) == before
        memory.import_file(grown)
        memory.import_file(other)
        memory.store_message(f"the password: {PASSWORD}", conversation_id="L")
        assert_gone(tmp_path / "store")
        assert memory.upkeep.stats().conversations == 3
        assert (
            memory.search("Once more", group_by="message")[0].best.message.content == "Once more: [secret: OpenAI key]"
        )
        memory.import_file(grown, again=True)
        (hit, *_) = memory.search("Once more", group_by="message")
        assert hit.best.message.content == f"Once more: {OPENAI}"


@pytest.fixture(params=["sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def two_sources(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    """A memory to which two sources told the same key, and what was derived of it."""
    on_neo4j = request.param == "neo4j"
    with recollect.open(request.getfixturevalue("neo4j_place")) if on_neo4j else opened(tmp_path / "m.db") as memory:
        memory.store_message(f"Remember: the Peniche server has the key {OPENAI}.", conversation_id="L", id="L1")
        memory.import_file(
            export(tmp_path, [chat(f"the key of the Faro server is {OPENAI}", f"and {AWS}", title="Faro")])
        )
        memory.upkeep.consolidate()
        yield memory


def test_of_a_source_only_its_own_strings_go(two_sources: Memory, tmp_path: Path) -> None:
    memory = two_sources
    mine = [one for one in memory.upkeep.secrets() if one.source == "recollect" and one.where == "message"]
    done = memory.upkeep.forget_secrets(sources="chatgpt")
    assert done.kinds == {"OpenAI key": 1, "AWS access key": 1}
    assert memory.upkeep.secrets(sources="chatgpt") == []
    assert [one for one in memory.upkeep.secrets() if one.source == "recollect" and one.where == "message"] == mine
    assert OPENAI in memory.toolbox().get_message_by_id("L1").content
    assert AWS not in dump_of(memory).decode()
    memory.import_file(export(tmp_path / "again", [chat(f"once more {OPENAI}", "ok", name="d")]))
    memory.store_message(f"once more {OPENAI}", conversation_id="L", id="L2")
    assert memory.upkeep.secrets(sources="chatgpt") == []
    assert OPENAI in memory.toolbox().get_message_by_id("L2").content
    assert not memory.upkeep.check()
    memory.upkeep.forget_secrets()
    assert OPENAI not in dump_of(memory).decode()


def test_a_moved_memory_still_keeps_them_out(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        memory.store_message(f"my key is {OPENAI}")
        memory.upkeep.forget_secrets()
        (tmp_path / "dump.jsonl").write_bytes(dump_of(memory))
    with opened(tmp_path / "other.db") as other:
        other.import_file(tmp_path / "dump.jsonl")
        other.store_message(f"again: {OPENAI}", id="M")
        assert other.toolbox().get_message_by_id("M").content == "again: [secret: OpenAI key]"


def test_a_forgetting_that_was_not_agreed_to_changes_nothing(memory: Memory) -> None:
    before = dump_of(memory)
    assert memory.upkeep.forget_secrets(confirm=lambda found: False).secrets == 0
    assert dump_of(memory) == before


def test_words_that_a_secret_holds_stay_where_they_are_words(memory: Memory) -> None:
    memory.store_message('password = "sunshine"', conversation_id="W", id="SECRET")
    memory.store_message("api_key = Kx9Production77LmQ20241105", conversation_id="W")
    memory.store_message("Sunshine in the production of 20241105, sunshine!", conversation_id="W", id="WORDS")
    assert memory.integration.masked("the production of 20241105 too") == "the production of 20241105 too"
    memory.upkeep.forget_secrets()
    assert memory.toolbox().get_message_by_id("WORDS").content == "Sunshine in the production of 20241105, sunshine!"
    assert memory.toolbox().get_message_by_id("SECRET").content == 'password = "[secret: password]"'


def test_they_stay_away_when_everything_else_is_forgotten_too(memory: Memory, tmp_path: Path) -> None:
    memory.upkeep.forget_secrets()
    memory.forget(everything=True)
    memory.store_message(f"so it is {PASSWORD}", conversation_id="again", id="AGAIN")
    assert memory.toolbox().get_message_by_id("AGAIN").content == "so it is [secret: password]"
    assert_gone(tmp_path / "store")


def test_a_forgetting_that_was_interrupted_is_completed(memory: Memory, tmp_path: Path) -> None:
    memory.store_message(f"so {PASSWORD} it is, and {OPENAI[60:]}", conversation_id="B")
    write, left = type(memory.handle.space).write, 3

    def interrupted(self: object, change: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return write(self, change)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(type(memory.handle.space), "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            memory.upkeep.forget_secrets()
    memory.upkeep.forget_secrets()
    assert_gone(tmp_path / "store")


def test_no_way_into_the_memory_brings_them_back(memory: Memory, tmp_path: Path) -> None:
    memory.upkeep.forget_secrets()
    fact = memory.store_fact(f"It has {GITHUB}", "key", entity="router", value=GITHUB, tags=[PASSWORD])
    memory.knowledge.edit_fact(fact.id, value=PASSWORD)
    memory.store_message("Hello", conversation_id="N", speaker=GITHUB, metadata={GITHUB: "Ann"})
    with recollect.open(tmp_path / "other.db", background=False) as other:
        other.store_message("my key is " + "ghp_" + GITHUB[:3:-1])
        other.upkeep.forget_secrets()
        (tmp_path / "dump.jsonl").write_bytes(dump_of(other))
    memory.import_file(tmp_path / "dump.jsonl")
    memory.store_message(f"{OPENAI} {AWS}", conversation_id="N")
    assert_gone(tmp_path / "store")


def test_names_that_are_secrets_are_taken_out_and_each_keeps_its_value(memory: Memory, tmp_path: Path) -> None:
    memory.store_message(
        "Hi", conversation_id="N", id="N1", speaker=GITHUB, metadata={GITHUB: 1, f"{AWS}": {OPENAI: 2}}
    )
    memory.store_message("Hi", conversation_id="N", id="N2", metadata={"ghp_" + GITHUB[:3:-1]: 3, GITHUB: 4})
    memory.upkeep.forget_secrets()
    assert_gone(tmp_path / "store")
    kept = memory.toolbox().get_message_by_id("N2").metadata
    assert (set(kept), {*kept.values()}) == ({"[secret: GitHub token]", "[secret: GitHub token] 2"}, {3, 4})


class RemoteEmbedder:
    """Vectors from a server that remembers what it was sent."""

    is_remote = True

    def __init__(self) -> None:
        self._embedder, self.sent = embedder(), list[str]()
        self.name, self.dimensions = self._embedder.name, self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As an endpoint does."""
        self.sent += [part for _, part in _parts(texts)]
        return self._embedder.embed(texts)


def test_a_remote_embedder_is_sent_no_piece_of_a_secret(tmp_path: Path) -> None:
    remote = RemoteEmbedder()
    with Memory(Handle(SQLiteStore(tmp_path / "memory.db", durable=False), remote)) as memory:
        memory.store_message(f"The key of the server:\n{KEY}\nKeep it. It is new. Nobody has it.")
        for words in range(3_985, 4_000):  # the edge of a chunk cuts it somewhere
            memory.store_message(f"{'word ' * words}{OPENAI} {'word ' * 300}")
        (tmp_path / "notes.md").write_text(f"# Server\n\nIts key. It is long.\n\n{KEY}\n", encoding="utf-8")
        memory.import_documents(tmp_path / "notes.md")
        assert any("[secret: private key]" in text for text in remote.sent)
        assert told_of("\n".join(remote.sent)) == []
        assert memory.search(KEY.splitlines()[2], literal=True)  # words are looked for here


def test_a_remote_embedder_is_sent_nothing_derived_that_tells_part_of_a_secret(tmp_path: Path) -> None:
    remote, half = RemoteEmbedder(), GITHUB[:20]
    with Memory(Handle(SQLiteStore(tmp_path / "memory.db", durable=False), remote)) as memory:
        memory.store_message(f"The build server has {GITHUB}. My dog is called Luna.")
        memory.store_fact("The build server begins with " + half, entity="build server")
        memory.upkeep.consolidate()
        memory.upkeep.reindex()
        memory.search(f"what begins with {half}")
        memory.prepare_context(f"what begins with {half}", budget=1_000)
        beside = memory.beside("another")
        beside.store_message(f"Whose is {half}?")  # nobody said there that it is part of a key
        assert [text for text in remote.sent if half in text] == [f"Whose is {half}?"]
        assert any("begins with [secret" in text for text in remote.sent)


def test_the_store_is_asked_once_for_the_secrets_of_texts_that_are_embedded_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(Handle(SQLiteStore(tmp_path / "memory.db", durable=False), RemoteEmbedder())) as memory:
        asked: list[int] = []
        masked = memory.handle.masked
        monkeypatch.setattr(memory.handle, "masked", lambda value: asked.append(len(value)) or masked(value))
        memory.store_messages([{"content": f"Bed {n} has beans."} for n in range(50)])
    assert max(asked) >= 50
    assert len(asked) < 10


def test_a_re_ranker_is_shown_masks(tmp_path: Path) -> None:
    read: list[str] = []

    class Reading:
        name = "reading"

        def score(self, question: str, texts: Sequence[str]) -> list[float]:
            read.extend(texts)
            return [float(len(text)) for text in texts]

    with recollect.open(tmp_path / "memory.db", background=False, reranker=Reading()) as memory:
        memory.store_messages([{"content": text, "role": role} for role, text in TOLD])
        memory.store_message(f"DB_PASSWORD={PASSWORD}")
        words = " ".join(f"word{n}" for n in range(300))
        for at in range(250, 330, 3):
            memory.store_message(f"{words[:at]} {OPENAI} {words} Peniche server {words}", conversation_id=f"L{at}")
        memory.search("Peniche server", mode="quality", limit=40)
    assert read
    assert told_of("\n".join(read)) == []


def test_where_a_text_is_shortened_it_tells_no_part_of_a_password(tmp_path: Path) -> None:
    password = "kT9vLq2RzXw7BnYc4HdJpS6m"
    with opened(tmp_path / "memory.db") as memory:
        for words in range(30, 50):
            text = f"{'so ' * words}postgres://app:{password}@db.example/shop{' and' * 20}"
            memory.store_message(text)
            for most in range(30, 100, 3):
                masked = memory.integration.masked(shortened(text, most))
                assert not any(password[at : at + 8] in masked for at in range(len(password) - 7)), masked
