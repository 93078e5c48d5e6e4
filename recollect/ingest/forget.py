"""Forgetting: what was named becomes a list of ids, is shown, and is erased.

A conversation that loses its last message goes whole, with its title.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.derive.entities.entity import ADDED_FROM, added_from
from recollect.derive.entities.naming import correction_id
from recollect.derive.facts.by_hand import BY_HAND, FactsByHand, read
from recollect.derive.facts.changes import current_hands, derived_claims, slots_since
from recollect.derive.tasks import queue
from recollect.derive.tasks.base import HEAD, STALE, topic_summary_id
from recollect.errors import InvalidInput, NotFound
from recollect.importers.records.forgotten import FORGOTTEN, tombstones
from recollect.ingest import Ingest
from recollect.ingest.changes import DRAWN_FROM, refuse_chunk
from recollect.ingest.requested import naming
from recollect.ingest.secrets import TAKEN_OUT
from recollect.record import (
    REPORTS,
    Chunk,
    Conversation,
    Document,
    Edge,
    Message,
    Node,
    NodeId,
    NodeKind,
    Origin,
    to_microseconds,
)
from recollect.store import Change, Space, View, Where
from recollect.store.transfer import every

_TITLES = 20
_KEPT_AWAY = (FORGOTTEN, TAKEN_OUT)
_ALL = 1_000_000_000

#: Takes messages out of whatever was derived from them: their ids, and those of their conversations.
Retract = Callable[[Sequence[NodeId], Sequence[NodeId]], None]
#: Takes back what was stored from messages that go: the ids of the records.
Withdraw = Callable[[Sequence[NodeId]], None]
#: Takes the words of messages out of what else tells them: the id of their conversation, and they themselves.
Untell = Callable[[NodeId, Sequence[Message]], None]
#: Agrees to what goes.
Confirm = Callable[["Forgotten"], bool]


def _keeps_away(node: Node) -> bool:
    """Whether it keeps away what was forgotten before."""
    return node.kind is NodeKind.REPORT and node.state in _KEPT_AWAY


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What goes: conversations that go whole, messages (those of these conversations too), documents, other nodes.

    `titles` are of conversations that lose anything, the twenty newest, and of documents that were named; `touched`
    counts the conversations. `derived` counts by kind what was made of them and goes with them, or is made anew without
    them.
    """

    conversations: int = 0
    messages: int = 0
    documents: int = 0
    nodes: int = 0
    titles: tuple[str, ...] = ()
    touched: int = 0
    derived: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Named:
    """Conversations, messages and documents of whole ids."""

    conversations: tuple[Conversation, ...]
    messages: tuple[Message, ...]
    documents: tuple[Document, ...]

    @classmethod
    def read(cls, view: View, ids: Sequence[str]) -> Named:
        """Nothing is guessed. Raises NotFound for what is not there, or was forgotten, InvalidInput for a chunk."""
        wanted = [NodeId(one) for one in dict.fromkeys(ids)]
        named = cls(
            tuple(view.get(Conversation, wanted)), tuple(view.get(Message, wanted)), tuple(view.get(Document, wanted))
        )
        there: list[Conversation | Message | Document] = [*named.conversations, *named.messages, *named.documents]
        found = {one.id: one for one in there}
        for own in wanted:
            if own not in found:
                refuse_chunk(view, own)
                raise NotFound(
                    f"No conversation, message or document has the ID {own!r}.",
                    hint="Give a whole ID: resolve() finds it by a title.",
                )
            if found[own].erased:
                raise NotFound(
                    f"{own} was forgotten.", hint="To bring it back from an export: recollect import --again PATH"
                )
        return named


