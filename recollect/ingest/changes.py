"""Changes of what is stored: another wording, a deletion, and its return."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from recollect.derive.tasks import queue
from recollect.errors import InvalidInput, NotFound
from recollect.index.passages import is_person, said_before
from recollect.ingest.secrets import Withheld
from recollect.ingest.writer import Writer
from recollect.record import HIDDEN, REPORTS, Conversation, Document, Message, NodeId, Turn, Version, stable_id
from recollect.store import Change, EdgeKey, Mark, View, Where
from recollect.store.passages import Passage
from recollect.store.transfer import every
from recollect.store.update import insist
from recollect.text.clean import clean_metadata
from recollect.text.terms import words

_ALL = 1_000_000_000  # edges


@dataclass(frozen=True, slots=True)
class Untold:
    """What is written to take the words out: a conversation without its title, turns, mentions that go."""

    conversation: Conversation | None
    turns: Sequence[Turn]
    cut: Sequence[EdgeKey]

    def __bool__(self) -> bool:
        return bool(self.conversation or self.turns)


def untold(view: View, conversation_id: NodeId, gone: Sequence[Message]) -> Untold:
    """What of a conversation tells the words of messages that are to be erased."""
    conversation = next(iter(view.get(Conversation, [conversation_id])), None)
    titled = conversation is not None and any(_begins(message, conversation.title) for message in gone)
    lost = {word for message in gone for word in words(message.content)}
    resolved = [turn for turn in every(view, Turn, Where(conversation=conversation_id)) if turn.resolved_query]
    asked = {message.id: message for message in view.get(Message, [turn.query_id for turn in resolved])}
    stale = [turn for turn in resolved if turn.query_id in asked and _borrows(turn, asked[turn.query_id], lost)]
    turns = [_alone(turn, asked[turn.query_id]) for turn in stale]
    return Untold(
        replace(conversation, title="") if titled and conversation else None,
        turns,
        mentions_of_turns(view, [turn.query_id for turn in turns]),
    )


def mentions_of_turns(view: View, message_ids: Sequence[NodeId]) -> list[EdgeKey]:
    """The edges from messages to what their turns were known to be about."""
    edges = view.edges(list(message_ids), ("MENTIONS",), "out", limit=_ALL) if message_ids else []
    return [e.key for e in edges if e.name == queue.BY_TURN]


def _begins(message: Message, title: str) -> bool:
    """Whether a title is the beginning of what a message says."""
    begin = " ".join(title.removesuffix("…").removesuffix("...").split())
    return bool(begin) and " ".join(message.content.split()).startswith(begin)


def _borrows(turn: Turn, query: Message, lost: Collection[str]) -> bool:
    """Whether a resolved question has words that it took from a message that goes."""
    borrowed = set(words(turn.resolved_query or "")) - set(words(query.content))
    return not borrowed.isdisjoint(lost)


def _alone(turn: Turn, query: Message) -> Turn:
    """The turn with what its question itself says."""
    return replace(turn, resolved_query=None, entities=tuple(name for name in turn.entities if name in query.content))


# Reports are drawn from messages and documents, and edges say so: what becomes of these becomes of them.

#: The edge from a report to what it was made of.
DRAWN_FROM = "DERIVES_FROM"

_WITHDRAWN = "withdrawn"  # in the metadata of a report that was made of something deleted


def reports_on(view: View, message_ids: Sequence[NodeId]) -> list[Document]:
    """The reports that were made of messages, and those that were made of such reports."""
    found: dict[NodeId, Document] = {}
    ids = list(message_ids)
    while ids:
        made = [edge.source_id for edge in view.edges(ids, (DRAWN_FROM,), "in", _ALL)]
        fresh = view.get(Document, [one for one in dict.fromkeys(made) if one not in found])
        reports = {one.id: one for one in fresh if one.source == REPORTS and not one.erased}
        found |= reports
        ids = list(reports)
    return list(found.values())


def withdrawn(view: View, message_ids: Sequence[NodeId]) -> list[Document]:
    """The reports made of messages that are deleted: hidden, for as long as one of these is."""
    return [
        replace(document, metadata={**document.metadata, HIDDEN: True, _WITHDRAWN: True})
        for document in reports_on(view, message_ids)
        if not document.hidden
    ]


def back(view: View, message_ids: Sequence[NodeId]) -> list[Document]:
    """The reports that nothing is missing from any more, once these messages are there again."""
    there: set[NodeId] = set(message_ids)
    waiting = [document for document in reports_on(view, message_ids) if document.metadata.get(_WITHDRAWN)]
    found: list[Document] = []
    while whole := [document for document in waiting if not _lost(view, document.id) - there]:
        there.update(document.id for document in whole)
        waiting = [document for document in waiting if document.id not in there]
        for document in whole:
            kept = {name: value for name, value in document.metadata.items() if name not in (HIDDEN, _WITHDRAWN)}
            found.append(replace(document, metadata=kept))
    return found


def _lost(view: View, report: NodeId) -> set[NodeId]:
    """What it was made of and is deleted, or hidden."""
    made_of = [edge.target_id for edge in view.edges([report], (DRAWN_FROM,), "out", _ALL)]
    messages = {one.id for one in view.get(Message, made_of) if one.deleted}
    return messages | {one.id for one in view.get(Document, made_of) if one.hidden}


@dataclass(frozen=True, slots=True)
class Rewording:
    """New words for a message, and other metadata where it is given."""

    message_id: NodeId
    content: str
    metadata: Mapping[str, Any] | None = None


class Changes(Writer):
    """Changes messages that are there."""

    def edit(
        self, message_id: NodeId, content: str, now: Version, metadata: Mapping[str, Any] | None = None
    ) -> Message:
        """Gives a message a new wording, and other metadata where it is given; `now` holds the old wording's place in
        the history. Raises NotFound.
        """
        return self.edit_all([Rewording(message_id, content, metadata)], now)[0]

    def edit_all(self, rewordings: Sequence[Rewording], now: Version) -> list[Message]:
        """Edits messages, each as `edit` does it, all in one transaction. Raises as that does."""
        ids = [one.message_id for one in rewordings]
        what = f"Message {ids[0]} is" if len(ids) == 1 else "These messages are"
        return insist(lambda: self._edit_all(rewordings, now), what)

    def _edit_all(self, rewordings: Sequence[Rewording], now: Version) -> list[Message]:
        with self._space.view() as view:
            found = [_unforgotten(view, one.message_id) for one in rewordings]
            rewordings = _without_withheld(view, found, rewordings)
            after = [self._reworded(message, one, now) for message, one in zip(found, rewordings, strict=True)]
            edited = [new for old, new in zip(found, after, strict=True) if new != old]
            if not edited:
                return after
            touched = list(dict.fromkeys(message.conversation_id for message in edited))
            revisions = {i: revision.number for i, revision in view.revisions(touched).items()}
            ends = {i: view.end(i) for i in touched}
            words = {message.id: message for message in edited}
            before = {message.id: said_before(view, message) for message in edited}
            calls = {message.id: self._calls_of(view, message) for message in edited}
            stale = queue.stale(view, touched, list(words))
            # What a chat knew of the old wording.
            told = [new.id for old, new in zip(found, after, strict=True) if new.content != old.content]
            turns = {i: turn for i in told for turn in view.get(Turn, [stable_id("turn", i)])}
            meant = [edge for edge in view.edges(list(turns), ("MENTIONS",)) if edge.name == queue.BY_TURN]
        chunks = self._chunks(edited)
        passages: dict[NodeId, list[Passage]] = {}
        for message in edited:
            end, previous = ends[message.conversation_id], before[message.id]
            people = is_person(message.speaker) or bool(end and end.named)
            said = words.get(previous.id, previous) if previous else None
            passages |= self._message_passages(message, said, people, calls[message.id], chunks)
        resolved = {edge.source_id for edge in meant}
        self._space.write(
            Change(
                expect=revisions,
                put=[
                    *edited,
                    *(
                        replace(turn, resolved_query=None, entities=())
                        for i, turn in turns.items()
                        if turn.resolved_query or i in resolved
                    ),
                    *chain.from_iterable(chunks.values()),
                ],
                cut=[edge.key for edge in meant],
                mark=stale,
                tasks=queue.due(touched),
                index=self._index_change(passages),
            )
        )
        return after

    def _reworded(self, message: Message, to: Rewording, now: Version) -> Message:
        """The message with its new words; as it is, where they are the same."""
        kept = message.metadata if to.metadata is None else clean_metadata(to.metadata)
        if message.content == to.content:
            return message if message.metadata == kept else replace(message, metadata=kept)
        before = (replace(now, content=message.content),) if message.content else ()  # what had no words had no wording
        versions = (*message.versions, *before)
        tokens = self._count_tokens(to.content)
        return replace(message, content=to.content, versions=versions, tokens=tokens, metadata=kept)

    def untell(self, conversation_id: NodeId, gone: Sequence[Message]) -> None:
        """Takes the words of messages that are to be erased out of what else of a conversation tells them: its title,
        and the questions that were made whole by them.
        """
        insist(lambda: self._untell(conversation_id, gone), f"Conversation {conversation_id} is")

    def _untell(self, conversation_id: NodeId, gone: Sequence[Message]) -> None:
        with self._space.view() as view:
            revision = view.revisions([conversation_id])[conversation_id].number
            found = untold(view, conversation_id, gone)
        if not found:
            return
        titled = [found.conversation] if found.conversation else []
        passages = {own: made for one in titled for own, made in self.title_passages(one).items()}
        self._space.write(
            Change(
                expect={conversation_id: revision},
                put=[*titled, *found.turns],
                cut=found.cut,
                index=self._index_change(passages) if passages else None,
            )
        )

    def retitle(self, conversation_id: NodeId, title: Callable[[View, Conversation], str]) -> None:
        """Gives a conversation another title; the one that it had comes back with no import but one that is told to."""
        insist(lambda: self._retitle(conversation_id, title), f"Conversation {conversation_id} is")

    def _retitle(self, conversation_id: NodeId, title: Callable[[View, Conversation], str]) -> None:
        with self._space.view() as view:
            revision = view.revisions([conversation_id])[conversation_id].number
            before = next(iter(view.get(Conversation, [conversation_id])))
            if before.erased:
                return
            after = replace(before, title=title(view, before))
            withheld = Withheld.read(view).and_title(before.title)
            stale = queue.stale(view, [conversation_id], [])
        self._space.write(
            Change(
                expect={conversation_id: revision},
                put=[after, withheld.node()],
                revive=True,
                mark=stale,
                index=self._index_change(self.title_passages(after)) if not after.deleted else None,
                tasks=queue.due([conversation_id]),
            )
        )

    def delete(self, message_ids: Sequence[NodeId]) -> int:
        """Deletes softly: out of every search and count, kept in the record; returns how many were not deleted before.
        Raises NotFound.

        A conversation that loses its last message is deleted with it, and so is no longer found by its title.
        """
        return insist(lambda: self._mark(message_ids, deleted=True), "These messages are")

    def restore(self, message_ids: Sequence[NodeId]) -> int:
        """Takes deletions back; returns of how many messages. Raises NotFound, InvalidInput for what was forgotten."""
        return insist(lambda: self._mark(message_ids, deleted=False), "These messages are")

    def _mark(self, message_ids: Sequence[NodeId], *, deleted: bool) -> int:
        with self._space.view() as view:
            messages = [_unforgotten(view, message_id) for message_id in message_ids]
            touched = list({message.conversation_id for message in messages})
            expect = {i: revision.number for i, revision in view.revisions(touched).items()}
            left = {i: living for i, (living, _) in view.sizes(touched).items()}
            for message in messages:
                left[message.conversation_id] -= (deleted and not message.deleted) - (not deleted and message.deleted)
            conversations = [
                replace(conversation, deleted=not left[conversation.id])
                for conversation in view.get(Conversation, touched)
                if conversation.deleted != (not left[conversation.id])
            ]
            stale = queue.stale(view, touched, message_ids)
            reports = withdrawn(view, message_ids) if deleted else back(view, message_ids)
            expect |= {i: revision.number for i, revision in view.revisions([one.id for one in reports]).items()}
            passages: dict[NodeId, list[Passage]] = {one.id: self.document_passages(one) for one in reports}
            if not deleted:
                passages |= self.owners_passages(view, [replace(message, deleted=False) for message in messages])
        for conversation in conversations:
            passages |= {conversation.id: []} if conversation.deleted else self.title_passages(conversation)
        self._space.write(
            Change(
                expect=expect,
                put=[*conversations, *reports, *(chunk for one in reports for chunk in self._pieces(one))],
                mark=[Mark(ids=message_ids, deleted=deleted), *stale],
                index=self._index_change(passages),
                tasks=queue.due(touched),
            )
        )
        return sum(message.deleted != deleted for message in messages)


def refuse_chunk(view: View, id: NodeId) -> None:
    """Raises InvalidInput for the id of a chunk: it cannot be changed or removed by itself."""
    if parents := view.edges([id], ("CHUNK_OF",)):
        raise InvalidInput(
            f"{id} is a chunk of {parents[0].target_id}: a chunk cannot be changed by itself.",
            hint="Change the message that it is a piece of.",
        )


def _unforgotten(view: View, message_id: NodeId) -> Message:
    found = view.get(Message, [message_id])
    if not found:
        refuse_chunk(view, message_id)
        raise NotFound(f"No message has the ID {message_id}.", hint="To find messages: recollect search")
    if found[0].erased:
        raise InvalidInput(
            f"Message {message_id} was forgotten.", hint="To bring it back: recollect import --again PATH"
        )
    return found[0]


def _without_withheld(view: View, found: Sequence[Message], rewordings: Sequence[Rewording]) -> list[Rewording]:
    withheld = Withheld.read(view)
    if not withheld:
        return list(rewordings)
    sources = {one.id: one.source for one in view.get(Conversation, list({m.conversation_id for m in found}))}
    return [
        withheld.of(sources[message.conversation_id]).out_of(one)
        for message, one in zip(found, rewordings, strict=True)
    ]
