"""Coming in: imports and live writing; editing, deleting and forgetting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.memory.documents import Documents
from recollect.memory.handle import count_tokens, writes
from recollect.memory.reading import Reading, several
from recollect.record import (
    NOTHING,
    Conversation,
    Kind,
    Message,
    Metadata,
    NodeId,
    Part,
    Role,
    ToolCall,
    Version,
    stable_id,
)
from recollect.text.clean import clean_text, clean_title
from recollect.text.marks import cut_recall

if TYPE_CHECKING:
    from recollect.forget import Forgotten
    from recollect.importing import ImportReport, Progress

#: The source of conversations that are written here rather than imported.
LIVE_SOURCE = "recollect"


class Writing(Reading, Documents):
    """What is written, changed and removed."""

    @writes
    def import_file(
        self,
        *paths: str | Path,
        format: str | None = None,
        again: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> ImportReport:
        """Imports exports: files, folders, archives; the format is detected unless it is named.

        Importing again changes nothing; a newer export adds what is new. What was forgotten stays away, unless `again`
        brings it back. Raises NotFound, ImportProblem, StoreError.
        """
        from recollect.embedding.tokenizer import count_tokens, count_tokens_of
        from recollect.importing import Importing

        importing = Importing(self._space, self._ingest, count_tokens, count_tokens_of, progress, again=again)
        return importing([Path(path).expanduser() for path in paths], format)

    @writes
    def store_message(
        self,
        content: str,
        role: str = "user",
        *,
        conversation_id: str | None = None,
        parent_id: str | None = None,
        speaker: str | None = None,
        title: str = "",
        timestamp: datetime | None = None,
        kind: str = "said",
        model: str | None = None,
        parts: Sequence[Part] = (),
        metadata: Metadata = NOTHING,
        id: str | None = None,
    ) -> Message:
        """Stores one message, durably, and finds it from then on; a long one is cut in chunks [4].

        Without a conversation a new one begins. Below `parent_id` instead of the end it opens a branch. What Recollect
        itself handed out as context is cut out first. Raises InvalidInput, NotFound.
        """
        words = cut_recall(clean_text(content))
        if not words.strip() and not parts:
            raise InvalidInput("Nothing to remember: the text is empty.")
        now = _aware(timestamp) or self._clock()
        conversation = Conversation(
            id=NodeId(conversation_id or self._ids()),
            source=LIVE_SOURCE,
            title=clean_title(title),
            created=now,
            updated=now,
        )
        message = Message(
            id=NodeId(id or self._ids()),
            conversation_id=conversation.id,
            role=_choice(Role, role, "role"),
            content=words,
            kind=_choice(Kind, kind, "kind"),
            speaker=speaker,
            timestamp=now,
            parent_id=NodeId(parent_id) if parent_id else None,
            model=model,
            tokens=count_tokens(words),
            parts=tuple(parts),
            metadata=metadata,
        )
        return self._ingest.append(conversation, message)

    @writes
    def store_tool_call(
        self, name: str, arguments: str, result: str, message_id: str, *, timestamp: datetime | None = None
    ) -> ToolCall:
        """Stores a tool call with its result below a message, as a message of kind `tool` in the conversation [4]."""
        asked = self._message(NodeId(message_id))
        now = _aware(timestamp) or self._clock()
        own = NodeId(self._ids())
        call = ToolCall(
            id=stable_id("call", own, 0),
            message_id=own,
            conversation_id=asked.conversation_id,
            name=clean_title(name),
            arguments=clean_text(arguments),
            result_message_id=own,
            timestamp=now,
        )
        text = cut_recall(clean_text(result))  # the tools of Recollect hand out what is stored already
        message = Message(
            id=own,
            conversation_id=asked.conversation_id,
            role=Role.TOOL,
            content=text,
            kind=Kind.TOOL,
            timestamp=now,
            parent_id=asked.id,
            tokens=count_tokens(text),
        )
        conversation = Conversation(asked.conversation_id, LIVE_SOURCE)
        self._ingest.append(conversation, message, [call])
        return replace(call, result=text)

    @writes
    def update_message(self, id: str, content: str) -> Message:
        """Gives a message a new wording; the old ones are kept. Same id, new chunks and vectors. Raises NotFound."""
        words = clean_text(content)
        if not words.strip():
            raise InvalidInput("The new text is empty.", hint="To remove the message: delete_message()")
        return self._ingest.edit(NodeId(id), words, Version("", self._clock()))

    @writes
    def delete(self, *names: str) -> int:
        """Deletes softly: no search or count shows it, the record keeps it. Returns how many messages.

        `names` are ids, ends of ids or titles of messages and conversations. Raises NotFound, InvalidInput.
        """
        ids = [m.id for m in self._messages_of(names) if not m.deleted]
        if ids:
            self._ingest.delete(ids)
        return len(ids)

    @writes
    def restore(self, *names: str) -> int:
        """Takes soft deletions back; returns how many messages. Raises NotFound, InvalidInput."""
        ids = [m.id for m in self._messages_of(names, deleted=None) if m.deleted and not m.erased]
        if ids:
            self._ingest.restore(ids)
        return len(ids)

    @writes
    def delete_message(self, *ids: str) -> None:
        """Deletes messages softly, by id. Raises NotFound."""
        self._ingest.delete([NodeId(i) for i in ids])

    @writes
    def restore_message(self, *ids: str) -> None:
        """Takes the soft deletion of messages back, by id. Raises NotFound, InvalidInput for what was forgotten."""
        self._ingest.restore([NodeId(i) for i in ids])

    @writes
    def forget(
        self,
        *names: str,
        sources: str | Sequence[str] = (),
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Forgotten:
        """Erases for good: no table, index or file holds the words any longer, and importing does not bring them back.

        `names` are ids, ends of ids, source ids or titles of messages, conversations and documents; `sources`, `since`
        and `until` choose among all messages, or among those named; `everything` is the whole namespace. Returns what
        goes. Raises NotFound, InvalidInput where nothing is named.
        """
        from recollect.forget import Selection, forget

        named = self._sources(several(sources))
        selection = Selection.read(self.resolve, self.document, names, named, since, until, everything, self._clock())
        return forget(self._space, selection, self._retract, dry_run=dry_run)

    def _retract(self, message_ids: Sequence[NodeId], conversation_ids: Sequence[NodeId]) -> None:
        from recollect.consolidate.base import Setting
        from recollect.consolidate.conversation import Conversations
        from recollect.consolidate.registry import derivers

        if message_ids:
            self._ingest.delete(message_ids)
        conversations = Conversations(self._space, derivers(self._embedder), self._embedder)
        conversations.derive(conversation_ids, Setting(now=self._clock()))


def _aware(moment: datetime | None) -> datetime | None:
    """The moment, which is in UTC where it does not say."""
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


def _choice(kind: type[Any], value: str, name: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        names = ", ".join(member.value for member in kind)
        raise InvalidInput(f"{value!r} is no {name}.", hint=f"One of: {names}.") from None
