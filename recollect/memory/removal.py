"""What is deleted, restored, forgotten and moved, with what follows for what was derived of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput, NotFound
from recollect.ingest.forget import Forgotten, Named, Selection, forget
from recollect.memory.handle import Handle
from recollect.record import Conversation, Document, Message, NodeId, Origin
from recollect.store import Where
from recollect.store.transfer import every

if TYPE_CHECKING:
    from recollect.ingest.person import Person


class Removal:
    """Removes from a namespace; the calls are described where they are offered, in recollect/memory/memory.py."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle

    def delete(self, ids: Sequence[str]) -> int:
        """Deletes softly; returns how many messages. Raises NotFound."""
        living = [m.id for m in self._messages_of(ids) if not m.deleted]
        return self.handle.ingest.delete(living) if living else 0

    def restore(self, ids: Sequence[str]) -> int:
        """Takes soft deletions back; returns how many messages. Raises NotFound."""
        hidden = [m.id for m in self._messages_of(ids) if m.deleted and not m.erased]
        return self.handle.ingest.restore(hidden) if hidden else 0

    def selection(
        self,
        ids: Sequence[str],
        sources: str | Sequence[str] = (),
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        before: str | datetime | None = None,
        *,
        everything: bool = False,
    ) -> Selection:
        """What is to be forgotten. Raises NotFound, InvalidInput where nothing is named."""
        named = self.handle.sources(sources)
        with self.handle.space.view() as view:
            return Selection.read(view, ids, named, since, until, before, everything, self.handle.clock())

    def forget(
        self, chosen: Selection, *, dry_run: bool = False, confirm: Callable[[Forgotten], bool] | None = None
    ) -> Forgotten:
        """Erases for good; returns what goes."""
        return forget(
            self.handle.space,
            chosen,
            self._retract,
            self.handle.ingest.untell,
            self.handle.corrections.withdraw,
            dry_run=dry_run,
            confirm=confirm,
        )

    def forget_person(
        self,
        name: str,
        mentions: bool | Callable[[Person], bool],
        *,
        dry_run: bool,
        confirm: Callable[[Person], bool] | None,
    ) -> Person:
        """Forgets a person. Raises NotFound, InvalidInput for you yourself."""
        from recollect.ingest.person import find_person, first_words_without, ids_of

        with self.handle.space.view() as view:
            person = find_person(view, name)
        own = ids_of(person, mentions=False)
        person = replace(person, derived=self.forget(self.selection(own), dry_run=True).derived if own else {})
        if dry_run or (confirm is not None and not confirm(person)):
            return person
        also = bool(mentions(person)) if callable(mentions) else mentions
        if ids := ids_of(person, mentions=also):
            self.forget(self.selection(ids))
        for conversation in person.titled if also else ():
            self.handle.ingest.retitle(conversation.id, partial(first_words_without, person=person))
        self._forget_name(person, everywhere=also)
        if also and person.titled:
            self.handle.space.purge()
        return replace(person, removed=True)

    def _forget_name(self, person: Person, *, everywhere: bool) -> None:
        """Removes what is still derived of a person, or said of them by hand: `everywhere`, where no message names them
        any more, all of it to the byte; else what is told of them.
        """
        from recollect.ingest.person import nodes_naming

        if not everywhere:
            for fact in person.facts:
                with suppress(NotFound):
                    self.handle.corrections.forget(fact)
            with suppress(NotFound):
                self.handle.entities_by_hand.forget(person.names[0])
        with self.handle.space.view() as view:
            left = nodes_naming(view, person, None if everywhere else Origin.SAID)
        if left:
            self.handle.space.erase(left)

    def _retract(self, message_ids: Sequence[NodeId], conversation_ids: Sequence[NodeId]) -> None:
        from recollect.derive.tasks.base import Setting
        from recollect.derive.tasks.conversation import ConversationWork
        from recollect.derive.worker import derivers, finish

        if message_ids:
            self.handle.ingest.delete(message_ids)
        conversations = ConversationWork(self.handle.space, derivers(), self.handle.embedder, finish)
        conversations.derive(conversation_ids, Setting(now=self.handle.clock()))

    def move(self, ids: Sequence[str], to: str) -> int:
        """Moves conversations and documents that are there to another namespace of the store, with what was decided by
        hand about their facts and entities; returns how many. Interrupted, both have them: moving again completes it.
        What comes in meanwhile stays here, and whoever moves the same at once has done it.
        """
        from recollect.ingest.forget import copy

        there = self.handle.beside(to)
        moved = copy(self.handle.space, there.space, there.ingest, [NodeId(one) for one in ids])
        if not moved.named:
            return 0
        try:
            self.forget(replace(self.selection(moved.named), only=moved.every))
        except (NotFound, InvalidInput):
            with self.handle.space.view() as view:
                left: list[Conversation | Document] = list(view.get(Conversation, moved.named))
                left += view.get(Document, moved.named)
            if not all(one.erased for one in left):
                raise
        return len(moved.named)

    def _messages_of(self, ids: Sequence[str]) -> list[Message]:
        """Every message of these whole ids of messages and conversations, each once. Raises NotFound."""
        with self.handle.space.view() as view:
            named = Named.read(view, ids)
            if named.documents:
                raise InvalidInput(
                    f"{named.documents[0].id} is a document, and documents cannot be hidden.",
                    hint="To remove it for good: forget()",
                )
            found = {message.id: message for message in named.messages}
            for conversation in named.conversations:
                found |= {m.id: m for m in every(view, Message, Where(conversation=conversation.id))}
        return list(found.values())
