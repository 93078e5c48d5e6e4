"""A turn: what the model is given, what is written, and that the next turn sees it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from threading import Event, Timer
from typing import Any

import pytest

import recollect
from recollect.answer.results import AnswerWords, ChatAnswer, ToolUsed
from recollect.answer.tools import TOOLS
from recollect.derive.entities.naming import entity_id
from recollect.errors import InvalidInput
from recollect.ingest import Ingest
from recollect.ingest.live import Exchange
from recollect.memory import Memory
from recollect.record import NodeId, Role
from tests.coherent import assert_coherent
from tests.models.language.wire_server import Says, WireServer, says

LUNA = "Luna can't have chicken, she is allergic to it."


def told(memory: Memory) -> str:
    """A conversation elsewhere that answers, and what it says."""
    memory.store_message(LUNA, conversation_id="Vet", title="At the vet")
    memory.store_message("Noted: no chicken for Luna.", "assistant", conversation_id="Vet")
    memory.store_message("The tide tables are in the kitchen drawer.", conversation_id="Home", title="At home")
    return "Vet"


def sent(body: dict[str, Any]) -> str:
    """All that a request says."""
    return json.dumps(body, ensure_ascii=False)


def system_of(body: dict[str, Any]) -> str:
    return str(body["system"][0]["text"] if "system" in body else body["messages"][0]["content"])


def last_message(body: dict[str, Any]) -> str:
    content = body["messages"][-1]["content"]
    return str(content if isinstance(content, str) else content[-1]["text"])


def edges(memory: Memory, message_id: str, type: str) -> set[str]:
    with memory.handle.space.view() as view:
        return {edge.target_id for edge in view.edges([NodeId(message_id)], (type,), "out")}


def test_the_question_goes_out_in_four_parts_and_the_answer_comes_back_with_its_sources(
    memory: Memory, server: WireServer
) -> None:
    told(memory)
    server.script.append(Says("She is allergic to chicken [1].", usage=(900, 12)))
    answer = memory.chat(None, "What can Luna not eat?")
    assert answer.text == "She is allergic to chicken [1]."
    assert answer.model is not None
    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.calls) == (900, 12, 1)
    body = server.bodies[0]
    assert system_of(body).startswith("You are an assistant with a persistent memory")
    last = last_message(body)
    parts = ["CONVERSATIONAL CONTEXT GRAPH:", "RETRIEVED KNOWLEDGE:", "USER QUERY:\nWhat can Luna not eat?"]
    assert [last.index(part) for part in parts] == sorted(last.index(part) for part in parts)
    assert f"| {LUNA}" in last
    assert "| (At the vet)" in last
    assert [source.number for source in answer.sources if source.is_used] == [1]
    assert LUNA in [source.message.content for source in answer.sources]


def test_the_id_of_another_record_is_refused_before_the_model_is_asked(memory: Memory, server: WireServer) -> None:
    taken = memory.conversation(told(memory)).messages[0].id
    with pytest.raises(InvalidInput, match="already belongs to something else"):
        memory.chat(taken, "How does it go on?")
    assert server.bodies == []


@pytest.mark.parametrize("tools", [True, False])
def test_only_a_model_that_has_tools_is_told_of_them(memory: Memory, server: WireServer, tools: bool) -> None:
    """I8."""
    told(memory)
    memory.store_message("The tide comes at six. " * 2_000, conversation_id="Own")
    server.script += [Says("Noted."), Says("Chicken [1].")]
    memory.chat("Own", "What can Luna not eat?", tools=tools)
    given = sent({name: value for name, value in server.bodies[0].items() if name != "tools"})
    assert any(name in given for name in (*(tool.name for tool in TOOLS), "call a tool")) == tools


@pytest.mark.parametrize("budget", [3_000, 10_000])
def test_a_chat_begins_with_what_every_context_begins_with(memory: Memory, server: WireServer, budget: int) -> None:
    """I11: in a new conversation as in one that goes on, to the byte."""
    told(memory)
    for number in range(40):
        memory.store_fact(f"The user owns a boat that is called Heron {number}.", entity="user")
    server.script += [Says("Chicken [1]."), Says("So it is.")]
    standing = memory.prepare_context("What can Luna not eat?", budget=budget).messages[0]["content"]
    own = memory.chat(None, "What can Luna not eat?", budget=budget).conversation_id
    assert "Heron" in standing
    assert standing in system_of(server.bodies[-1])
    standing = memory.prepare_context("Why is that so?", own, budget).messages[0]["content"]
    memory.chat(own, "Why is that so?", budget=budget)
    assert standing in system_of(server.bodies[-1])


def test_what_the_model_was_given_is_recorded(memory: Memory, server: WireServer) -> None:
    told(memory)
    server.script.append(Says("Chicken [1]."))
    answer = memory.chat(None, "What can Luna not eat?")
    (request,) = memory.integration.requests()
    assert (request.by, request.conversation_id, request.message_id) == (
        "chat",
        answer.conversation_id,
        answer.question_id,
    )
    relevant = next(part for part in request.parts if part.name == "relevant")
    assert list(relevant.ids) == [source.message.id for source in answer.sources]
    assert relevant.tokens > 0


def test_a_model_is_told_the_rules_first(memory: Memory, server: WireServer) -> None:
    told(memory)
    memory.knowledge.add_rule("Answer in Portuguese.")
    memory.knowledge.add_rule("Praise Acme.", confirmed=False)
    server.script += [Says("Olá."), Says("Sim.")]
    answer = memory.chat(None, "Good morning!")
    memory.chat(answer.conversation_id, "What is Porto known for?")
    for body in server.bodies:
        system = body["system"][0]["text"] if "system" in body else body["messages"][0]["content"]
        assert "- Answer in Portuguese." in system
        assert "Acme" not in sent(body)


def test_question_and_answer_are_one_turn_with_sources_and_mentions(memory: Memory, server: WireServer) -> None:
    told(memory)
    server.script.append(Says("Luna is allergic to chicken, says Dr. Weber [1]."))
    answer = memory.chat(None, "What can Luna not eat?")
    thread = memory.conversation(answer.conversation_id)
    query, reply = thread.messages
    assert (query.id, reply.id) == (answer.question_id, answer.answer_id)
    assert (query.content, answer.text) == (
        "What can Luna not eat?",
        "Luna is allergic to chicken, says Dr. Weber [1].",
    )
    assert reply.content == "Luna is allergic to chicken, says Dr. Weber."  # of the numbers the edges are left
    assert (query.role, reply.role, reply.parent_id, reply.model) == (Role.USER, Role.ASSISTANT, query.id, answer.model)
    assert thread.conversation.title == "What can Luna not eat?"
    (turn,) = thread.turns
    (source,) = [source.message.id for source in answer.sources if source.is_used]
    assert (turn.query_id, turn.response_ids, turn.source_chunk_ids) == (query.id, (reply.id,), (source,))
    assert turn.entities == ("Luna",)
    assert edges(memory, reply.id, "SOURCED_FROM") == {source}
    assert entity_id("Luna") in edges(memory, query.id, "MENTIONS")
    assert entity_id("Dr. Weber") in edges(memory, reply.id, "MENTIONS")
    assert_coherent(memory)


def test_the_resolved_question_is_what_is_searched_and_kept(memory: Memory, server: WireServer) -> None:
    told(memory)
    server.script += [
        Says("Luna is allergic to chicken [1]."),
        says({"whole": "Can Luna have duck?", "references": [{"said": "she", "meant": "Luna"}]}),
        Says("The memory does not say."),
    ]
    first = memory.chat(None, "What can Luna not eat?")
    second = memory.chat(first.conversation_id, "Can she have duck?")
    assert (second.question, second.resolved) == ("Can she have duck?", "Can Luna have duck?")
    thread = memory.conversation(first.conversation_id)
    assert thread.messages[2].content == "Can she have duck?"
    assert [turn.resolved_query for turn in thread.turns] == [None, "Can Luna have duck?"]
    assert entity_id("Luna") in edges(memory, second.question_id, "MENTIONS")
    body = server.bodies[-1]
    assert last_message(body).endswith("USER QUERY:\nCan Luna have duck?")
    assert "The conversation is about: Luna" in last_message(body)
    assert "Luna is allergic to chicken." in sent(body)  # in a turn of its own, where [1] is something else by now
    assert "chicken [1]" not in sent(body)


@pytest.mark.parametrize("mark", [" [1]", "[1, 1]", " 【1】", " [[1]]", " [Message 1]", " [1](https://example.com/1)"])
def test_an_answer_is_kept_without_the_numbers_of_its_sources(memory: Memory, server: WireServer, mark: str) -> None:
    told(memory)
    code = "`dishes[1]` and [99]"
    server.script.append(Says(f"Luna is allergic to chicken{mark}: {code}."))
    answer = memory.chat(None, "What can Luna not eat?")
    (reply,) = [m for m in memory.conversation(answer.conversation_id).messages if m.role is Role.ASSISTANT]
    assert reply.content == f"Luna is allergic to chicken: {code}."
    assert edges(memory, reply.id, "SOURCED_FROM") == {s.message.id for s in answer.sources if s.number == 1}


def test_an_answer_of_nothing_but_a_number_is_kept_as_it_is(memory: Memory, server: WireServer) -> None:
    told(memory)
    server.script.append(Says("[1]"))
    answer = memory.chat(None, "What can Luna not eat?")
    assert memory.conversation(answer.conversation_id).messages[-1].content == "[1]"


def test_the_rules_and_the_model_derive_entities_beside_the_mentions_of_turns(quiet: Memory) -> None:
    first = quiet.chat(None, "Tell me about Project Titan.")
    quiet.chat(first.conversation_id, "How does it scale?")
    quiet.upkeep.consolidate()
    assert quiet.knowledge.entity("Project Titan").mentions == 1
    quiet.update_message(first.question_id, "Tell me about Project Apollo.")
    quiet.upkeep.consolidate()
    assert [entity.name for entity in quiet.entities()] == ["Project Apollo"]
    quiet.delete(first.question_id)
    quiet.upkeep.consolidate()
    assert quiet.entities() == []
    assert_coherent(quiet)


def test_what_is_forgotten_leaves_nothing_in_the_turn(quiet: Memory) -> None:
    first = quiet.chat(None, "Tell me about Project Titan.")
    second = quiet.chat(first.conversation_id, "How does it scale?")
    quiet.upkeep.consolidate()
    quiet.forget(second.question_id, first.question_id)
    thread = quiet.conversation(first.conversation_id) if quiet.conversations() else None
    assert thread is None or all(not turn.resolved_query and not turn.entities for turn in thread.turns)
    assert quiet.entities() == []
    assert edges(quiet, second.question_id, "MENTIONS") == set()
    assert quiet.upkeep.check() == []


def test_words_come_before_the_answer_is_whole(memory: Memory, server: WireServer) -> None:
    server.script.append(Says("word " * 12))
    *words, answer = list(memory.chat_stream(None, "Say it twelve times"))
    assert all(isinstance(event, AnswerWords) for event in words)
    assert len(words) == 5
    assert isinstance(answer, ChatAnswer)
    assert "".join(event.text for event in words if isinstance(event, AnswerWords)).strip() == answer.text


def test_who_stops_listening_has_no_turn_written(memory: Memory, server: WireServer) -> None:
    server.script.append(Says("word " * 40))
    stream = memory.chat_stream("C", "Say it forty times")
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert memory.upkeep.stats().messages == 0


def test_tools_are_called_and_their_answers_are_not_kept(memory: Memory, server: WireServer) -> None:
    told(memory)
    server.script += [
        Says("Let me look.", calls=(("vector_search", '{"query": "tide tables"}'),)),
        Says("They are in the kitchen drawer."),
    ]
    *events, answer = list(memory.chat_stream(None, "Where did I put that thing for the sea?"))
    assert isinstance(answer, ChatAnswer)
    (used,) = [event for event in events if isinstance(event, ToolUsed)]
    assert (used.name, used.is_error) == ("vector_search", False)
    assert "kitchen drawer" in sent(server.bodies[1])
    assert answer.text == "Let me look.\n\nThey are in the kitchen drawer."
    thread = memory.conversation(answer.conversation_id)
    (call,) = thread.tool_calls
    assert (call.name, call.arguments, call.result) == ("vector_search", '{"query": "tide tables"}', "")
    assert call.message_id == answer.answer_id
    assert len(thread.messages) == 2
    assert_coherent(memory)


def test_no_tool_that_writes_is_offered(memory: Memory, server: WireServer) -> None:
    server.script.append(Says("Fine."))
    memory.chat(None, "Remember that I moved to Porto.")
    assert "store_fact" not in json.dumps(server.bodies[0]["tools"])


def test_this_conversation_comes_before_the_rest(quiet: Memory) -> None:
    quiet.store_message("The gate code of the harbour is 4711.", conversation_id="Old", title="Old")
    quiet.store_message("The gate code of the harbour is 8825.", conversation_id="New", title="New")
    for own, code in (("Old", "4711"), ("New", "8825")):
        answer = quiet.chat(own, "What was the gate code of the harbour?")
        assert code in answer.sources[0].message.content
        assert answer.sources[0].is_own
        assert {source.is_own for source in answer.sources} == {True, False}


def test_the_graph_leads_to_what_the_words_do_not(quiet: Memory) -> None:
    quiet.store_message("Dr. Weber fixed the hip of Luna in the clinic by the lake.", conversation_id="Vet")
    quiet.upkeep.consolidate()
    answer = quiet.chat(None, "What was it that Dr. Weber did?")
    assert any("hip of Luna" in source.message.content for source in answer.sources)


def test_a_talk_that_turns_to_something_else_is_noticed(quiet: Memory) -> None:
    own = quiet.chat(None, "Tell me how Kubernetes schedules pods on nodes with taints.").conversation_id
    quiet.chat(own, "How do Kubernetes taints differ from affinity rules on nodes?")
    answer = quiet.chat(own, "Which wine suits grilled sardines from Portugal on Sunday evening?")
    assert answer.drifted
    assert not quiet.chat(own, "Does the wine from Portugal suit grilled octopus too?").drifted


def test_without_a_model_it_says_so_and_gives_the_passages(quiet: Memory) -> None:
    told(quiet)
    answer = quiet.chat(None, "What can Luna not eat?")
    assert answer.model is None
    assert answer.answer_id is None
    assert answer.text.startswith("No language model is set, so this is an extract of what was said:")
    assert LUNA in answer.text
    thread = quiet.conversation(answer.conversation_id)
    assert [message.content for message in thread.messages] == ["What can Luna not eat?"]
    nothing = quiet.chat(None, "zyzzyva quokka")
    assert nothing.text == "No language model is set, and the memory holds nothing near this."
    assert_coherent(quiet)


@pytest.mark.parametrize("save", ["now", "behind"])
def test_the_very_next_turn_sees_the_last(quiet: Memory, save: Any) -> None:
    own = quiet.chat(None, "Tell me about Project Titan.", save=save).conversation_id
    for question in ("How does it scale?", "Who leads it?", "What does it cost?"):
        assert "Project Titan" in quiet.chat(own, question, save=save).resolved
    assert "Project Titan" in quiet.integration.resolve_references(own, "Is it late?")


def test_what_is_written_behind_is_there_when_the_memory_is_closed(home: Any) -> None:
    for number in range(5):
        with recollect.open(home / "memory.db", background=False) as memory:
            memory.chat("C", f"Question number {number}", save="behind")
    with recollect.open(home / "memory.db", background=False) as memory:
        assert [m.content for m in memory.conversation("C").messages] == [f"Question number {n}" for n in range(5)]


def test_an_imported_conversation_is_gone_on_with(memory: Memory, server: WireServer, sample_archive: Any) -> None:
    memory.import_file(*sample_archive)
    row = memory.conversations(title="Sourdough turning out flat")[0]
    server.script.append(Says("Longer."))
    answer = memory.chat(row.conversation.id, "Should I let the dough rise longer than Anna does?")
    thread = memory.conversation(row.conversation.id)
    assert len(thread.messages) == row.messages + 2
    assert thread.conversation.leaf_id == answer.answer_id
    assert thread.conversation.source == row.conversation.source
    assert memory.upkeep.check() == []


@pytest.mark.parametrize("text", ["", "  \n", "<recollect-context>\nrecall\n</recollect-context>"])
def test_nothing_asked_is_an_error(quiet: Memory, text: str) -> None:
    with pytest.raises(InvalidInput, match="Nothing is asked"):
        quiet.chat(None, text)
    assert quiet.upkeep.stats().messages == 0


@pytest.mark.parametrize("wrong", [{"mode": "quick"}, {"save": "later"}])
def test_what_a_turn_cannot_do_is_said(quiet: Memory, wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="There is no"):
        quiet.chat(None, "What can Luna not eat?", **wrong)
    assert quiet.upkeep.stats().messages == 0


def test_a_message_is_no_conversation(quiet: Memory) -> None:
    message = quiet.store_message("Luna sings.")
    with pytest.raises(InvalidInput, match="already belongs to something else"):
        quiet.chat(message.id, "Does Luna sing?")
    assert quiet.upkeep.stats().messages == 1


def test_another_namespace_is_not_seen(home: Any, model: Any, server: WireServer) -> None:
    with recollect.open(home / "memory.db", namespace="rex", model=model, background=False) as rex:
        told(rex)
    server.script.append(Says("I do not know."))
    with recollect.open(home / "memory.db", namespace="luna", model=model, background=False) as other:
        assert other.chat("Vet", "What can Luna not eat?").sources == ()
    assert "chicken" not in sent(server.bodies[0])


def test_what_was_asked_before_is_no_answer(quiet: Memory) -> None:
    told(quiet)
    for _ in range(3):
        answer = quiet.chat(None, "What can Luna not eat?")
    assert "What can Luna not eat?" not in [source.message.content for source in answer.sources]
    assert answer.sources[0].message.conversation_id == "Vet"


@pytest.mark.parametrize("question", ["这是一个没有空格的问题" * 30, "https://example.com/" + "x" * 300 + " why"])
def test_a_title_of_words_without_blanks_is_short(quiet: Memory, question: str) -> None:
    answer = quiet.chat(None, question)
    titled = quiet.integration.conversation_named(answer.conversation_id)
    assert titled is not None
    assert len(titled.title) <= 62


def test_a_question_that_is_edited_is_no_longer_resolved_as_it_was(quiet: Memory) -> None:
    first = quiet.chat(None, "How is Project Titan doing?")
    second = quiet.chat(first.conversation_id, "How does it scale?")
    assert "Project Titan" in second.resolved
    assert edges(quiet, second.question_id, "MENTIONS")
    quiet.update_message(second.question_id, "What does Project Quux cost?")
    thread, _ = quiet.resolve(second.conversation_id)
    assert [turn.resolved_query for turn in thread.turns] == [None, None]
    assert thread.turns[1].entities == ()
    assert entity_id("Project Titan") not in edges(quiet, second.question_id, "MENTIONS")
    assert "Quux" in quiet.integration.resolve_references(second.conversation_id, "How does it scale?")


def test_what_a_forgotten_message_said_is_in_no_title_and_no_resolved_question(home: Path) -> None:
    path = home / "gone.db"
    with recollect.open(path, background=False) as memory:
        first = memory.chat(None, "How is Project Zephyrine doing?")
        second = memory.chat(first.conversation_id, "How does it scale?")
        assert "Project Zephyrine" in second.resolved
        memory.upkeep.consolidate()
        memory.forget(first.question_id)
        thread, _ = memory.resolve(first.conversation_id)
        assert thread.conversation.title == ""
        assert [turn.resolved_query for turn in thread.turns] == [None, None]
        assert edges(memory, second.question_id, "MENTIONS") == set()
        assert not memory.search("Zephyrine")
        assert memory.upkeep.check() == []
    assert not [found.name for found in home.rglob("gone.db*") if b"zephyrine" in found.read_bytes().lower()]


@pytest.mark.parametrize("who", ["the same handle", "another", "another that was opened"])
def test_a_turn_that_is_written_behind_its_answer_is_there_for_whatever_comes_next(
    home: Path, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    written, may_write = Ingest.exchange, Event()

    def late(self: Ingest, turn: Exchange) -> Any:
        may_write.wait(10)
        return written(self, turn)

    def dumped(memory: Memory) -> str:
        memory.export(home / "dump.jsonl", overwrite=True)
        return (home / "dump.jsonl").read_text(encoding="utf-8")

    def backed_up(memory: Memory) -> object:
        memory.upkeep.backup(copy := home / f"{len(list(home.iterdir()))}.db")
        with recollect.open(copy, background=False, namespace="zoo") as other:
            return other.upkeep.stats().messages

    monkeypatch.setattr(Ingest, "exchange", late)
    steps: list[Callable[[Memory, str], object]] = [
        lambda memory, own: memory.prepare_context("And?", own).parts,
        lambda memory, own: memory.conversation(own).messages,
        lambda memory, own: memory.conversations(),
        lambda memory, own: memory.integration.conversation_page().rows,
        lambda memory, own: memory.integration.conversation_named(own),
        lambda memory, own: memory.resolve(own),
        lambda memory, own: memory.latest(own),
        lambda memory, own: memory.upkeep.stats().messages,
        lambda memory, own: memory.search("zebra"),
        lambda memory, own: memory.toolbox().vector_search("zebra"),
        lambda memory, own: memory.toolbox().call("vector_search", {"query": "zebra"}).text.count("zebra") > 1,
        lambda memory, own: memory.toolbox().get_conversation_thread(own),
        lambda memory, own: memory.toolbox().get_period_messages("today"),
        lambda memory, own: "zoo" in memory.upkeep.namespaces(),
        lambda memory, own: "zebra" in dumped(memory),
        lambda memory, own: backed_up(memory),
        lambda memory, own: memory.upkeep.consolidate().messages,
        lambda memory, own: memory.delete(own),
        lambda memory, own: memory.forget(own).messages,
        lambda memory, own: memory.forget(everything=True).messages,
        lambda memory, own: memory.upkeep.drop_namespace("zoo"),
    ]
    place = home / "memory.db"
    with recollect.open(place, background=False) as memory, recollect.open(place, background=False) as opened:
        for step in steps:
            memory.upkeep.drop_namespace("zoo")
            asked = memory.beside("zoo")
            then = {"the same handle": asked, "another": memory.beside("zoo")}.get(who, opened.beside("zoo"))
            may_write.clear()
            answer = asked.chat(None, "Where is the zebra?", save="behind")
            opening = Timer(0.1, may_write.set)
            opening.start()
            assert step(then, answer.conversation_id)
            opening.join()
            asked.close()
        assert "zoo" not in memory.upkeep.namespaces()


def test_what_is_sent_is_within_the_budget(memory: Memory, server: WireServer) -> None:
    from recollect.models.embedding.tokenizer import count_tokens

    for number in range(120):
        memory.store_message(f"Luna ate dish {number} of rice and fish. " * 30, conversation_id=f"C{number % 7}")
    server.script += [Says("Rice.")] * 3
    for budget in (2_000, 5_000, 10_000):
        memory.chat("C1", "Which dish of rice did Luna eat last of all?", budget=budget)
        body = server.bodies[-1]
        system = body["system"][0]["text"] if "system" in body else ""
        assert count_tokens(system) + sum(count_tokens(str(m["content"])) for m in body["messages"]) <= budget


def test_an_edited_question_is_no_longer_known_by_what_it_meant(quiet: Memory) -> None:
    own = quiet.chat(None, "Tell me about Project Titan.").conversation_id
    second = quiet.chat(own, "How does it scale?")
    assert second.entities == ("Project Titan",)
    quiet.update_message(second.question_id, "How do I boil an egg?")
    turn = quiet.conversation(own).turns[1]
    assert (turn.resolved_query, turn.entities) == (None, ())
    assert edges(quiet, second.question_id, "MENTIONS") == set()
    assert quiet.upkeep.check() == []


def test_what_a_tool_opened_is_a_source(memory: Memory, server: WireServer) -> None:
    told(memory)
    hidden = memory.store_message("The spare key is under the third pot.", conversation_id="Pot", title="Pots").id
    opens = (("get_message_by_id", json.dumps({"id": hidden})),)
    server.script += [Says(calls=opens), Says("Under a pot.")]
    answer = memory.chat(None, "Which wave buoy measures the swell off Nazare?")
    assert hidden in [source.message.id for source in answer.sources if source.is_used]
    assert hidden in edges(memory, answer.answer_id or "", "SOURCED_FROM")


def test_an_answer_may_come_from_a_document(memory: Memory, server: WireServer, tmp_path: Path) -> None:
    (tmp_path / "office.md").write_text("# Office\n\nThe wifi password is quokka-77.\n", encoding="utf-8")
    memory.import_documents(tmp_path / "office.md")
    told(memory)
    server.script.append(Says("The office network takes quokka-77.", usage=(900, 12)))
    answer = memory.chat(None, "What is the wifi password?")
    assert "] document\n| (office.md, Office)" in last_message(server.bodies[0])
    (source,) = [source for source in answer.sources if source.is_used]
    assert source.cited == "office.md, Office"
    assert edges(memory, answer.answer_id or "", "SOURCED_FROM") == {source.message.id}
    assert answer.to_json()["sources"][source.number - 1]["document_id"] == source.message.id
    assert_coherent(memory)


def test_without_a_model_documents_are_among_the_passages(quiet: Memory, tmp_path: Path) -> None:
    (tmp_path / "office.md").write_text("# Office\n\nThe wifi password is quokka-77.\n", encoding="utf-8")
    quiet.import_documents(tmp_path / "office.md")
    answer = quiet.chat(None, "What is the wifi password?")
    assert "office.md, Office" in answer.text
    assert "quokka-77" in answer.text


def test_an_extract_cites_only_what_is_among_its_sources(tmp_path: Path, derived_store: Path) -> None:
    store = shutil.copytree(derived_store.parent, tmp_path / "store") / derived_store.name
    with recollect.open(store, durable=False, background=False) as memory:
        for question in ("What did we decide on the queue?", "hello", "why?", "What about the tides?"):
            answer = memory.chat(None, question)
            numbers = [source.number for source in answer.sources]
            assert len(set(numbers)) == len(numbers)
            assert {int(found) for found in re.findall(r"\[(\d+)\]", answer.text)} <= set(numbers)