@dataclass(frozen=True, slots=True)
class Selection:
    """What is to be forgotten. `conversations` and `documents` go whole; `messages` alone; else what matches source and
    time. Where there is an `only`, nothing else of it: what came in since these ids were chosen stays.
    """

    conversations: tuple[NodeId, ...] = ()
    messages: tuple[Message, ...] = ()
    documents: tuple[Document, ...] = ()
    sources: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    everything: bool = False
    only: frozenset[NodeId] | None = None

    @classmethod
    def read(
        cls,
        view: View,
        ids: Sequence[str],
        sources: Sequence[str],
        since: str | datetime | None,
        until: str | datetime | None,
        before: str | datetime | None,
        everything: bool,
        now: datetime,
    ) -> Selection:
        """What ids and options mean. Raises InvalidInput where they name nothing, NotFound."""
        from recollect.search.query.request import read_period

        if not (ids or sources or since or until or before or everything):
            raise InvalidInput(
                "Nothing to forget: name something or choose it by a filter.",
                hint="Give IDs, or use sources, since, until, before or everything.",
            )
        named = Named.read(view, ids)
        first, last = read_period(since, until, before, now)
        return cls(
            conversations=tuple(conversation.id for conversation in named.conversations),
            messages=named.messages,
            documents=named.documents,
            sources=tuple(name.lower() for name in sources),
            since=to_microseconds(first),
            until=to_microseconds(last),
            everything=everything,
        )

    @property
    def is_named(self) -> bool:
        """Whether it speaks of certain messages, conversations and documents."""
        return bool(self.conversations or self.messages or self.documents)

    @property
    def has_times(self) -> bool:
        """Whether only some messages of a conversation may be meant."""
        return self.since is not None or self.until is not None

    def takes(self, message: Message) -> bool:
        """Whether a message lies in the time, and was there."""
        return self.knows(message.id) and self.holds(message.timestamp)

    def knows(self, id: NodeId) -> bool:
        """Whether something was there when it was chosen what goes."""
        return self.only is None or id in self.only

    def holds(self, time: datetime | None) -> bool:
        """Whether a time lies between since and until; an unknown one only where neither is given."""
        moment = to_microseconds(time)
        if not self.has_times:
            return True
        if moment is None:
            return False
        return (self.since is None or moment >= self.since) and (self.until is None or moment < self.until)


def forget(
    space: Space,
    selection: Selection,
    retract: Retract,
    untell: Untell,
    withdraw: Withdraw,
    *,
    dry_run: bool,
    confirm: Confirm | None,
) -> Forgotten:
    """Erases what is selected, or with `dry_run` only counts it. Unless `confirm` agrees to it, nothing goes; then no
    more goes than it was shown.

    What was derived from it goes first: `retract` deletes messages softly and derives their conversations without them.
    What tells their words in the conversations that stay goes as well (`untell`).
    Reports that were made of any of it go whole, and so does what was added from it and from nothing else (`withdraw`).
    What a person said by hand of an entity that nothing else mentions goes as well: it may hold the name.
    Interrupted before the end, nothing was forgotten yet, and it is simply done again.
    """
    with space.view() as view:
        going = _Going.of(view, selection)
    if dry_run:
        return going.found.counted()
    if confirm is not None:
        if not confirm(going.found.counted()):
            return Forgotten()
        with space.view() as view:
            going = _Going.of(view, replace(selection, only=going.found.ids))
    found, messages, single = going.found, going.messages, going.single
    if messages:
        retract([message.id for message in messages if not message.deleted], [c.id for c in found.touched])
    for conversation_id in dict.fromkeys(message.conversation_id for message in single):
        untell(conversation_id, [message for message in single if message.conversation_id == conversation_id])
    if facts := [node.id for node in going.added if node.kind is NodeKind.FACT]:
        withdraw(facts)
    corrections = [correction_id(entity) for entity in going.entities]
    ids = [*found.conversations, *found.messages, *found.documents, *found.nodes]
    if ids:
        with space.view() as view:
            ids += queue.made_of(view, [message.id for message in messages])
            ids += [node.id for node in view.get(Node, corrections) if not node.erased]
            ids += _still_stale(view, going.made)
            ids += [node.id for node in view.get(Node, [node.id for node in going.added]) if not node.erased]
            files = (one for one in view.get(Document, found.documents) if one.source != REPORTS)
            ids += naming(view, [*ids, *found.inside])
            left = tombstones(view, found.conversations, single, files)
        if left:  # before the words go: killed in between, it is still there, and known by its id
            space.write(Change(put=left))
        space.erase(ids)
    return found.counted()


