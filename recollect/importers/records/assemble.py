"""From drafts to records: ids, the tree, the active path, turns and chunks, the same for every format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.importers.base import DraftCall, DraftConversation, DraftDocument, DraftMessage, Problems
from recollect.record import (
    Chunk,
    Conversation,
    Document,
    Kind,
    Message,
    Namespace,
    NodeId,
    Part,
    Role,
    Thread,
    ToolCall,
    Turn,
    iso,
    stable_id,
    to_microseconds,
)
from recollect.text.clean import clean_metadata, clean_text, clean_title, cut_recall
from recollect.text.sentences import USUAL, Chunking, chunk_spans

_ROOT = -1
_COMPARED = 8  # a source that gives one id to everything must not make us compare all with all


@dataclass(frozen=True, slots=True)
class Placed:
    """A message at its place. `parent` is the index of another in the same list, None for a root.

    `ordinal` is its place among the source's messages; `copy` counts, from 0, those that share its source id.
    """

    draft: DraftMessage
    ordinal: int
    copy: int
    parent: int | None
    active: bool


@dataclass(frozen=True, slots=True)
class TreeShape:
    """A conversation's messages in reading order: each after its parent, the active path first.

    `names` leads from keys and source ids to places in it, `leaf` to the end of the active path; `clashes` counts the
    messages that stood under the id of another.
    """

    placed: tuple[Placed, ...]
    names: dict[str, int]
    leaf: int | None
    clashes: int


@dataclass(slots=True)
class _Node:
    draft: DraftMessage
    ordinal: int
    copy: int
    others: tuple[str, ...] = ()  # what its other copies name as parent


def shape(drafts: Sequence[DraftMessage], *, linear: bool, leaf: str | None) -> TreeShape:
    """Puts a conversation's messages in their places.

    Copies of one message become one, in the first one's place, the fuller text kept; what has no words, parts or calls
    is left out and its children hang on its nearest kept ancestor; unknown parents make roots; a circle is opened at
    its first message. In linear conversations each follows the one before it and all are active.
    """
    nodes, names, clashes = _without_copies(drafts, linear=linear)
    parents = list(range(-1, len(nodes) - 1)) if linear else _open_circles(_named_parents(nodes, names))
    kept = [_says_anything(node.draft) for node in nodes]
    holders = _nearest_kept(parents, kept)
    above = [_ROOT if parent == _ROOT else holders[parent] for parent in parents]
    end = _leaf(nodes, kept, above, holders, linear=linear, leaf=names.get(leaf) if leaf else None)
    path = _path(above, end)
    order = _reading_order(kept, above, path)
    place = {node: position for position, node in enumerate(order)}
    placed = tuple(
        Placed(nodes[at].draft, nodes[at].ordinal, nodes[at].copy, place.get(above[at]), linear or at in path)
        for at in order
    )
    found = {name: place[at] for name, at in names.items() if at in place}
    return TreeShape(placed, found, place.get(end), clashes)


def _says_anything(draft: DraftMessage) -> bool:
    return bool(draft.parts or draft.calls or draft.content.strip())


def _without_copies(drafts: Sequence[DraftMessage], *, linear: bool) -> tuple[list[_Node], dict[str, int], int]:
    """One node a message, the names that lead to them, and how many messages shared an id without being copies."""
    nodes: list[_Node] = []
    keys: dict[str, int] = {}
    first: dict[str, int] = {}
    clashing: dict[str, list[int]] = {}  # the nodes after the first, where one id stands for several messages
    clashes = 0
    for ordinal, draft in enumerate(drafts):
        at, copy = None, 0
        if draft.source_id in first:
            same = [first[draft.source_id], *clashing.get(draft.source_id, ())[-_COMPARED:]]
            at = next((at for at in same if _join_copies(nodes[at], draft, exact=linear)), None)
        if at is None:
            at = len(nodes)
            if draft.source_id and first.setdefault(draft.source_id, at) != at:
                clashing.setdefault(draft.source_id, []).append(at)
                copy = len(clashing[draft.source_id])
                clashes += 1
            nodes.append(_Node(draft, ordinal, copy))
        if draft.key:
            keys.setdefault(draft.key, at)
    return nodes, first | keys, clashes


def _join_copies(node: _Node, later: DraftMessage, *, exact: bool) -> bool:
    """Takes the later copy into the node, if it is one: the same message, or one of the two the beginning of the other.

    The last copy counts, unless it is the shorter one. `exact`: in a list, where a program may give one id to several,
    only the same words are a copy.
    """
    if node.draft.role is not later.role or (exact and node.draft.content != later.content):
        return False
    if _continues(node.draft, later):
        other, node.draft = node.draft.parent, later
    elif _continues(later, node.draft):
        other = later.parent
    else:
        return False
    if other and other not in node.others and len(node.others) < _COMPARED:
        node.others = (*node.others, other)
    return True


def _continues(first: DraftMessage, second: DraftMessage) -> bool:
    """Whether the second holds all that the first holds, and perhaps more."""
    return (
        second.content.startswith(first.content)
        and len(second.parts) >= len(first.parts)
        and len(second.calls) >= len(first.calls)
        and all(_part_continues(*pair) for pair in zip(first.parts, second.parts, strict=False))
        and all(_call_continues(*pair) for pair in zip(first.calls, second.calls, strict=False))
    )


def _part_continues(first: Part, second: Part) -> bool:
    return first.kind is second.kind and first.name == second.name and second.text.startswith(first.text)


def _call_continues(first: DraftCall, second: DraftCall) -> bool:
    return (
        first.name == second.name
        and second.arguments.startswith(first.arguments)
        and second.result.startswith(first.result)
    )


def _named_parents(nodes: Sequence[_Node], names: dict[str, int]) -> list[int]:
    """The parent of each node by its name; itself and what is nowhere do not count."""
    parents: list[int] = []
    for at, node in enumerate(nodes):
        parent = names.get(node.draft.parent, _ROOT) if node.draft.parent else _ROOT
        if parent in (_ROOT, at):
            found = (names.get(name, _ROOT) for name in node.others)
            parent = next((other for other in found if other not in (_ROOT, at)), _ROOT)
        parents.append(parent)
    return parents


def _open_circles(parents: list[int]) -> list[int]:
    """The same parents, but that the first message of each circle is a root."""
    done = [False] * len(parents)
    for start in range(len(parents)):
        walk: dict[int, None] = {}
        at = start
        while at != _ROOT and not done[at] and at not in walk:
            walk[at] = None
            at = parents[at]
        if at in walk:
            circle = list(walk)
            parents[min(circle[circle.index(at) :])] = _ROOT
        for seen in walk:
            done[seen] = True
    return parents


def _nearest_kept(parents: Sequence[int], kept: Sequence[bool]) -> list[int]:
    """For each node itself, if it is kept, else its nearest kept ancestor."""
    nearest: list[int | None] = [at if keep else None for at, keep in enumerate(kept)]
    for start in range(len(parents)):
        walk: list[int] = []
        at = start
        while at != _ROOT and nearest[at] is None:
            walk.append(at)
            at = parents[at]
        holder = _ROOT if at == _ROOT else nearest[at]
        for joint in walk:
            nearest[joint] = holder
    return [_ROOT if at is None else at for at in nearest]


def _leaf(
    nodes: Sequence[_Node],
    kept: Sequence[bool],
    above: Sequence[int],
    holders: Sequence[int],
    *,
    linear: bool,
    leaf: int | None,
) -> int:
    """The end of the active path: the one that the source names, else the newest (of equals the last given)."""
    if not linear and leaf is not None and holders[leaf] != _ROOT:
        return holders[leaf]
    kept_nodes = [at for at in range(len(nodes)) if kept[at]]
    if linear:
        return kept_nodes[-1] if kept_nodes else _ROOT
    inner = {above[at] for at in kept_nodes}
    leaves = (at for at in kept_nodes if at not in inner)
    return max(leaves, key=lambda at: (to_microseconds(nodes[at].draft.timestamp) or 0, at), default=_ROOT)


def _path(above: Sequence[int], leaf: int) -> set[int]:
    path: set[int] = set()
    while leaf != _ROOT:
        path.add(leaf)
        leaf = above[leaf]
    return path


def _reading_order(kept: Sequence[bool], above: Sequence[int], path: set[int]) -> list[int]:
    """Depth first from the roots, siblings in the order given, except that the active path comes before all else."""
    children: dict[int, list[int]] = {}
    for at, keep in enumerate(kept):
        if keep:
            children.setdefault(above[at], []).append(at)
    order: list[int] = []
    waiting = _last_first(children.get(_ROOT, []), path)
    while waiting:
        at = waiting.pop()
        order.append(at)
        if at in children:
            waiting += _last_first(children[at], path)
    return order


def _last_first(siblings: list[int], path: set[int]) -> list[int]:
    return siblings if len(siblings) == 1 else sorted(siblings, key=lambda at: (at in path, -at))


#: Names by which formats call the two sides of a chat: no persons.
_SIDES = frozenset({"user", "assistant", "system", "human", "ai", "tool"})
_MOST_BYTES = 4  # of a character in UTF-8: no tokenizer makes more tokens of a text than it has bytes


def assemble(
    draft: DraftConversation,
    namespace: Namespace,
    *,
    count_tokens: Callable[[str], int],
    problems: Problems | None = None,
) -> Thread:
    """The thread that a draft describes, with deterministic ids: the same draft gives the same thread, for ever.

    The ids come from the source and its ids alone; `namespace` is where the thread is going to be written, and the
    store keeps namespaces apart. Where different messages stand under one id, all are kept and `problems` is told.
    """
    key = draft.source_id or _beginning(draft)
    conversation_id = stable_id("conversation", draft.source, key)
    formed = shape(_tidied(draft.messages), linear=draft.linear, leaf=draft.leaf)
    if formed.clashes and problems is not None:
        problems.partial(draft.place, f"{formed.clashes} messages stand under the id of another; all are kept")
    messages = _messages(draft.source, key, conversation_id, formed, count_tokens)
    calls = tuple(_tool_calls(formed, messages))
    return Thread(
        conversation=_conversation(draft, conversation_id, formed, messages),
        messages=messages,
        tool_calls=calls,
        turns=turns_of(messages),
        chunks=tuple(_all_chunks(messages, calls, count_tokens)),
    )


def assemble_document(draft: DraftDocument, namespace: Namespace) -> Document:
    """The document that a draft describes, with a deterministic id (see `assemble` for the namespace)."""
    return Document(
        id=stable_id("document", draft.source, draft.source_id),
        source=draft.source,
        title=clean_title(draft.title),
        content=clean_text(draft.content),
        source_id=clean_text(draft.source_id),
        created=draft.created,
        metadata=clean_metadata(draft.metadata),
    )


def chunks_of(
    parent: NodeId, text: str, *, count_tokens: Callable[[str], int], part: int = -1, chunking: Chunking = USUAL
) -> Iterator[Chunk]:
    """The chunks of a text of more tokens than one may have; none for a shorter one, which is its own piece."""
    if len(text) * _MOST_BYTES <= chunking.size or count_tokens(text) <= chunking.size:
        return
    spans = chunk_spans(text, chunking, count_tokens=count_tokens)
    for index, span in enumerate(spans):
        chunk_id = stable_id("chunk", parent, part, index)
        yield Chunk(chunk_id, parent, index, span.start, span.end, span.tokens, part)


def _beginning(draft: DraftConversation) -> str:
    """What makes the id of a conversation without one: its title, time, and the first things said on either side.

    More is not taken, so that it mostly keeps its id when it grows. Whether it is the conversation of this id, its
    words decide (`identity`).
    """
    said = [m for m in draft.messages if m.kind is Kind.SAID and m.content.strip()][:2]
    words = [value for m in said for value in (m.role, m.speaker, m.content, iso(m.timestamp))]
    return stable_id(draft.title, iso(draft.created), *words)


def _tidied(drafts: Sequence[DraftMessage]) -> list[DraftMessage]:
    """Clean text, without our own recall, with the speaker's name out of the text and in its place."""
    speakers = {
        draft.speaker for draft in drafts if draft.kind is Kind.SAID and draft.speaker and _is_person(draft.speaker)
    }
    return [_tidied_message(draft, speakers) for draft in drafts]


