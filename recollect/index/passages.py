"""From records to passages: what of a conversation can be found, and by which words, vectors and flags.

A text of up to 4,000 tokens is one passage, a longer one a passage a chunk, so that every part of it can be found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from recollect.models.embedding import Embedder, is_remote
from recollect.models.embedding.base import embed_with_runs
from recollect.record import (
    Chunk,
    Conversation,
    Document,
    Kind,
    Message,
    Node,
    NodeId,
    NodeKind,
    PartKind,
    Thread,
    ToolCall,
    to_microseconds,
)
from recollect.store import View
from recollect.store.passages import (
    DERIVED_KINDS,
    FINDABLE_STATES,
    PEOPLE,
    ROLE_SHIFT,
    ROLES,
    SAID_KINDS,
    Float,
    Owner,
    Partition,
    Passage,
)
from recollect.text.language import Flag, flags
from recollect.text.secrets import Secret, find_secrets, replaced
from recollect.text.sentences import CHUNK_TOKENS, Sentences, chunk_spans, cut_sentences
from recollect.text.terms import stemmed, words

#: A longer silence ends a session (RANKING.md 1).
SESSION_GAP = timedelta(hours=6)

#: Names that formats give to the sides of a chat: not people.
GENERIC_SPEAKERS = frozenset({"user", "assistant", "system", "human", "ai", "tool", ""})

_ABOVE = 32  # messages that are passed over on the way to what was said before
_CERTAINLY_SHORT = 4000  # characters: never more tokens than that
#: The kinds of derived nodes that are found by their words.
FOUND_NODES = (NodeKind.FACT, NodeKind.SUMMARY)

_PART_KINDS = {PartKind.ATTACHMENT: "attachment", PartKind.ARTIFACT: "artifact", PartKind.REASONING: "reasoning"}


@dataclass(frozen=True, slots=True)
class _Text:
    """A text to be indexed, before it is embedded."""

    owner: Owner
    owner_id: NodeId
    kind: str
    text: str
    role: str
    message: Message | None = None
    previous: Message | None = None  # what was said before it
    people: bool = False  # whether the conversation is one among named people
    conversation_id: NodeId | None = None
    part: int = -1
    tokens: int = 0  # where they are counted already
    label: str = ""  # words that lead to it beside its own: a speaker's or file's name, a fact's concept
    spans: tuple[tuple[int, int], ...] = ()  # of its chunks
    timestamp: int | None = None  # where there is no message to take it from


def is_person(speaker: str | None) -> bool:
    """Whether a speaker's name names somebody."""
    return (speaker or "").lower() not in GENERIC_SPEAKERS


def threads_passages(
    given: Iterable[tuple[Thread, Collection[NodeId], bool]],
    *,
    embedder: Embedder,
    count_tokens: Callable[[str], int],
) -> list[list[Passage]]:
    """For each conversation the passages of its fresh messages with their parts and tool calls and, where it says so,
    of its title. All are embedded together, which is faster than one after the other.
    """
    texts = [_thread_texts(thread, fresh, titled) for thread, fresh, titled in given]
    return _passages(texts, embedder, count_tokens)


def messages_passages(
    messages: Sequence[Message],
    previous: Mapping[NodeId, Message | None],
    calls: Mapping[NodeId, Sequence[ToolCall]],
    chunks: Mapping[NodeId, Sequence[Chunk]],
    *,
    people: bool,
    embedder: Embedder,
    count_tokens: Callable[[str], int],
) -> list[Passage]:
    """The passages of messages that are appended or edited, given what was said before each, their tool calls, and
    their chunks.
    """
    texts = [
        text
        for message in messages
        if not message.deleted
        for text in _message_texts(message, calls.get(message.id, ()), previous.get(message.id), people)
    ]
    return _passages([_with_chunks(texts, chunks)], embedder, count_tokens)[0]


def chunks_by_parent(chunks: Iterable[Chunk]) -> dict[NodeId, list[Chunk]]:
    """Chunks by what they are pieces of."""
    found: dict[NodeId, list[Chunk]] = {}
    for chunk in chunks:
        found.setdefault(chunk.parent_id, []).append(chunk)
    return found


def says_more(call: ToolCall, message: Message) -> bool:
    """Whether a call says more than the message that made it, whose words may be its arguments."""
    return bool(call.result) or call.arguments.strip() != message.content.strip()


def said_before(view: View, message: Message, living: Collection[NodeId] = ()) -> Message | None:
    """What was said before a message that stands, or will stand, below `parent_id`; `living` are messages that are
    brought back with it.
    """
    parents = view.get(Message, [message.parent_id]) if message.parent_id else []
    if not parents:
        return None
    passed = _is_passed_over(parents[0], message, living)
    above = [parents[0], *(view.above(parents[0].id, _ABOVE) if passed else ())]
    return next((other for other in above if not _is_passed_over(other, message, living)), None)


