"""Changes of what is stored: another wording, a deletion, and its return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.consolidate import outbox
from recollect.drawn import back, withdrawn
from recollect.errors import InvalidInput, NotFound
from recollect.ingest.writer import Writer
from recollect.record import Conversation, Message, NodeId, Turn, Version, stable_id
from recollect.search.indexing import is_person, said_before
from recollect.store import Change, Mark, View
from recollect.store.passages import Passage
from recollect.text.clean import clean_metadata
from recollect.untelling import untold


class Changes(Writer):
    """Changes messages that are there."""

    def edit(
        self, message_id: NodeId, content: str, now: Version, metadata: Mapping[str, Any] | None = None
    ) -> Message:
        """Gives a message a new wording, and other metadata where it is given; `now` holds the old wording's place in
        the history. Raises NotFound.
        """
        return self._insisting(lambda: self._edit(message_id, content, now, metadata), f"Message {message_id} is")

    def _edit(self, message_id: NodeId, content: str, now: Version, metadata: Mapping[str, Any] | None) -> Message:
        with self._space.view() as view:
            message = _unforgotten(view, message_id)
            kept = message.metadata if metadata is None else clean_metadata(metadata)
            if message.content == content and message.metadata == kept:
                return message
            revision = view.revisions([message.conversation_id])[message.conversation_id].number
            end = view.end(message.conversation_id)
            previous = said_before(view, message)
            stale = outbox.stale(view, [message.conversation_id], [message.id])
            turns = view.get(Turn, [stable_id("turn", message.id)])  # what a chat knew of the old wording
            meant = [e for e in view.edges([message.id], ("MENTIONS",)) if e.name == outbox.BY_TURN] if turns else []
        versions = message.versions
        if message.content != content:
            versions = (*versions, replace(now, content=message.content))
        else:
            turns, meant = [], []
        edited = replace(message, content=content, versions=versions, tokens=self._count_tokens(content), metadata=kept)
        people = is_person(message.speaker) or bool(end and end.named)
        self._space.write(
            Change(
                expect={message.conversation_id: revision},
                put=[
                    edited,
                    *(
                        replace(turn, resolved_query=None, entities=())
                        for turn in turns
                        if turn.resolved_query or meant
                    ),
                    *self._chunks(edited),
                ],
                cut=[(edge.source_id, edge.type, edge.target_id, edge.name) for edge in meant],
                mark=stale,
                tasks=outbox.due([message.conversation_id]),
                index=self._index_change(self._message_passages(edited, previous, people, ())),
            )
        )
        return edited

    def untell(self, conversation_id: NodeId, gone: Sequence[Message]) -> None:
        """Takes the words of messages that are to be erased out of what else of a conversation tells them: its title,
        and the questions that were made whole by them.
        """
        self._insisting(lambda: self._untell(conversation_id, gone), f"Conversation {conversation_id} is")

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

    def delete(self, message_ids: Sequence[NodeId]) -> None:
        """Deletes softly: out of every search and count, kept in the record. Raises NotFound.

        A conversation that loses its last message is deleted with it, and so is no longer found by its title.
        """
        self._insisting(lambda: self._mark(message_ids, deleted=True), "These messages are")

    def restore(self, message_ids: Sequence[NodeId]) -> None:
        """Takes deletions back. Raises NotFound, InvalidInput for what was forgotten."""
        self._insisting(lambda: self._mark(message_ids, deleted=False), "These messages are")

    def _mark(self, message_ids: Sequence[NodeId], *, deleted: bool) -> None:
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
            stale = outbox.stale(view, touched, message_ids)
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
                tasks=outbox.due(touched),
            )
        )


def _unforgotten(view: View, message_id: NodeId) -> Message:
    found = view.get(Message, [message_id])
    if not found and (parents := view.edges([message_id], ("CHUNK_OF",))):
        raise InvalidInput(
            f"{message_id} is a chunk of {parents[0].target_id}: a chunk cannot be changed by itself.",
            hint="Change the message that it is a piece of.",
        )
    if not found:
        raise NotFound(f"No message has the ID {message_id}.", hint="To find messages: recollect search")
    if found[0].erased:
        raise InvalidInput(
            f"Message {message_id} was forgotten.", hint="To bring it back: recollect import --again PATH"
        )
    return found[0]
