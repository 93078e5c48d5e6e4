"""What a view answers, beside what the reference model says: every question of the port."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Any, Literal

from recollect.record import (
    REPORTS,
    Chunk,
    Conversation,
    Document,
    Message,
    Node,
    NodeId,
    PartKind,
    Thread,
    ToolCall,
    Turn,
    from_microseconds,
    to_microseconds,
)
from recollect.store import Counts, End, IndexInfo, Page, Revision, View, Where
from recollect.store.passages import CandidateQuery, Features, Filter, Partition
from tests.store.making_passages import FIRST, text_of, vector_of
from tests.store.reference_model import Generation, Known, Model, PassageKey

STORES: Mapping[Any, str] = {
    Conversation: "conversations", Message: "messages", ToolCall: "calls", Turn: "turns", Chunk: "chunks",
    Document: "documents", Node: "nodes",
}  # fmt: skip
OLDEST = -(1 << 63)
ALL = 100_000


def records(model: Model, kind: Any) -> list[Any]:
    """All of a kind by id, as a view gives them: a result that is a message of its own is filled in."""
    found = [record for _, record in sorted(getattr(model, STORES[kind]).items())]
    return [filled(model, record) for record in found] if kind is ToolCall else found


def filled(model: Model, call: ToolCall) -> ToolCall:
    told = model.messages.get(call.result_message_id) if call.result_message_id else None
    return replace(call, result=call.result or (told.content if told else ""))


# --- everything, after every step -----------------------------------------------------------------------------------
def assert_same(view: View, model: Model, now: datetime, turn: int = 0) -> None:
    """The record, the tasks, the state of the index, and what search finds in a partition, each in turn."""
    for kind in STORES:
        page = view.find(kind, Where(), limit=ALL)
        assert page == Page(records(model, kind)), kind.__name__
    revisions = {i: Revision(n, model.digests.get(i), model.is_erased(i)) for i, n in model.revisions.items()}
    assert view.revisions([*model.revisions, NodeId("nothing")]) == revisions
    assert view.edges(None) == [edge for _, edge in sorted(model.written.items())]
    assert view.counts() == counts(model, now)
    assert_same_tasks(view, model, now)
    assert index(view) == index_of(model)
    for conversation_id in model.conversations:
        assert_same_conversation(view, model, conversation_id)
    assert_found(view, model, Partition(turn % 3), ("heron", "tide", "proxy")[turn % 2])


def assert_same_conversation(view: View, model: Model, conversation_id: NodeId) -> None:
    conversation, messages = model.conversations[conversation_id], tuple(model.of(conversation_id))
    calls = [call for call in model.calls.values() if call.conversation_id == conversation_id]
    turns = [turn for turn in model.turns.values() if turn.conversation_id == conversation_id]
    turns.sort(key=lambda turn: (turn.position, turn.id))
    parents = {r.id for r in (*messages, *calls)}
    chunks = [chunk for chunk in model.chunks.values() if chunk.parent_id in parents]
    assert view.thread(conversation_id) == Thread(
        conversation,
        messages,
        tuple(sorted(calls, key=lambda call: (call.position, call.id))),
        tuple(turns),
        tuple(sorted(chunks, key=lambda chunk: (chunk.parent_id, chunk.part, chunk.index))),
    )
    assert view.end(conversation_id) == End(
        conversation,
        model.revisions[conversation_id],
        len(messages),
        model.messages[conversation.leaf_id] if conversation.leaf_id else None,
        turns[-1] if turns else None,
        any(m.speaker and m.kind == "said" for m in messages),
    )
    living = sum(not m.deleted for m in messages)
    assert view.sizes([conversation_id]) == {conversation_id: (living, len(messages))}


def counts(model: Model, now: datetime, of: list[NodeId] | None = None) -> Counts:
    """By the words of `Counts`; documents, nodes, chunks, passages and tasks are those of the whole namespace."""
    within = set(model.conversations if of is None else of)
    messages = [m for m in model.messages.values() if m.conversation_id in within and not m.deleted]
    times = [time for m in messages if (time := to_microseconds(m.timestamp)) is not None]
    living = {m.id for m in messages}
    known = model.live.living() if model.live else []
    said = [one for one in known if one.passage.partition is Partition.SAID]
    nodes = [n for n in model.nodes.values() if n.state == "live" and not n.erased]
    past = sum(n.state == "superseded" and n.kind.value == "fact" and not n.erased for n in model.nodes.values())
    chosen = [c for c in model.conversations.values() if c.id in within and not c.deleted]
    return Counts(
        conversations=len(chosen),
        messages=len(messages),
        active=sum(m.active for m in messages),
        by_kind=Counter(m.kind.value for m in messages),
        by_source=Counter(c.source for c in chosen),
        by_node=Counter(n.kind.value for n in nodes) + Counter(past=past),
        tool_calls=sum(call.message_id in living for call in model.calls.values()),
        attachments=sum(part.kind is not PartKind.REASONING for m in messages for part in m.parts),
        documents=sum(not d.erased and d.source != REPORTS for d in model.documents.values()),
        turns=sum(turn.query_id in living for turn in model.turns.values()),
        chunks=len(model.chunks),
        passages=sum(one.passage.partition is not Partition.DERIVED for one in known),
        said_passages=len(said),
        quality=sum(one.quality for one in said),
        tasks=Counter(held.state(now) for held in model.tasks.values()),
        first=from_microseconds(min(times, default=None)),
        last=from_microseconds(max(times, default=None)),
    )


def assert_same_tasks(view: View, model: Model, now: datetime) -> None:
    states: tuple[Literal["due", "leased", "dead"], ...] = ("due", "leased", "dead")
    for state in states:
        found = [held for held in model.tasks.values() if held.state(now) == state]
        found.sort(key=lambda held: (held.ready, held.order) if state == "due" else (held.order,))
        assert view.tasks(state) == [(held.task, held.why) for held in found], state


def index(view: View) -> IndexInfo:
    found = view.index()
    return replace(found, todo=tuple(sorted(found.todo)))


def index_of(model: Model) -> IndexInfo:
    live, building = model.live, model.building
    return IndexInfo(
        generation=live.number if live else 0,
        embedder=live.embedder if live else None,
        quality=any(known.quality for known in live.living()) if live else False,
        building=building.number if building else None,
        building_embedder=building.embedder if building else None,
        built=building.built if building else None,
        todo=tuple(sorted(building.todo)) if building else (),
    )


# --- what search finds ----------------------------------------------------------------------------------------------
def ask(view: View, model: Model, partition: Partition, term: str, **more: Any) -> Features:
    size = model.live.embedder.size if model.live else FIRST.size
    query = CandidateQuery(partition, (((term, 1.0),),), vector_of(term, size)[0], **more)
    return view.candidates(query)


def assert_found(view: View, model: Model, partition: Partition, term: str, *, texts: bool = True) -> None:
    """Exactly the living passages that hold a term. Without `texts` they are only counted."""
    features = ask(view, model, partition, term)
    living = living_in(model.live, partition)
    held = [known for known in living if term in known.passage.terms]
    holding = features.passages[features.holds[:, 0, 0] > 0].tolist()
    assert features.size == len(features) == len(living)
    assert features.frequencies.tolist() == [len(held)] == [len(holding)]
    if texts:
        assert sorted(keys(view, features)) == sorted(known.key for known in living)
        assert sorted(keys_of(view, holding)) == sorted(known.key for known in held)


def living_in(generation: Generation | None, partition: Partition) -> list[Known]:
    """Living passages in the order of writing."""
    found = [known for known in generation.living() if known.passage.partition is partition] if generation else []
    return sorted(found, key=lambda known: known.order)


def keys(view: View, features: Features) -> list[PassageKey]:
    return keys_of(view, features.passages.tolist())


def keys_of(view: View, numbers: list[int]) -> list[PassageKey]:
    found = view.passages(numbers)
    assert [text.number for text in found] == numbers
    return [(text.owner_id, text.part, text.start) for text in found]


def look_for(view: View, model: Model, random: Random) -> None:
    """Candidates under a filter and phrases; their texts; what has no quality vectors yet."""
    partition = random.choice(list(Partition))
    living = living_in(model.live, partition)
    times = sorted(p.timestamp for known in living if (p := known.passage).timestamp)
    some = [known.passage for known in living]
    wanted = Filter(
        roles=tuple(random.sample(["user", "assistant", "tool"], random.choice([0, 0, 1, 2]))),
        kinds=tuple(random.sample(sorted({p.kind for p in some}), 1)) if some and random.random() < 0.3 else (),
        sources=("claude",) if random.random() < 0.3 else (),
        conversation_ids=(NodeId("Conv-0"), NodeId("Conv-2")) if random.random() < 0.3 else None,
        since=random.choice(times) if times and random.random() < 0.3 else None,
        until=random.choice(times) if times and random.random() < 0.3 else None,
    )
    words = random.choice(some).words.split() if some else ["heron"]
    phrase = tuple(words[:2]) if random.random() < 0.5 else ()
    excluded = "nginx" if random.random() < 0.3 else ""
    found = ask(
        view,
        model,
        partition,
        "heron",
        filter=wanted,
        phrases=(phrase,) if phrase else (),
        excluded=((excluded,),) if excluded else (),
    )
    denied = {k.passage.message_id for k in living if excluded and excluded in k.passage.words.split()}
    expected = [
        known.key
        for known in living
        if passes(model, known, wanted)
        and (not phrase or f" {' '.join(phrase)} " in f" {known.passage.words} ")
        and (not excluded or excluded not in known.passage.words.split())
        and (not known.passage.message_id or known.passage.message_id not in denied)
    ]
    assert keys(view, found) == expected
    for text in view.passages(found.passages.tolist()):
        record = owner_of(model, text.owner_id)
        piece = next(known.passage for known in living if known.key == (text.owner_id, text.part, text.start))
        assert text.text == text_of(record, text.part)[piece.start : piece.end]
        assert (text.owner, text.message_id) == (piece.owner, piece.message_id)
        assert text.active == (text.message_id is None or model.messages[text.message_id].active), text
    bare = [known.key for known in reversed(living_in(model.live, Partition.SAID)) if not known.quality]
    limit = random.choice([1, 3, ALL])
    assert [(t.owner_id, t.part, t.start) for t in view.unembedded(limit)] == bare[:limit]


def owner_of(model: Model, owner: NodeId) -> Any:
    return next(getattr(model, of)[owner] for of in STORES.values() if owner in getattr(model, of))


def passes(model: Model, known: Known, wanted: Filter) -> bool:
    p = known.passage
    conversation = model.conversations.get(p.conversation_id) if p.conversation_id else None
    return (
        (not wanted.roles or p.role in wanted.roles)
        and (not wanted.kinds or p.kind in wanted.kinds)
        and (not wanted.sources or (conversation is not None and conversation.source in wanted.sources))
        and (wanted.conversation_ids is None or p.conversation_id in wanted.conversation_ids)
        and (wanted.since is None or (p.timestamp is not None and p.timestamp >= wanted.since))
        and (wanted.until is None or (p.timestamp is not None and p.timestamp < wanted.until))
    )


def assert_same_words(view: View, model: Model, random: Random) -> None:
    """The slow search in the record; speakers and years between what is sure and what may be."""
    words = random.sample(["heron", "tide", "STRASSE", "proxy", "重跑"], random.randint(1, 3))
    held = {
        m.id: sum(word.casefold() in m.content.casefold() for word in words)
        for m in model.messages.values()
        if not m.deleted
    }
    limit = random.choice([1, 3, ALL])
    found = [m for m in model.messages.values() if held.get(m.id)]
    found.sort(key=lambda m: (held[m.id], time_of(m), m.id), reverse=True)
    assert view.scan(words, limit) == found[:limit]
    said = [known.passage for known in living_in(model.live, Partition.SAID)]
    living = [m for m in model.messages.values() if not m.deleted and m.kind == "said"]
    speakers, years = view.speakers(), view.years()
    assert speakers == sorted(speakers)
    assert {p.speaker for p in said if p.speaker} <= set(speakers) <= {m.speaker for m in living}
    assert years == sorted(years)
    sure = {datetime.fromtimestamp(p.timestamp / 1e6, UTC).year for p in said if p.timestamp and p.part < 0}
    assert sure <= set(years) <= {m.timestamp.year for m in model.messages.values() if m.timestamp and not m.deleted}


def time_of(record: Any) -> int:
    """What the newest are sorted by; without a time the oldest."""
    for name in ("updated", "created", "timestamp", "valid_from"):
        if (moment := getattr(record, name, None)) is not None:
            return to_microseconds(moment) or 0
    return OLDEST


# --- what is simpler -----------------------------------------------------------------------------------------------
def assert_same_once_read(view: View, model: Model, now: datetime) -> None:
    """What an engine without snapshots keeps of a view: records by id, revisions, ends, the rows of the index."""
    for kind, name in STORES.items():
        if kind not in (Chunk, ToolCall):
            known = getattr(model, name)
            assert view.get(kind, list(known)) == list(known.values())
    revisions = view.revisions(list(model.revisions))
    assert {node_id: revision.number for node_id, revision in revisions.items()} == model.revisions
    for conversation_id in model.conversations:
        end = view.end(conversation_id)
        assert end is not None
        assert end.message_count == len(model.of(conversation_id))
    for partition in Partition:
        assert_found(view, model, partition, "heron", texts=False)


def assert_empty(view: View) -> None:
    """A namespace where nothing was ever written."""
    for kind in STORES:
        assert view.find(kind, Where()).items == []
    assert view.edges(None) == []
    assert view.counts() == Counts()
    assert view.index() == IndexInfo()
    assert view.named("Conv-1") == []
    assert view.get(Message, [NodeId("Msg-00")]) == []
    states: tuple[Literal["due", "leased", "dead"], ...] = ("due", "leased", "dead")
    assert not any(view.tasks(state) for state in states)
    for partition in Partition:
        assert_found(view, Model(), partition, "heron")
    assert view.speakers() == view.years() == []
    assert view.scan(["heron"], 9) == view.unembedded(9) == []