def _tidied_message(draft: DraftMessage, speakers: set[str]) -> DraftMessage:
    content, speaker = clean_text(draft.content), draft.speaker
    if draft.kind is Kind.SAID:
        content = cut_recall(content)
        speaker, content = _split_speaker(speaker, content, speakers)
    if content == draft.content and speaker == draft.speaker:
        return draft
    return replace(draft, content=content, speaker=speaker)


def _split_speaker(speaker: str | None, content: str, speakers: set[str]) -> tuple[str | None, str]:
    """In a chat of named people "Anna: Hello" is Anna saying "Hello", unless somebody else is named as the speaker."""
    name, colon, words = content.partition(": ") if speakers else ("", "", "")
    if colon and name in speakers and (speaker == name or not speaker or not _is_person(speaker)):
        return name, words
    return speaker, content


def _is_person(speaker: str) -> bool:
    return speaker.casefold() not in _SIDES


def _messages(
    source: str, key: str, conversation_id: NodeId, formed: TreeShape, count_tokens: Callable[[str], int]
) -> tuple[Message, ...]:
    ids = [_message_id(source, key, placed) for placed in formed.placed]
    return tuple(
        Message(
            id=ids[position],
            conversation_id=conversation_id,
            role=placed.draft.role,
            content=placed.draft.content,
            kind=placed.draft.kind,
            speaker=clean_title(placed.draft.speaker) if placed.draft.speaker else None,
            timestamp=placed.draft.timestamp,
            parent_id=None if placed.parent is None else ids[placed.parent],
            source_id=clean_text(placed.draft.source_id) if placed.draft.source_id else None,
            position=position,
            active=placed.active,
            model=clean_title(placed.draft.model) if placed.draft.model else None,
            tokens=count_tokens(placed.draft.content) if placed.draft.content else 0,
            parts=tuple(clean_part(part) for part in placed.draft.parts),
            metadata=clean_metadata(placed.draft.metadata) if placed.draft.metadata else placed.draft.metadata,
        )
        for position, placed in enumerate(formed.placed)
    )