@dataclass(frozen=True, slots=True)
class _Going:
    """What goes, and what else that concerns, as of one moment."""

    found: _Chosen
    messages: list[Message]  # from which something was derived
    single: list[Message]  # of conversations that stay
    made: Sequence[NodeId]
    entities: Sequence[NodeId]  # that nothing else mentions
    added: Sequence[Node]  # from what goes, and from nothing else

    @classmethod
    def of(cls, view: View, selection: Selection) -> _Going:
        found = _Chosen.of(view, selection)
        found.add_reports(view)
        derived = HEAD in view.revisions([HEAD]) and not found.nodes
        messages = list(found.all_messages(view)) if derived else []
        ids = [message.id for message in messages]
        made = queue.made_of(view, ids)
        added = [] if found.nodes else added_from(view, [*found.inside, *found.messages])
        lost = [*(node for node in view.get(Node, list(made)) if not node.erased), *added]
        found.derived = Counter(node.kind.value for node in lost)
        single = view.get(Message, found.messages)
        return cls(found, messages, single, made, queue.only_mentioned(view, ids), added)


def _still_stale(view: View, made: Sequence[NodeId]) -> list[NodeId]:
    """What was made of what goes and is not made anew yet: of that, and of topics that wait for it from before."""
    topics = [node.id for node in every(view, Node, Where(kinds=(NodeKind.TOPIC.value,), states=(STALE,)))]
    ids = dict.fromkeys((*made, *topics, *map(topic_summary_id, topics)))
    return [node.id for node in view.get(Node, list(ids)) if node.state == STALE and not node.erased]


@dataclass(slots=True)
class _Chosen:
    conversations: list[NodeId]
    messages: list[NodeId]
    documents: list[NodeId]
    nodes: list[NodeId]
    touched: list[Conversation]
    titles: list[str] = field(default_factory=list)  # of documents that were named
    inside: list[NodeId] = field(default_factory=list)  # messages of the conversations that go whole
    derived: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, view: View, selection: Selection) -> _Chosen:
        found = cls([], [], [], [], [])
        for conversation in _conversations(view, selection):
            if conversation.erased or (selection.sources and conversation.source not in selection.sources):
                continue
            if not selection.knows(conversation.id):
                continue
            found._add(view, conversation, selection)
        documents: Iterable[Document] = selection.documents
        if not selection.is_named:
            documents = every(view, Document, Where(sources=selection.sources))
        for document in documents:
            of_source = not selection.sources or document.source in selection.sources
            if not document.erased and of_source and selection.knows(document.id) and selection.holds(document.created):
                found.documents.append(document.id)
                found.titles += [document.title] if selection.is_named else []
        if selection.everything and not (selection.sources or selection.has_times):
            found.nodes = [
                node.id
                for node in every(view, Node)
                if not (node.erased or _keeps_away(node)) and selection.knows(node.id)
            ]
        return found

    def _add(self, view: View, conversation: Conversation, selection: Selection) -> None:
        named = {message.id for message in selection.messages}
        whole = conversation.id in selection.conversations or not selection.is_named
        living = [m for m in every(view, Message, Where(conversation=conversation.id)) if not m.erased]
        chosen = [m for m in living if (whole or m.id in named) and selection.takes(m)]
        if len(chosen) == len(living) and (whole or living):
            self.conversations.append(conversation.id)
            self.inside += [message.id for message in living]
        elif chosen:
            self.messages += [message.id for message in chosen]
        else:
            return
        self.touched.append(conversation)

    @property
    def ids(self) -> frozenset[NodeId]:
        """All that goes, and the conversations that lose something."""
        touched = (conversation.id for conversation in self.touched)
        return frozenset((*touched, *self.inside, *self.messages, *self.documents, *self.nodes))

    def add_reports(self, view: View) -> None:
        """Reports, finished or not, that were made of what goes, or of a report that goes."""
        whole, gone = set(self.conversations), {*self.messages, *self.documents}
        waiting: dict[NodeId, set[NodeId]] = {}
        titles: dict[NodeId, str] = {}
        for report in every(view, Document, Where(sources=(REPORTS,))):
            if report.erased or report.id in gone:
                continue
            made_of = [edge.target_id for edge in view.edges([report.id], (DRAWN_FROM,), "out", _ALL)]
            lost = {m.id for m in view.get(Message, made_of) if m.conversation_id in whole}
            waiting[report.id], titles[report.id] = {*made_of}, report.title
            gone |= lost
        while losing := [report for report, made_of in waiting.items() if made_of & gone]:
            gone.update(losing)
            self.documents += losing
            self.titles += [titles[report] for report in losing]
            waiting = {report: made_of for report, made_of in waiting.items() if report not in gone}

    def all_messages(self, view: View) -> Iterator[Message]:
        """Those that go, those of whole conversations too."""
        for conversation_id in self.conversations:
            yield from (m for m in every(view, Message, Where(conversation=conversation_id)) if not m.erased)
        yield from view.get(Message, self.messages)

    def counted(self) -> Forgotten:
        newest = sorted(self.touched, key=lambda c: to_microseconds(c.updated or c.created) or 0, reverse=True)
        return Forgotten(
            conversations=len(self.conversations),
            messages=len(self.inside) + len(self.messages),
            documents=len(self.documents),
            nodes=len(self.nodes),
            titles=tuple([*(conversation.title for conversation in newest), *self.titles][:_TITLES]),
            touched=len(newest),
            derived=self.derived,
        )