def _is_passed_over(above: Message, message: Message, living: Collection[NodeId] = ()) -> bool:
    """Whether something is no neighbour of what was said: tool output, hidden context, what is deleted."""
    gone = above.deleted and above.id not in living
    return message.kind is Kind.SAID and (above.kind is not Kind.SAID or gone or not above.content)


def title_passages(conversation: Conversation, embedder: Embedder, count_tokens: Callable[[str], int]) -> list[Passage]:
    """The passage of a conversation's title."""
    texts = [_title_text(conversation)] if conversation.title else []
    return _passages([texts], embedder, count_tokens)[0]


def document_passages(document: Document, *, embedder: Embedder, count_tokens: Callable[[str], int]) -> list[Passage]:
    """The passages of a document: its chunks; none of one that is hidden."""
    if document.hidden:
        return []
    text = _Text(
        Owner.DOCUMENT,
        document.id,
        "document",
        document.content,
        "system",
        label=document.title,
        timestamp=to_microseconds(document.created),
    )
    return _passages([[text]], embedder, count_tokens)[0]


def node_passages(node: Node, embedder: Embedder, count_tokens: Callable[[str], int]) -> list[Passage]:
    """The passages of a derived node: of living facts and summaries, and of facts that were superseded (kind "past").

    Its `body["concept"]`, where it has one, leads to it too. The time is that from which it holds.
    """
    if node.kind not in FOUND_NODES or node.erased or node.state not in FINDABLE_STATES or not node.text.strip():
        return []
    if node.state != "live" and node.kind is not NodeKind.FACT:
        return []
    if node.body.get("category") == "rule":  # rules stand in every context, and answer no question
        return []
    concept = node.body.get("concept")
    text = _Text(
        Owner.NODE,
        node.id,
        node.kind.value if node.state == "live" else "past",
        node.text,
        "system",
        conversation_id=node.conversation_id,
        label=concept if isinstance(concept, str) else "",
        timestamp=to_microseconds(node.valid_from),
    )
    return _passages([[text]], embedder, count_tokens)[0]


def _thread_texts(thread: Thread, fresh: Collection[NodeId], titled: bool) -> list[_Text]:
    by_id = {message.id: message for message in thread.messages}
    people = any(message.kind is Kind.SAID and is_person(message.speaker) for message in thread.messages)
    calls: dict[NodeId, list[ToolCall]] = {}
    for call in thread.tool_calls:
        calls.setdefault(call.message_id, []).append(call)
    texts = [_title_text(thread.conversation)] if titled and thread.conversation.title else []
    for message in thread.messages:
        if message.id in fresh and not message.deleted:
            texts += _message_texts(message, calls.get(message.id, ()), _before(message, by_id), people)
    return _with_chunks(texts, chunks_by_parent(thread.chunks))


def _with_chunks(texts: Iterable[_Text], chunks: Mapping[NodeId, Sequence[Chunk]]) -> list[_Text]:
    """The texts of messages with the places where they are cut."""
    return [
        replace(text, spans=_spans_of(text.text, [chunk for chunk in own if chunk.part == text.part]))
        if text.owner == Owner.MESSAGE and (own := chunks.get(text.owner_id))
        else text
        for text in texts
    ]


def _spans_of(text: str, chunks: Sequence[Chunk]) -> tuple[tuple[int, int], ...]:
    """Where chunks cut a text; nothing where they leave some of it out, or are too long for a passage."""
    chunks = sorted(chunks, key=lambda chunk: chunk.index)
    ends = [0, *(chunk.end for chunk in chunks)]
    covers = all(0 <= chunk.start <= end < chunk.end for chunk, end in zip(chunks, ends, strict=False))
    if not covers or ends[-1] != len(text) or any(chunk.tokens > CHUNK_TOKENS for chunk in chunks):
        return ()
    return tuple((chunk.start, chunk.end) for chunk in chunks)


def _title_text(conversation: Conversation) -> _Text:
    return _Text(
        Owner.CONVERSATION, conversation.id, "title", conversation.title, "system", conversation_id=conversation.id
    )


def _message_texts(
    message: Message, calls: Sequence[ToolCall], previous: Message | None, people: bool
) -> Iterator[_Text]:
    of_message: dict[str, Any] = {
        "role": message.role.value,
        "message": message,
        "previous": previous,
        "people": people,
        "conversation_id": message.conversation_id,
    }
    if message.content.strip():
        label = message.speaker or "" if people and message.kind is Kind.SAID and is_person(message.speaker) else ""
        yield _Text(
            Owner.MESSAGE,
            message.id,
            message.kind.value,
            message.content,
            tokens=message.tokens,
            label=label,
            **of_message,
        )
    for number, part in enumerate(message.parts):
        if part.text.strip() or part.name.strip():
            kind = _PART_KINDS.get(part.kind, "attachment")
            if kind in SAID_KINDS and message.kind is not Kind.SAID:
                kind = message.kind.value
            yield _Text(Owner.MESSAGE, message.id, kind, part.text, part=number, label=part.name, **of_message)
    for call in calls:
        if says_more(call, message):
            text = f"{call.name}: {call.arguments}\n{call.result}"
            yield _Text(Owner.TOOL_CALL, call.id, "tool", text, **of_message)


