"""Coming in: imports and live writing; editing, deleting and forgetting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput, NotFound
from recollect.memory.documents import Documents
from recollect.memory.handle import LIVE_SOURCE, writes
from recollect.memory.reading import Reading, several
from recollect.record import (
    NOTHING,
    Conversation,
    Document,
    Message,
    Metadata,
    NodeId,
    Part,
    RoleName,
    ToolCall,
    Version,
)
from recollect.runtime.tracing import one_record, records, traced

if TYPE_CHECKING:
    from recollect.importers.base import Entry
    from recollect.ingest.forget import Forgotten
    from recollect.ingest.importing import ImportReport, Progress
    from recollect.ingest.person import Person
    from recollect.ingest.secrets import StoredSecret, TakenOut
    from recollect.memory.drafts import Drafts


class Writing(Reading, Documents):
    """What is written, changed and removed."""

    @traced("create_memory", lambda report: records(report.written.messages))
    @writes
    def import_file(
        self,
        *paths: str | Path,
        format: str | None = None,
        again: bool = False,
        progress: Callable[[Progress], None] | None = None,
        wanted: Callable[[Entry], Entry | None] | None = None,
    ) -> ImportReport:
        """Imports exports: files, folders, archives; the format is detected unless it is named.

        Importing again changes nothing; a newer export adds what is new. What was forgotten stays away, unless `again`
        brings it back. `wanted` gives each file as it is to be read, or None to keep it out. Raises
        NotFound, ImportProblem, StoreError.
        """
        from recollect.ingest.importing import Importing
        from recollect.models.embedding.tokenizer import count_tokens, count_tokens_of

        importing = Importing(
            self._space, self._ingest, count_tokens, count_tokens_of, progress, again=again, wanted=wanted
        )
        return importing([Path(path).expanduser() for path in paths], format)

    @writes
    def import_growing(
        self,
        folder: str | Path,
        files: Iterable[str | Path],
        *,
        progress: Callable[[Progress], None] | None = None,
        wanted: Callable[[Entry], Entry | None] | None = None,
    ) -> ImportReport:
        """Imports some files of a folder while they are being written: of files of lines only whole lines.

        Files that belong together are given together: a session, those that it resumes, its subagents. What has gone
        meanwhile is left out. `wanted` is as in `import_file`. Raises StoreError.
        """
        from recollect.ingest.importing import Importing
        from recollect.models.embedding.tokenizer import count_tokens, count_tokens_of

        importing = Importing(self._space, self._ingest, count_tokens, count_tokens_of, progress, wanted=wanted)
        return importing.of_growing(Path(folder), [Path(file) for file in files])

    @traced("create_memory", one_record)
    @writes
    def store_message(
        self,
        content: str | Mapping[str, Any] | Sequence[Any] | None,
        role: RoleName = "user",
        *,
        conversation_id: str | None = None,
        parent_id: str | None = None,
        speaker: str | None = None,
        title: str = "",
        timestamp: datetime | date | str | float | None = None,
        kind: str = "said",
        model: str | None = None,
        parts: Sequence[Part] = (),
        metadata: Metadata = NOTHING,
        id: str | None = None,
    ) -> Message:
        """Stores one message, durably, and finds it from then on; a long one is cut in chunks [4].

        `content` is a text, or content parts as OpenAI and Anthropic write them; a developer is the system. A day as
        the `timestamp` is its beginning, in UTC.
        Without a conversation that of `parent_id` goes on, or a new one begins. Below `parent_id` instead of the end it
        opens a branch. What Recollect
        itself handed out as context is cut out first. Raises InvalidInput, NotFound.
        """
        drafted = self._drafts.message(
            content,
            role,
            conversation_id=conversation_id,
            parent_id=parent_id,
            speaker=speaker,
            title=title,
            timestamp=timestamp,
            kind=kind,
            model=model,
            parts=parts,
            metadata=metadata,
            id=id,
        )
        return self._ingest.append(*drafted)

    @traced("create_memory", records)
    @writes
    def store_messages(
        self, messages: Iterable[Mapping[str, Any]], *, conversation_id: str | None = None, title: str = ""
    ) -> list[Message]:
        """Stores several messages of one conversation in one transaction, in order: all of them, or none.

        Each is a mapping with `content`, and what else `store_message` takes: `role`, `speaker`, `parent_id`,
        `timestamp`, `kind`, `model`, `parts`, `metadata`, `id`; and `tool_calls`, the calls of tools that were made
        with it, each as `store_tool_calls` takes it. A parent may be one of them. Raises InvalidInput, NotFound.
        """
        drafted = self._drafts.messages(messages, conversation_id, title)
        if not drafted:
            return []
        entries: list[tuple[Message, Sequence[ToolCall]]] = []
        for _, message, calls in drafted:
            entries += [(message, ()), *((result, [call]) for result, call in calls)]
        own = {message.id for _, message, _ in drafted}
        return [one for one in self._ingest.append_all(drafted[0][0], entries) if one.id in own]

    @writes
    def store_tool_call(
        self,
        name: str,
        arguments: str | Mapping[str, Any],
        result: object,
        message_id: str,
        *,
        timestamp: datetime | date | str | float | None = None,
        metadata: Metadata = NOTHING,
        id: str | None = None,
    ) -> ToolCall:
        """Stores a tool call with its result below a message, as a message of kind `tool` in the conversation [4].

        `arguments` and `result` that are no text are kept as JSON. What the tools of Recollect gave is stored already,
        and cut out. Raises NotFound, InvalidInput.
        """
        call = {"name": name, "arguments": arguments, "result": result, "timestamp": timestamp, "metadata": metadata}
        return self.store_tool_calls([{**call, "id": id}], message_id)[0]

    @traced("create_memory", records)
    @writes
    def store_tool_calls(self, calls: Iterable[Mapping[str, Any]], message_id: str) -> list[ToolCall]:
        """Stores the tool calls of one message in one transaction, in order. Each is a mapping with `name`, `arguments`
        and `result`, and what else `store_tool_call` takes. Raises NotFound, InvalidInput.
        """
        asked = self._message(NodeId(message_id))
        drafted = self._drafts.calls(calls, asked)
        if drafted:
            conversation = Conversation(asked.conversation_id, LIVE_SOURCE)
            self._ingest.append_all(conversation, [(message, [call]) for message, call in drafted])
        with self._space.view() as view:  # what was stored before, where it comes again
            return view.get(ToolCall, [call.id for _, call in drafted])

    def add_aliases(self, aliases: Mapping[str, Iterable[str]]) -> None:
        """Gives messages and tool calls, by their ids, other names to find them by (`aliased`), in one transaction.

        They may be stored later. Of more than 64 that share an alias the oldest lose it. Raises InvalidInput.
        """
        from recollect.ingest.aliases import add_aliases, checked_aliases

        add_aliases(self._space, checked_aliases(aliases), self._clock())

    @traced("update_memory", one_record)
    @writes
    def update_message(self, id: str, content: str) -> Message:
        """Gives a message a new wording; the old ones are kept. Same id, new chunks and vectors. Raises NotFound, and
        InvalidInput for a chunk: the message is edited as a whole [4].
        """
        return self._reword([{"id": id, "content": content}])[0]

    @traced("update_memory", records)
    @writes
    def update_messages(self, changes: Iterable[Mapping[str, str]]) -> list[Message]:
        """Gives several messages new wordings in one transaction: all of them, or none. Each is a mapping with `id` and
        `content`. Raises as `update_message` does.
        """
        return self._reword(changes)

    @traced("delete_memory", records)
    @writes
    def delete(self, *ids: str) -> int:
        """Deletes softly: no search or count shows it, the record keeps it. Returns how many messages.

        `ids` are whole ids of messages and conversations; `resolve` finds them by a title or the end of an id. Raises
        NotFound.
        """
        living = [m.id for m in self._messages_of(ids) if not m.deleted]
        if living:
            self._ingest.delete(living)
        return len(living)

    @traced("update_memory", records)
    @writes
    def restore(self, *ids: str) -> int:
        """Takes soft deletions back, by whole ids of messages and conversations; returns how many messages. Raises
        NotFound.
        """
        hidden = [m.id for m in self._messages_of(ids) if m.deleted and not m.erased]
        if hidden:
            self._ingest.restore(hidden)
        return len(hidden)

    @traced("delete_memory")
    @writes
    def delete_message(self, *ids: str) -> None:
        """Deletes messages softly, by id. Raises NotFound."""
        self._ingest.delete([NodeId(i) for i in ids])

    @traced("update_memory")
    @writes
    def restore_message(self, *ids: str) -> None:
        """Takes the soft deletion of messages back, by id. Raises NotFound, InvalidInput for what was forgotten."""
        self._ingest.restore([NodeId(i) for i in ids])

    @traced("delete_memory", lambda gone: records(gone.messages))
    @writes
    def forget(
        self,
        *ids: str,
        sources: str | Sequence[str] = (),
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        before: str | datetime | None = None,
        everything: bool = False,
        dry_run: bool = False,
        confirm: Callable[[Forgotten], bool] | None = None,
    ) -> Forgotten:
        """Erases for good: no table, index or file holds the words any longer, and importing does not bring them back.

        `ids` are whole ids of messages, conversations and documents; `resolve` and `document` find them by a title or
        the end of an id. `sources`, `since`, `until` and `before` choose among all messages, or among those named:
        `before="6 months ago"` is what is older. `everything` is the whole namespace. Returns what goes. `confirm` is
        shown it before anything does: unless it agrees, nothing goes, and what came in meanwhile stays. Raises
        NotFound, InvalidInput where nothing is named.
        """
        from recollect.ingest.forget import Selection, forget

        named = self._sources(several(sources))
        with self._space.view() as view:
            selection = Selection.read(view, ids, named, since, until, before, everything, self._clock())
        return forget(
            self._space,
            selection,
            self._retract,
            self._ingest.untell,
            self._withdraw,
            dry_run=dry_run,
            confirm=confirm,
        )

    def secrets(self, *, sources: str | Sequence[str] = ()) -> list[StoredSecret]:
        """Where keys, tokens and passwords stand in everything that is stored, or in what came from some sources: which
        kind, in what, how often. None is told itself; `messages` and `document` show what holds it.

        All of it is read, deleted messages and earlier wordings too. Raises InvalidInput for a source that is none.
        """
        from recollect.ingest.secrets import stored_secrets

        self._written()
        named = self._sources(several(sources))
        with self._space.view() as view:
            return list(stored_secrets(view, named, self._masking.of(view)))

    @traced("delete_memory", lambda gone: records(gone.messages))
    @writes
    def forget_secrets(
        self,
        *,
        sources: str | Sequence[str] = (),
        dry_run: bool = False,
        confirm: Callable[[TakenOut], bool] | None = None,
    ) -> TakenOut:
        """Takes keys, tokens and passwords out for good, of everything or of what came from some `sources` alone; the
        text around them stays, with `[secret: …]` in their place.

        No table, index or file of the namespace holds the strings any longer, and what comes in later does not bring
        them back, but for an import that is told to (`again`). Returns what goes; `confirm` is shown it before anything
        does. Raises InvalidInput for a source that is none, StoreError.
        """
        from recollect.ingest.secrets import TakenOut

        named = self._sources(several(sources))
        if dry_run or confirm is not None:
            found = self._ingest.take_out(named, dry_run=True)
            if dry_run or not found.secrets or (confirm is not None and not confirm(found)):
                return found if dry_run else TakenOut()
        return self._ingest.take_out(named)

    @traced("delete_memory", lambda person: records(len(person.said)))
    @writes
    def forget_person(
        self,
        name: str,
        *,
        mentions: bool | Callable[[Person], bool] = False,
        dry_run: bool = False,
        confirm: Callable[[Person], bool] | None = None,
    ) -> Person:
        """Forgets a person under all names that the memory takes for theirs: what they said and all facts about them
        go for good, and they are listed no longer. With `mentions` so does every message of others and every document
        that names them, and no node holds the name any more; the title of a conversation that names them becomes the
        first words of a message that does not. Else all these stay.

        `confirm` is shown what there is before anything goes, and `mentions`, where it is a function, after that.
        Nothing goes that they were not shown. Raises NotFound, InvalidInput for you yourself.
        """
        from recollect.ingest.person import find_person, first_words_without, ids_of

        with self._space.view() as view:
            person = find_person(view, name)
        own = ids_of(person, mentions=False)
        person = replace(person, derived=self.forget(*own, dry_run=True).derived if own else {})
        if dry_run or (confirm is not None and not confirm(person)):
            return person
        also = bool(mentions(person)) if callable(mentions) else mentions
        if ids := ids_of(person, mentions=also):
            self.forget(*ids)
        for conversation in person.titled if also else ():
            self._ingest.retitle(conversation.id, partial(first_words_without, person=person))
        self._forget_name(person, everywhere=also)
        if also and person.titled:
            self._space.purge()
        return replace(person, removed=True)

    def _forget_name(self, person: Person, *, everywhere: bool) -> None:
        """Removes what is still derived of a person, or said of them by hand: `everywhere`, where no message names them
        any more, all of it to the byte; else what is told of them.
        """
        from recollect.derive.entities.by_hand import EntitiesByHand
        from recollect.derive.facts.correct import Corrections
        from recollect.ingest.person import nodes_naming
        from recollect.record import Origin

        if not everywhere:
            corrections = Corrections(self._space, self._embedder, self._clock)
            for fact in person.facts:
                with suppress(NotFound):
                    corrections.forget(fact)
            with suppress(NotFound):
                EntitiesByHand(self._space).forget(person.names[0])
        with self._space.view() as view:
            left = nodes_naming(view, person, None if everywhere else Origin.SAID)
        if left:
            self._space.erase(left)

    def _reword(self, changes: Iterable[Mapping[str, str]]) -> list[Message]:
        rewordings = self._drafts.rewordings(changes)
        return self._ingest.edit_all(rewordings, Version("", self._clock())) if rewordings else []

    @property
    def _drafts(self) -> Drafts:
        from recollect.memory.drafts import Drafts

        return Drafts(self._clock, self._ids, self._message)

    def _retract(self, message_ids: Sequence[NodeId], conversation_ids: Sequence[NodeId]) -> None:
        from recollect.derive.tasks.base import Setting
        from recollect.derive.tasks.conversation import ConversationWork
        from recollect.derive.worker import derivers, finish

        if message_ids:
            self._ingest.delete(message_ids)
        conversations = ConversationWork(self._space, derivers(), self._embedder, finish)
        conversations.derive(conversation_ids, Setting(now=self._clock()))

    def _withdraw(self, records: Sequence[NodeId]) -> None:
        from recollect.derive.facts.correct import Corrections

        Corrections(self._space, self._embedder, self._clock).withdraw(records)

    def _move(self, *ids: str, to: str) -> int:
        """Moves conversations and documents that are there to another namespace of the store, with what was decided by
        hand about their facts and entities; returns how many. Interrupted, both have them: moving again completes it.
        What comes in meanwhile stays here, and whoever moves the same at once has done it.
        """
        from recollect.ingest.forget import Selection, forget
        from recollect.ingest.moving import copy

        there = self.beside(to)
        moved = copy(self._space, self._store.space(there.namespace), there._ingest, [NodeId(one) for one in ids])  # noqa: SLF001
        if not moved.named:
            return 0
        try:
            with self._space.view() as view:
                selection = Selection.read(view, moved.named, (), None, None, None, everything=False, now=self._clock())
            selection = replace(selection, only=moved.every)
            forget(
                self._space,
                selection,
                self._retract,
                self._ingest.untell,
                self._withdraw,
                dry_run=False,
                confirm=None,
            )
        except (NotFound, InvalidInput):
            with self._space.view() as view:
                left: list[Conversation | Document] = list(view.get(Conversation, moved.named))
                left += view.get(Document, moved.named)
            if not all(one.erased for one in left):
                raise
        return len(moved.named)