def _message_id(source: str, key: str, placed: Placed) -> NodeId:
    draft = placed.draft
    if not draft.source_id:
        return stable_id("message", source, key, "#", placed.ordinal, draft.role)
    if placed.copy:
        return stable_id("message", source, key, draft.source_id, placed.copy)
    return stable_id("message", source, key, draft.source_id)


def clean_part(part: Part) -> Part:
    """The part as every store accepts it."""
    return Part(part.kind, clean_title(part.name), clean_text(part.text), clean_metadata(part.metadata))


def _tool_calls(formed: TreeShape, messages: Sequence[Message]) -> Iterator[ToolCall]:
    for placed, message in zip(formed.placed, messages, strict=True):
        for position, call in enumerate(placed.draft.calls):
            answered = formed.names.get(call.result_of) if call.result_of else None
            yield ToolCall(
                id=stable_id("call", message.id, position),
                message_id=message.id,
                conversation_id=message.conversation_id,
                name=clean_title(call.name),
                arguments=clean_text(call.arguments),
                result=clean_text(call.result) if answered is None else "",
                result_message_id=None if answered is None else messages[answered].id,
                timestamp=call.timestamp or message.timestamp,
                position=position,
                metadata=clean_metadata(call.metadata),
            )


def _conversation(
    draft: DraftConversation, conversation_id: NodeId, formed: TreeShape, messages: Sequence[Message]
) -> Conversation:
    times: list[datetime] = [message.timestamp for message in messages if message.timestamp]
    return Conversation(
        id=conversation_id,
        source=draft.source,
        source_id=clean_text(draft.source_id) if draft.source_id else None,
        title=clean_title(draft.title),
        created=draft.created or min(times, default=None),
        updated=draft.updated or max(times, default=None),
        leaf_id=None if formed.leaf is None else messages[formed.leaf].id,
        metadata=clean_metadata(draft.metadata),
    )