def _conversations(view: View, selection: Selection) -> Iterable[Conversation]:
    if not selection.is_named:
        return every(view, Conversation, Where(sources=selection.sources))
    ids = [*selection.conversations, *(message.conversation_id for message in selection.messages)]
    return view.get(Conversation, list(dict.fromkeys(ids)))


# Moving conversations and documents from one namespace to another, with what a person decided by hand about them.


@dataclass(frozen=True, slots=True)
class Copied:
    """Conversations and documents of which a copy is in the other namespace, and with their messages all that is."""

    named: tuple[NodeId, ...]
    every: frozenset[NodeId]


def copy(source: Space, target: Space, ingest: Ingest, ids: Sequence[NodeId]) -> Copied:
    """Writes conversations and documents of `source` to `target`, whose way in is `ingest`. Returns what is there then:
    with what was copied before, and not forgotten here yet. Where both hold a conversation, it is joined; a document
    with another text in `target` stays where it is.
    """
    with source.view() as view:
        conversations = [one.id for one in view.get(Conversation, ids) if not one.erased]
        documents = [one for one in view.get(Document, ids) if not one.erased]
        threads = [thread for own in conversations if (thread := view.thread(own)) is not None]
        messages = [message.id for thread in threads for message in thread.messages]
        nodes, edges = _by_hand(view, messages)
        added, sources = _added(view, messages)
        pieces = {document.id: view.get(Chunk, [document.id]) for document in documents}
    with target.view() as view:
        known = {message.id for message in view.get(Message, messages)}
        there = view.revisions([document.id for document in documents])
        nodes, edges = _joined(view, nodes, edges)
        there_too = {node.id for node in view.get(Node, [node.id for node in added]) if not node.erased}
    ingest.threads([thread for thread in threads if any(own.id not in known for own in thread.messages)])
    ingest.documents([(document, pieces[document.id]) for document in documents if document.id not in there])
    ingest.others([*nodes, *edges, *(node for node in added if node.id not in there_too), *sources])
    with target.view() as view:
        found = {message.id for message in view.get(Message, messages)}
        texts = {one.id: None if one.erased else one.content for one in view.get(Document, list(pieces))}
    same = (one.id for one in documents if one.id in texts and texts[one.id] in (None, one.content))
    named = (*conversations, *same)
    return Copied(named, frozenset((*named, *found)))