def _before(message: Message, by_id: dict[NodeId, Message]) -> Message | None:
    """The nearest message above that is its neighbour."""
    above = by_id.get(message.parent_id) if message.parent_id else None
    while above is not None and _is_passed_over(above, message):
        above = by_id.get(above.parent_id) if above.parent_id else None
    return above


def _passages(
    groups: Sequence[Sequence[_Text]],
    embedder: Embedder,
    count_tokens: Callable[[str], int],
) -> list[list[Passage]]:
    """The passages of each group of texts."""
    pieces = [
        (group, text, index, span)
        for group, texts in enumerate(groups)
        for text in texts
        for index, span in enumerate(_spans(text, count_tokens))
    ]
    contents = [text.text[start:end] or text.label for _, text, _, (start, end) in pieces]
    partitions = [_partition(text.kind) for _, text, _, _ in pieces]
    secrets = list(_secrets(pieces))
    sent = list(map(replaced, contents, secrets)) if is_remote(embedder) else contents
    cut = [_cut(content, partition) for content, partition in zip(sent, partitions, strict=True)]
    whole, windows = embed_with_runs(embedder, cut)
    found: list[list[Passage]] = [[] for _ in groups]
    at = 0
    for i, (group, text, index, (start, end)) in enumerate(pieces):
        own = windows[at : at + len(cut[i].runs)]
        at += len(cut[i].runs)
        passage = _passage(text, index, start, end, contents[i], whole[i], own, partitions[i])
        if secrets[i]:
            passage = replace(passage, flags=passage.flags | Flag.SECRET)
        found[group].append(passage)
    return found


def _secrets(pieces: Iterable[tuple[int, _Text, int, tuple[int, int]]]) -> Iterator[list[Secret]]:
    """The secrets in each piece of texts, or what of them is in it. Those of a text are found once, in all of it: a
    line of a key, or the half of one, tells nothing by itself.
    """
    looked_at: _Text | None = None
    found: list[Secret] = []
    for _, text, _, (start, end) in pieces:
        if text is not looked_at:
            looked_at, found = text, find_secrets(text.text)
        inside = [one for one in found if one.start < end and start < one.end]
        yield [one._replace(start=max(one.start, start) - start, end=min(one.end, end) - start) for one in inside]


def _passage(
    text: _Text,
    index: int,
    start: int,
    end: int,
    content: str,
    vector: Float,
    windows: Float,
    partition: Partition,
) -> Passage:
    message, previous, people = text.message, text.previous, text.people
    labelled = f"{text.label}: {content}" if text.label and content != text.label else content
    surface = words(labelled)
    bits = int(flags(content)) | ROLES.index(text.role) << ROLE_SHIFT
    return Passage(
        owner=text.owner,
        owner_id=text.owner_id,
        message_id=message.id if message else None,
        conversation_id=text.conversation_id,
        partition=partition,
        kind=text.kind,
        role=text.role,
        speaker=message.speaker if message and text.part < 0 and people and is_person(message.speaker) else None,
        timestamp=to_microseconds(message.timestamp) if message else text.timestamp,
        part=text.part,
        chunk=index,
        start=start,
        end=end,
        terms=Counter(stemmed(surface)),
        words=" ".join(surface),
        flags=bits | PEOPLE if people and partition == Partition.SAID else bits,
        vector=vector,
        windows=windows,
        previous_id=previous.id if previous else None,
        continues=previous is not None and message is not None and _same_session(previous, message),
    )


def _same_session(before: Message, after: Message) -> bool:
    if before.timestamp is None or after.timestamp is None:
        return True
    return after.timestamp - before.timestamp <= SESSION_GAP


def _partition(kind: str) -> Partition:
    if kind in ("title", "document"):
        return Partition.TITLE if kind == "title" else Partition.DOCUMENT
    if kind in DERIVED_KINDS:
        return Partition.DERIVED
    return Partition.SAID if kind in SAID_KINDS else Partition.OTHER


def _spans(of: _Text, count_tokens: Callable[[str], int]) -> Sequence[tuple[int, int]]:
    """Where a text is cut: as its chunks are, and in no case a passage is longer than 4,000 tokens."""
    if of.spans:
        return of.spans
    if len(of.text) <= _CERTAINLY_SHORT or (of.tokens or count_tokens(of.text)) <= CHUNK_TOKENS:
        return [(0, len(of.text))]
    return [(span.start, span.end) for span in chunk_spans(of.text, count_tokens=count_tokens)]


def _cut(content: str, partition: Partition) -> Sentences:
    """The sentences with their runs; no runs where there is but one, which is the whole, nor for tool output and
    titles.
    """
    if partition in (Partition.OTHER, Partition.TITLE):
        return Sentences(content, [content], [], [])
    cut = cut_sentences(content)
    return cut if len(cut.runs) > 1 else replace(cut, runs=[])
