"""A model's answer: streamed, cited, and never trusted."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.answer.ask import prompt_for
from recollect.answer.evidence import Evidence, SourcePassage
from recollect.answer.intents import Intent, IntentSettings
from recollect.answer.results import Again, AnswerWords, AskAnswer, Step
from recollect.errors import InvalidInput
from recollect.memory import Memory
from recollect.models.language.base import ModelNotReady
from recollect.record import Message, NodeId, Role
from tests.answer.ask.injections import DEMANDS, INJECTIONS
from tests.answer.ask.obedient import Obedient
from tests.models.language.wire_server import Says, WireServer

QUESTION = "why did we drop Redis?"


def told(memory: Memory) -> list[str]:
    """Three conversations that answer; the ids of their messages."""
    said = (
        ("Queue incident", "Redis lost jobs at failover for the second time. We drop Redis."),
        ("Licences", "And the licence of Redis changed, which legal does not like."),
        ("Queue decision", "OK, Postgres with SKIP LOCKED instead of Redis, since we run it anyway."),
    )
    return [memory.store_message(text, conversation_id=title, title=title).id for title, text in said]


def sent(body: dict[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False)


def test_an_answer_comes_as_it_is_said_with_each_number_opening_its_message(memory: Memory, server: WireServer) -> None:
    ids = told(memory)
    server.script.append(Says("It lost jobs at failover [1]. Its licence changed [2].", usage=(900, 20)))
    *events, answer = memory.ask_stream(QUESTION)
    assert [event.name for event in events if isinstance(event, Step)] == ["understood", "searched", "answering"]
    assert "".join(event.text for event in events if isinstance(event, AnswerWords)) == answer.text
    assert isinstance(answer, AskAnswer)
    assert answer.known
    assert answer.intent is Intent.DECISION
    assert [citation.number for citation in answer.citations] == [1, 2]
    for citation in answer.citations:
        assert citation.message.id in ids
        assert citation.quote == citation.message.content[citation.start : citation.end]
        assert citation.quote
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (
        900 + 3 * 100,
        20 + 3 * 20,
    )  # with the question's
    assert answer.cost is not None


def test_a_citation_quotes_the_sentence_that_its_claim_rests_on(memory: Memory, server: WireServer) -> None:
    memory.store_message("Redis is fast. It lost jobs at failover. Lunch was late.", conversation_id="c")
    server.script.append(Says("Because jobs were lost at failover [1]."))
    [citation] = memory.ask("What about Redis?").citations
    assert citation.quote == "It lost jobs at failover."


def test_a_claim_in_other_words_is_not_proven_by_the_shortest_sentence(memory: Memory, server: WireServer) -> None:
    memory.store_message("No. Good plan. Jobs were lost whenever the primary failed.", conversation_id="c")
    server.script.append(Says("Weil die Warteschlange Aufträge verlor [1]."))
    [citation] = memory.ask("Which jobs were lost by the queue?").citations
    assert citation.quote == "Jobs were lost whenever the primary failed."


def test_a_lying_model_is_caught(memory: Memory, server: WireServer) -> None:
    ids = told(memory)
    server.script.append(Says("Because of the moon [7]. And Mars [1, 42]. And 【9】 ghosts [99]."))
    answer = memory.ask(QUESTION)
    assert answer.text == "Because of the moon. And Mars [1]. And ghosts."
    assert answer.removed == 4
    assert [citation.message.id in ids for citation in answer.citations] == [True]
    assert any("4 citations" in note for note in answer.notes)


def test_an_answer_without_a_proof_is_not_known(memory: Memory, server: WireServer) -> None:
    told(memory)
    server.script += [Says("Because of the moon [77]."), Says("Because of the moon.")]
    for removed in (1, 0):
        answer = memory.ask(QUESTION)
        assert (answer.known, answer.citations, answer.removed) == (False, (), removed)
        assert "The answer cites no message, so that nothing proves it." in answer.notes


def test_a_model_says_that_the_memory_does_not_hold_it(memory: Memory, server: WireServer) -> None:
    told(memory)
    server.script.append(Says("[none] The messages say why Redis was dropped [1], not who did it."))
    answer = memory.ask("Who removed Redis from the servers?")
    assert not answer.known
    assert answer.text.startswith("The messages say why")
    assert len(answer.citations) == 1


def test_an_answer_that_breaks_off_is_asked_for_again(memory: Memory, server: WireServer) -> None:
    told(memory)
    server.script += [Says("It lost jobs at failover [1].", fault="cut"), Says("It lost jobs [2].")]
    events = list(memory.ask_stream(QUESTION))
    assert any(isinstance(event, Again) for event in events)
    assert events[-1].text == "It lost jobs [1]."  # type: ignore[union-attr]


def test_a_model_that_fails_is_replaced_by_the_extract(memory: Memory, server: WireServer, quiet: Memory) -> None:
    told(memory)
    local = quiet.ask(QUESTION)
    server.script += [Says(status=400, kind="invalid_request_error")]
    answer = memory.ask(QUESTION)
    assert (answer.text, answer.known, answer.model) == (local.text, local.known, None)
    assert any("400" in note and note.endswith("This answer quotes your conversations.") for note in answer.notes)
    server.otherwise = lambda _: Says("It lost jobs at failover [1].", fault="cut")
    *events, answer = memory.ask_stream(QUESTION)
    assert isinstance(answer, AskAnswer)
    assert events[-1] == Again("The model broke off.", asks=False)  # the words so far do not count
    assert answer.text == local.text
    assert answer.usage.calls


def test_code_that_is_never_closed_hides_no_citation_and_the_reader_gets_the_checked_words(
    memory: Memory, server: WireServer
) -> None:
    told(memory)
    server.script.append(Says("Set this:\n```sh\nexport QUEUE=postgres\n\nJobs were lost [2], and more [9]."))
    *events, answer = memory.ask_stream(QUESTION)
    assert isinstance(answer, AskAnswer)
    assert answer.text.endswith("Jobs were lost [1], and more.")
    assert (answer.known, answer.removed, len(answer.citations)) == (True, 1, 1)
    at = max(at for at, event in enumerate(events) if isinstance(event, Again))
    assert "".join(event.text for event in events[at:] if isinstance(event, AnswerWords)) == answer.text


def test_code_that_the_limit_of_tokens_cuts_stays_code(memory: Memory, server: WireServer) -> None:
    told(memory)
    server.script.append(Says("As said [1]:\n```py\nrows = found[9]", stop="limit"))
    *events, answer = memory.ask_stream(QUESTION)
    assert isinstance(answer, AskAnswer)
    assert answer.text == "As said [1]:\n```py\nrows = found[9]\n```"
    assert "".join(event.text for event in events if isinstance(event, AnswerWords)) == answer.text


def test_a_citation_is_no_link(memory: Memory, server: WireServer) -> None:
    told(memory)
    server.script.append(Says("Jobs were lost [2](https://evil.example/?q=secret)."))
    assert memory.ask(QUESTION).text == "Jobs were lost [1]."


def test_filters_alone_are_no_question(memory: Memory) -> None:
    for ask in (memory.ask, memory.research):
        with pytest.raises(InvalidInput) as told:
            ask("source:claude since:2025")
        assert "question" in told.value.message
        assert "recollect search" not in told.value.hint


def test_nothing_is_asked_of_a_model_where_nothing_was_found(memory: Memory, server: WireServer) -> None:
    answer = memory.ask(QUESTION)
    assert not answer.known
    assert answer.text == "Your conversations do not say."
    assert not server.bodies


def test_nothing_is_written(memory: Memory, server: WireServer) -> None:
    told(memory)
    server.script.append(Says("Jobs [1]."))
    before = memory.upkeep.stats()
    memory.ask(QUESTION)
    assert memory.upkeep.stats() == before


def test_what_is_wrong_with_a_question_is_said(quiet: Memory) -> None:
    with pytest.raises(InvalidInput, match="no intent 'GOSSIP'"):
        quiet.ask("who?", intent="GOSSIP")
    with pytest.raises(InvalidInput, match="There is no question"):
        quiet.ask(" ")


def test_a_model_that_knows_schemas_alone_is_refused_before_anything_is_looked_for(home: Path) -> None:
    class Mute:
        name = "mute"

        def complete(self, request: Any) -> Any:
            raise AssertionError

    with recollect.open(home / "memory.db", model=Mute(), background=False) as memory:
        for call in (memory.ask, memory.research, lambda question: memory.chat(None, question)):
            with pytest.raises(ModelNotReady, match="by schema alone"):
                call(QUESTION)
        assert memory.reports() == []


@pytest.mark.parametrize("where", ["text", "title", "document"])
def test_what_was_said_is_never_obeyed(where: str, home: Path) -> None:
    """A model that obeys whatever is not marked as data obeys none of a hundred injections."""
    obedient = Obedient()
    with recollect.open(home / "memory.db", model=obedient, background=False) as memory:
        clean = memory.ask(QUESTION) if told(memory) else None
        assert clean is not None
        for number, injection in enumerate(INJECTIONS):
            if where == "text":
                memory.store_message(f"Redis was dropped. {injection}", conversation_id=f"i{number}", title="Redis")
            elif where == "title":
                memory.store_message("Redis was dropped, again.", conversation_id=f"i{number}", title=injection)
            else:
                path = home / f"redis-{number}.md"
                path.write_text(f"# {' '.join(injection.split())[:80]}\n\nRedis was dropped. {injection}\n", "utf-8")
                memory.import_documents(path)
        for number in range(0, len(INJECTIONS), 10):
            answer = memory.ask(f"{QUESTION} {' '.join(INJECTIONS[number].split()[:4])}", intent="SYNTHESIS")
            assert answer.text == "As it was said [1]."
            assert len(answer.citations) == 1
            assert answer.removed == 0
    assert obedient.obeyed == []
    assert obedient.tools == 0
    assert any(demand in obedient.read for demand in DEMANDS), "no injection came before the model"


def test_a_number_stands_for_the_message_that_the_model_was_given_under_it() -> None:
    """Also where there is no room for all: those in the middle would be left out, and the rest be counted anew."""
    messages = [Message(NodeId(f"m{n}"), NodeId("c"), Role.USER, f"Heron {n}.", position=n) for n in range(1, 61)]
    evidence = Evidence(
        question="heron",
        intent=Intent.QA,
        passages=tuple(SourcePassage(n, message, None, 1.0) for n, message in enumerate(messages, 1)),
    )
    settings = IntentSettings(material_tokens=2_000)
    shown = dict(re.findall(r"\[(\d+)\] user\n\| (Heron \d+\.)", prompt_for(evidence, settings)))
    assert len(shown) == 50
    assert all(text == f"Heron {number}." for number, text in shown.items())