def _by_hand(view: View, messages: Collection[NodeId]) -> tuple[list[Node], list[Edge]]:
    """What was decided about the facts that these messages prove, and about the entities that they mention."""
    hands = list(_hands(view, frozenset(messages)))
    mentioned = {edge.target_id for edge in view.edges(list(messages), ("MENTIONS",), "out", _ALL)} if messages else ()
    said = _living(view, map(correction_id, mentioned))
    into = [NodeId(node.body["into"]) for node in said if node.body.get("into")]
    said += _living(view, (correction_id(one) for one in into if one not in mentioned))
    return [*(hand.node() for hand in hands), *said], [edge for hand in hands for edge in hand.edges()]


def _added(view: View, messages: Sequence[NodeId]) -> tuple[list[Node], list[Edge]]:
    """What was added from these messages, with the edges to them."""
    edges = view.edges(messages, (ADDED_FROM,), "in", _ALL) if messages else []
    return _living(view, (edge.source_id for edge in edges)), edges


def _hands(view: View, messages: frozenset[NodeId]) -> Iterator[FactsByHand]:
    """What was decided about facts, as far as it concerns these messages."""
    decided = every(view, Node, Where(kinds=(NodeKind.REPORT.value,), states=(BY_HAND,)))
    there = [NodeId(node.body["slot"]) for node in decided if not node.erased and "slot" in node.body]
    since = slots_since(view, messages) if there else {}
    slots = list(dict.fromkeys(since.get(slot, slot) for slot in there))
    claims = derived_claims(view, slots) if slots and messages else {}
    every_hand = current_hands(view, slots)
    for slot in slots:
        hand = every_hand[slot]
        proven = {claim.identity for claim in claims.get(slot, ()) if claim.message_id in messages}
        edits = [replace(edit, messages=tuple(m for m in edit.messages if m in messages)) for edit in hand.edits]
        edits = [edit for edit in edits if edit.messages]
        proven |= {edit.becomes for edit in edits}
        forgotten = {of: own & messages for of, own in hand.forgotten.items()}
        own = FactsByHand(
            slot,
            pins=hand.pins & proven,
            forgotten={of: those for of, those in forgotten.items() if those},
            moved={of: to for of, to in hand.moved.items() if of in proven},
            taken={of: to for of, to in hand.taken.items() if to in proven},
            edits=tuple(edits),
        )
        if not own.is_empty:
            yield own


def _joined(view: View, nodes: Sequence[Node], edges: Sequence[Edge]) -> tuple[list[Node], list[Edge]]:
    """The same beside what was decided there already, which stands where both say something."""
    known = {node.id: node for node in view.get(Node, [node.id for node in nodes])}
    joined: list[Node] = []
    for node in nodes:
        before = known.get(node.id)
        if before is None:
            joined.append(node)
        elif not before.erased and "slot" in node.body:
            slot = NodeId(node.body["slot"])
            one, other = (read(slot, decided, ()) for decided in (node, before))
            forgotten = {of: own | other.forgotten.get(of, frozenset()) for of, own in one.forgotten.items()}
            joined.append(
                FactsByHand(
                    slot,
                    pins=one.pins | other.pins,
                    forgotten={**other.forgotten, **forgotten},
                    moved={**one.moved, **other.moved},
                    taken={**one.taken, **other.taken},
                ).node()
            )
    return joined, list(edges)


def _living(view: View, ids: Iterable[NodeId]) -> list[Node]:
    found = view.get(Node, list(dict.fromkeys(ids)))
    return [node for node in found if not node.erased and node.origin is not Origin.DERIVED]
