"""What holds of every memory, whatever was done to it, told from the outside: by what is read and what is found."""

from __future__ import annotations

from recollect.index.passages import document_passages, threads_passages
from recollect.memory import Memory
from recollect.models.embedding.tokenizer import count_tokens
from recollect.record import Kind, Role, Thread, path_to
from recollect.text.terms import words
from tests.store.builders import embedder


def found(memory: Memory, words: str) -> list[str]:
    """The ids of the messages that hold these very words, whoever they come from, those with the same text too."""
    hits = memory.search(f'"{words}"', group_by="message", kind="all", limit=200)
    return [found for hit in hits for found in (hit.best.message.id, *hit.best.copies)]


def last_words(text: str) -> str:
    """Few enough to be demanded: what is quoted in a sentence is only wished for."""
    return " ".join(words(text)[-3:])


def threads_of(memory: Memory) -> list[Thread]:
    return [memory.conversation(row.conversation.id) for row in memory.conversations(limit=10_000)]


def assert_coherent(memory: Memory) -> None:
    """The invariants of the store; trees, turns and places; each living message found, once, and no other."""
    assert memory.upkeep.check() == []
    threads = threads_of(memory)
    for thread in threads:
        assert_tree(thread)
    assert memory.upkeep.stats().passages == passages_that_belong(memory, threads)
    for message in (message for thread in threads for message in thread.messages):
        if message.erased:
            assert (message.content, message.versions, message.parts, message.deleted) == ("", (), (), True)
        elif len(message.content) < 200 and message.content.strip():
            assert (message.id in found(memory, last_words(message.content))) == (not message.deleted), message


def passages_that_belong(memory: Memory, threads: list[Thread]) -> int:
    """How many passages the record makes: a doubled or forgotten one shows in the number."""
    count = 0
    for thread in threads:
        given = [(thread, {m.id for m in thread.messages}, True)]
        count += len(threads_passages(given, embedder=embedder(), count_tokens=count_tokens)[0])
    for document in memory.documents():
        count += len(document_passages(document, embedder=embedder(), count_tokens=count_tokens))
    return count


def assert_tree(thread: Thread) -> None:
    """Places are those of arrival, the active path is the way to the leaf, turns hold the answers to their query."""
    assert [m.position for m in thread.messages] == list(range(len(thread.messages)))
    parents = {m.id: m.parent_id for m in thread.messages}
    assert all(parent is None or parent in parents for parent in parents.values())
    path = path_to(thread.conversation.leaf_id, parents)
    assert {m.id for m in thread.messages if m.active} == set(path)
    assert not path or path[-1] == thread.conversation.leaf_id
    queries = [m for m in thread.messages if m.kind is Kind.SAID and m.role is Role.USER]
    asked = [turn.query_id for turn in thread.turns]
    assert len(asked) == len(set(asked))
    assert {m.id for m in queries if not m.erased} <= set(asked) <= {m.id for m in queries}
    answers: dict[str, list[str]] = {m.id: [] for m in queries}
    for message in thread.messages:
        if message.kind is Kind.SAID and message.role is Role.ASSISTANT:
            above = next((i for i in reversed(path_to(message.parent_id, parents)) if i in answers), None)
            if above is not None:
                answers[above].append(message.id)
    assert {turn.query_id: list(turn.response_ids) for turn in thread.turns} == {i: answers[i] for i in asked}
