"""One conversation that is lived in: said, edited, deleted, restored, branched, with tool results of 200,000 tokens.

Whatever is done, in whatever order: the record is what was said, the chunks cover it, what was just written is found,
what is deleted is not, tools and context stay within their sizes.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from recollect.answer.tools.output import count
from recollect.errors import InvalidInput, NotFound
from recollect.record.nodes import MessageChunk
from tests.coherent import assert_tree
from tests.exports import opened

CHUNK = 4_000
ROLES = st.sampled_from(["user", "assistant"])
PLACES = st.floats(0, 1)


def marker(number: int) -> str:
    """A word that nobody else says."""
    return f"kestrel{number}x"


def short(number: int, _: float) -> str:
    return f"The {marker(number)} was seen over the weir."


def long(number: int, place: float) -> str:
    lines = [f"Paragraph {i} speaks of tides and moorings at some length." for i in range(700)]
    lines.insert(int(place * len(lines)), f"Here the {marker(number)} was seen.")
    return "\n\n".join(lines)


@cache
def _huge() -> list[str]:
    return [f"Line {i}: swell of {i % 97} cm, period of {i % 13} s." for i in range(14_300)]


def huge(number: int, place: float) -> str:
    lines = list(_huge())
    lines.insert(int(place * len(lines)), f"Here the {marker(number)} was seen.")
    return "\n".join(lines)


TEXTS = st.sampled_from([short, short, short, long])


@dataclass
class Known:
    """What a message is known to be."""

    id: str
    marker: str
    text: str
    before: list[str] = field(default_factory=list)
    deleted: bool = False


class Endless(RuleBasedStateMachine):
    """A conversation, and what it should be."""

    said = Bundle("said")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.memory = opened(self.folder / "memory.db")
        self.known: dict[str, Known] = {}
        self.number = 0
        self.huge = 0

    def teardown(self) -> None:
        self.memory.close()
        shutil.rmtree(self.folder)

    def learned(self, id: str, text: str) -> str:
        """What was just written is found, by its word, at the piece that holds it."""
        self.known[id] = Known(id, marker(self.number), text)
        self.assert_found(self.known[id])
        return id

    def next(self, text: object, place: float) -> str:
        self.number += 1
        made: str = text(self.number, place)  # type: ignore[operator]
        return made

    # --- what is done ----------------------------------------------------------------------------------------------
    @initialize(target=said, text=TEXTS, place=PLACES)
    def begin(self, text: object, place: float) -> str:
        words = self.next(text, place)
        return self.learned(self.memory.store_message(words, conversation_id="C", title="Endless").id, words)

    @rule(target=said, text=TEXTS, place=PLACES, role=ROLES)
    def say(self, text: object, place: float, role: str) -> str:
        words = self.next(text, place)
        return self.learned(self.memory.store_message(words, role, conversation_id="C").id, words)

    @rule(target=said, before=said, text=TEXTS, place=PLACES, role=ROLES)
    def branch(self, before: str, text: object, place: float, role: str) -> str:
        words = self.next(text, place)
        stored = self.memory.store_message(words, role, parent_id=before)
        assert stored.parent_id == before
        return self.learned(stored.id, words)

    @rule(target=said, place=PLACES, many=st.integers(1, 4))
    def say_several(self, place: float, many: int) -> str:
        given = [(self.next(short, place), marker(self.number)) for _ in range(many)]
        stored = self.memory.store_messages([{"content": words} for words, _ in given], conversation_id="C")
        for message, (words, word) in zip(stored, given, strict=True):
            self.known[message.id] = Known(message.id, word, words)
            self.assert_found(self.known[message.id])
        return stored[-1].id

    @rule(target=said, asked=said, text=TEXTS, place=PLACES)
    def call_a_tool(self, asked: str, text: object, place: float) -> str:
        words = self.next(text, place)
        call = self.memory.store_tool_call("look", {"at": "the weir"}, words, asked)
        assert self.memory.toolbox().get_tool_call(call.id).result == words
        return self.learned(call.result_message_id or "", words)

    @rule(target=said, asked=said, place=PLACES)
    def call_a_tool_that_says_too_much(self, asked: str, place: float) -> str:
        if self.huge == 2:  # two of them in one talk will do
            return asked
        self.huge += 1
        words = self.next(huge, place)
        assert len(words) > 500_000
        call = self.memory.store_tool_call("log", "{}", words, asked)
        return self.learned(call.result_message_id or "", words)

    @rule(id=said, text=TEXTS, place=PLACES)
    def edit(self, id: str, text: object, place: float) -> None:
        known = self.known[id]
        words = self.next(text, place)
        edited = self.memory.update_message(id, words)
        known.before.append(known.text)
        known.text, known.marker = words, marker(self.number)
        assert (edited.id, edited.content) == (id, words)
        if not known.deleted:
            self.assert_found(known)

    @rule(ids=st.lists(said, min_size=1, max_size=4, unique=True), text=TEXTS, place=PLACES)
    def edit_several(self, ids: list[str], text: object, place: float) -> None:
        given = [(own, self.next(text, place), marker(self.number)) for own in ids]
        self.memory.integration.update_messages({"id": own, "content": words} for own, words, _ in given)
        for own, words, word in given:
            known = self.known[own]
            known.before.append(known.text)
            known.text, known.marker = words, word
            if not known.deleted:
                self.assert_found(known)

    @rule(id=said)
    def delete(self, id: str) -> None:
        self.memory.delete(id)
        self.known[id].deleted = True
        assert self.found(self.known[id].marker) == []

    @rule(id=said)
    def restore(self, id: str) -> None:
        self.memory.restore(id)
        self.known[id].deleted = False
        self.assert_found(self.known[id])

    @rule(id=said, at=PLACES)
    def edit_a_chunk(self, id: str, at: float) -> None:
        if self.known[id].deleted:
            return
        pieces = [p for p in self.memory.toolbox().get_message_with_chunks(id) if isinstance(p, MessageChunk)]
        if pieces:
            piece = pieces[int(at * (len(pieces) - 1))]
            with pytest.raises(InvalidInput, match="a chunk cannot be changed by itself"):
                self.memory.update_message(piece.id, "Something else.")

    # --- what holds ------------------------------------------------------------------------------------------------
    @invariant()
    def the_store_is_whole(self) -> None:
        assert self.memory.upkeep.check() == []

    @invariant()
    def the_record_is_what_was_said(self) -> None:
        if not self.known:
            return
        thread = self.memory.conversation("C") if any(not k.deleted for k in self.known.values()) else None
        if thread is not None:
            assert_tree(thread)
            assert {m.id for m in thread.messages} == set(self.known)
        for message in self.memory.messages(self.known):
            known = self.known[message.id]
            assert message.content == known.text
            assert [version.content for version in message.versions] == known.before
            assert message.deleted == known.deleted

    @invariant()
    def chunks_cover_every_text(self) -> None:
        for known in self.known.values():
            if known.deleted:
                with pytest.raises(NotFound, match="was deleted"):
                    self.memory.toolbox().get_message_by_id(known.id)
                continue
            pieces = self.memory.toolbox().get_message_with_chunks(known.id)
            if not isinstance(pieces[0], MessageChunk):
                assert pieces == [self.memory.toolbox().get_message_by_id(known.id)]
                assert count(known.text) <= CHUNK * 1.1  # what a message costs is estimated where it is long
                continue
            end = 0
            for piece in pieces:
                assert isinstance(piece, MessageChunk)
                assert piece.chunk_parent_id == known.id
                assert piece.tokens <= CHUNK
                start = known.text.index(piece.content, max(0, end - 4 * CHUNK))
                assert start <= end, "a gap"
                end = start + len(piece.content)
            assert end == len(known.text)
            middle = pieces[len(pieces) // 2]
            assert self.memory.toolbox().get_message_by_id(middle.id) == middle

    @rule(word=st.integers(1, 30), most=st.sampled_from([400, 1_000, 4_500]))
    def tools_stay_within_their_size(self, word: int, most: int) -> None:
        box = self.memory.toolbox(max_tokens=most)
        some = list(self.known)[word % len(self.known)]
        for name, arguments in [
            ("vector_search", {"query": f"{marker(word)} over the weir"}),
            ("search_and_retrieve", {"query": "swell and period of tides"}),
            ("get_message_by_id", {"id": some}),
            ("get_message_with_chunks", {"id": some}),
            ("get_conversation_thread", {"message_id": some}),
            ("get_messages_by_ids", {"ids": list(self.known)[:50]}),
        ]:
            answer = box.call(name, arguments)
            assert answer.tokens == count(answer.text) <= most
            assert answer.is_error == (
                (self.known[some].deleted and "by_ids" not in name and "search" not in name)
                or (name == "get_messages_by_ids" and all(k.deleted for k in list(self.known.values())[:50]))
            ), answer.text

    @rule(budget=st.integers(300, 10_000), word=st.integers(1, 30))
    def a_context_is_never_over_its_budget(self, budget: int, word: int) -> None:
        if all(known.deleted for known in self.known.values()):
            return
        context = self.memory.prepare_context(f"Where was the {marker(word)} seen?", "C", budget)
        assert context.tokens <= budget
        assert sum(count(message["content"]) for message in context.messages) <= context.tokens
        gone = [known.marker for known in self.known.values() if known.deleted and known.marker != marker(word)]
        assert not any(f"{word_} " in message["content"] for word_ in gone for message in context.messages)

    # --- searching -------------------------------------------------------------------------------------------------
    def found(self, word: str) -> list[str]:
        results = self.memory.search(f'"{word}"', group_by="message", kind="all", limit=50)
        return [
            own for hit in results if word in hit.best.snippet.text for own in (hit.best.message.id, *hit.best.copies)
        ]

    def assert_found(self, known: Known) -> None:
        assert self.found(known.marker) == [known.id]
        best = self.memory.toolbox().vector_search(f'"{known.marker}"', 1)[0]
        opened_ = self.memory.toolbox().get_tool_call(best.id).result if best.type == "tool_call" else None
        text = opened_ if opened_ is not None else self.memory.toolbox().get_message_by_id(best.id).content
        assert known.marker in text
        assert count(text) <= CHUNK * 1.1


def run(examples: int, steps: int) -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Endless,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            phases=(Phase.generate,),  # a smaller example would take minutes to find
        ),
    )


def test_whatever_is_done_in_it_the_conversation_holds() -> None:
    run(4, 10)


@pytest.mark.long
def test_the_same_for_many_more() -> None:
    run(60, 40)
