"""What programs write that use Recollect, for type checkers alone: each line must be taken as it is."""

from __future__ import annotations

from datetime import datetime
from typing import assert_type

import recollect
from recollect.answer.results import AnswerWords, AskAnswer, Report, Step
from recollect.answer.results import ChatAnswer as Turn
from recollect.record import Message, Role
from recollect.search.results.result import Hit
from recollect.testing import FakeModel


def in_a_program(memory: recollect.Memory) -> str:
    """The sync face."""
    results = memory.search("bike", group_by="message", mode="instant", sort="newest", role=["user", Role.ASSISTANT])
    assert_type(results[0], Hit)
    assert_type(results[:2], tuple[Hit, ...])
    assert_type(results[0].best.message, Message)
    assert_type(memory.upkeep.stats().first, datetime | None)
    assert_type(memory.ask("which bike?"), AskAnswer)
    memory.store_message("A bike.", "user")
    for event in memory.ask_stream("which bike?"):
        match event:
            case Step(name, detail):
                print(name, detail)
            case AnswerWords(text):
                print(text)
            case AskAnswer():
                return event.text
            case _:
                print(event.why)
    return "".join(hit.conversation.title for hit in results)


async def in_an_async_program() -> None:
    """The async face, which has the types of the sync one."""
    async with recollect.AsyncMemory.open("memory.db", model=FakeModel("Yes [1].")) as memory:
        assert_type(await memory.ask("which bike?"), AskAnswer)
        assert_type(await memory.chat(None, "which bike?"), Turn)
        assert_type(await memory.research("which bike?"), Report)
        async for event in memory.ask_stream("which bike?"):
            if isinstance(event, AskAnswer):
                assert_type(event, AskAnswer)
        async for turn in memory.chat_stream(None, "which bike?"):
            if isinstance(turn, AnswerWords):
                print(turn.text)
        async for step in memory.research_stream("which bike?"):
            if isinstance(step, Report):
                print(step.title)
        assert_type((await memory.search("bike"))[0], Hit)


def with_models_of_ones_own() -> None:
    """A function is a model, and so is the fake that tests use."""
    with recollect.open("memory.db", model=lambda prompt: prompt[:9], asked_model=FakeModel("No.")) as memory:
        memory.ask("which bike?")