def turns_of(messages: Sequence[Message]) -> tuple[Turn, ...]:
    """One turn for each thing that a person said, with what was said in answer before the person's next, on any branch.

    The messages may stand in any order: an export can bring a question later than its answer.
    """
    parents = {message.id: message.parent_id for message in messages}
    responses: dict[NodeId, list[NodeId]] = {
        message.id: [] for message in messages if message.kind is Kind.SAID and message.role is Role.USER
    }
    query_of: dict[NodeId, NodeId | None] = {query: query for query in responses}
    for message in messages:
        if message.kind is Kind.SAID and message.role is Role.ASSISTANT:
            query = _query_above(message, parents, query_of)
            if query is not None:
                responses[query].append(message.id)
    return tuple(
        Turn(stable_id("turn", query), messages[0].conversation_id, position, query, tuple(answers))
        for position, (query, answers) in enumerate(responses.items())
    )


def _query_above(
    message: Message, parents: Mapping[NodeId, NodeId | None], query_of: dict[NodeId, NodeId | None]
) -> NodeId | None:
    """The nearest of a person's words above a message. What is found is remembered for all on the way."""
    way: dict[NodeId, None] = {}
    at = message.parent_id
    while at is not None and at in parents and at not in query_of and at not in way:
        way[at] = None
        at = parents[at]
    found = query_of.get(at) if at is not None else None
    query_of |= dict.fromkeys(way, found)
    return found


def message_chunks(
    message: Message, *, count_tokens: Callable[[str], int], chunking: Chunking = USUAL
) -> Iterator[Chunk]:
    """The chunks of a message's words and of what hangs on it."""
    if message.tokens > chunking.size:
        yield from chunks_of(message.id, message.content, count_tokens=count_tokens, chunking=chunking)
    for number, part in enumerate(message.parts):
        yield from chunks_of(message.id, part.text, count_tokens=count_tokens, part=number, chunking=chunking)


def _all_chunks(
    messages: Sequence[Message], calls: Sequence[ToolCall], count_tokens: Callable[[str], int]
) -> Iterator[Chunk]:
    for message in messages:
        yield from message_chunks(message, count_tokens=count_tokens)
    for call in calls:
        yield from chunks_of(call.id, call.result, count_tokens=count_tokens)
