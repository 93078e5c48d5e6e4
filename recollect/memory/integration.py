"""For programs that stand between a model and those who use it: proxies, adapters of frameworks, servers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.errors import InvalidInput, RecollectError
from recollect.memory.handle import ConversationRow, Handle, writes
from recollect.record import Conversation, Message, NodeId, ToolCall, Version
from recollect.runtime.arguments import checked_arguments, shown
from recollect.runtime.tracing import records, traced

if TYPE_CHECKING:
    from recollect.importers.base import Entry
    from recollect.ingest.importing import ImportReport, Progress
    from recollect.ingest.requested import By, GivenPart, Requested
    from recollect.memory.drafts import Drafts

#: Parts of a context that hold nothing of the memory.
_NOT_OF_THE_MEMORY = ("guide", "asked")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """Some of a list of conversations. `next` is what the following page comes `after`; None: there is no more."""

    rows: tuple[ConversationRow, ...]
    next: str | None = None


@checked_arguments
class Integration:
    """Several writes at once, pages of lists, secrets and requests."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle

    def masked(self, value: T, *, spoken: str = "") -> T:
        """A text, record, map or list as a model may be given it: with `[secret: …]` in the place of each key, token
        and password that it holds, whole or in part. What stands in the text that was just `spoken` stays.

        Everything that Recollect adds to a request goes through here: contexts, answers of tools, its own prompts.
        """
        return self.handle.mask.all(value, spoken)

    def requests(self, limit: int = 20) -> list[Requested]:
        """What the newest requests were given of this memory, the newest first, by the ids of what stood in them: those
        of proxied and wrapped clients, chats, clients of MCP and hooks. 200 are kept; what is forgotten leaves them.
        """
        from recollect.ingest.requested import newest

        with self.handle.space.view() as view:
            mask = self.handle.masking.of(view)
            return [mask.all(one) for one in newest(view, limit, mask)]

    def record_request(
        self,
        by: By,
        parts: Iterable[GivenPart],
        *,
        text: str = "",
        conversation_id: str | None = None,
        message_id: str | None = None,
    ) -> None:
        """Records for `requests` what was put into one, behind whatever is done with it: the parts of a context or a
        brief. `message_id` is what was asked, where that is stored; else `text` is, of which the beginning is kept.
        While recording is paused, or this process is marked, nothing is; of chats it is, since they are stored too.
        Raises InvalidInput.
        """
        from recollect.ingest.requested import Given, Requested, keep
        from recollect.memory.recording import Recording

        every = list(parts)
        for part in every:
            if not all(hasattr(part, name) for name in ("name", "tokens", "ids")):
                raise InvalidInput(f"parts holds {shown(part)}.", hint="Give the parts of a context or of a brief.")
        given = [part for part in every if part.name not in _NOT_OF_THE_MEMORY]
        try:
            if not given or (by != "chat" and not Recording.own().is_on()):
                return
        except RecollectError:  # whoever cannot read it must not record
            return
        request = Requested(
            at=self.handle.clock(),
            by=by,
            parts=tuple(Given(part.name, part.tokens, tuple(part.ids)) for part in given),
            conversation_id=NodeId(conversation_id) if conversation_id else None,
            message_id=NodeId(message_id) if message_id else None,
            text=self.masked(text),
        )
        self.handle.behind.write(NodeId(""), lambda: keep(self.handle.space, request))

    def fingerprint(self, ids: Iterable[str]) -> str:
        """What stays the same as long as nothing that these ids name was reworded, deleted or forgotten: for who keeps
        what was handed out.
        """
        from recollect.context.result import fingerprint

        with self.handle.space.view() as view:
            return fingerprint(view, list(map(NodeId, ids)), self.handle.kept)

    def resolve_references(self, conversation_id: str, question: str) -> str:
        """The question made whole by what was said before it in a conversation, or as it was [2]: "How does it scale?"
        becomes "How does Project Titan scale?". By the model, where one is set, else by rules; what is not certain
        stays.
        """
        from recollect.answer.chat.prompt import recent
        from recollect.answer.graph import Neighbourhood
        from recollect.answer.references.rules import resolve

        own = NodeId(conversation_id)
        self.handle.behind.settle(own)
        with self.handle.space.view() as view:
            before, model = recent(view, own), self.handle.answering(question)
            return resolve(question, before.lines, model, Neighbourhood(view).nearness).text

    def conversation_page(
        self,
        *,
        source: str | Sequence[str] = (),
        title: str = "",
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> ConversationPage:
        """As `Memory.conversations`, a page at a time, however far down: `after` is the `next` of the page before.
        Stable under concurrent writes. Raises InvalidInput, also for an unknown page.
        """
        where = self.handle.listing(source, title, since, until)
        with self.handle.space.view() as view:
            page = view.find(Conversation, where, after=after, limit=limit)
            return ConversationPage(tuple(ConversationRow.read(view, page.items)), page.next)

    def conversation_named(self, id: str) -> Conversation | None:
        """A conversation by its id, without what is in it; None where there is none that is not deleted."""
        with self.handle.space.view() as view:
            found = next(iter(view.get(Conversation, [NodeId(id)])), None)
        return None if found is None or found.deleted or found.erased else found

    def tool_calls(self, ids: Iterable[str]) -> list[ToolCall]:
        """Those tool calls that are there, with their results, in the order asked for."""
        with self.handle.space.view() as view:
            return view.get(ToolCall, [NodeId(i) for i in ids])

    def forgotten_among(self, texts: Iterable[str]) -> set[int]:
        """The places of the texts that were said here and forgotten: of those that a client tells again. A short one
        that anybody says counts only beside another.
        """
        from recollect.importers.records.forgotten import Tombstones

        with self.handle.space.view() as view:
            return Tombstones().told_again(view, list(texts))

    def aliased(self, aliases: Iterable[str]) -> dict[NodeId, list[NodeId]]:
        """The ids of the messages and tool calls that have these aliases (`add_aliases`), by the aliases, the newest
        first. An alias of nothing is left out.
        """
        from recollect.ingest.requested import read_aliases

        with self.handle.space.view() as view:
            return read_aliases(view, list(dict.fromkeys(map(NodeId, aliases))))

    def add_aliases(self, aliases: Mapping[str, Iterable[str]]) -> None:
        """Gives messages and tool calls, by their ids, other names to find them by (`aliased`), in one transaction.

        They may be stored later. Of more than 64 that share an alias the oldest lose it. Raises InvalidInput.
        """
        from recollect.ingest.requested import add_aliases, checked_aliases

        add_aliases(self.handle.space, checked_aliases(aliases), self.handle.clock())

    @traced("update_memory", records)
    @writes
    def update_messages(self, changes: Iterable[Mapping[str, str]]) -> list[Message]:
        """Gives several messages new wordings in one transaction: all of them, or none. Each is a mapping with `id` and
        `content`. Raises as `update_message` does.
        """
        rewordings = self._drafts.rewordings(changes)
        return self.handle.ingest.edit_all(rewordings, Version("", self.handle.clock())) if rewordings else []

    @traced("create_memory", records)
    @writes
    def store_tool_calls(self, calls: Iterable[Mapping[str, Any]], message_id: str) -> list[ToolCall]:
        """Stores the tool calls of one message in one transaction, in order. Each is a mapping with `name`, `arguments`
        and `result`, and what else `store_tool_call` takes. Raises NotFound, InvalidInput.
        """
        return self._drafts.store_calls(self.handle, calls, message_id)

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
        importing = self.handle.importing(progress, wanted)
        return importing.of_growing(Path(folder), [Path(file) for file in files])

    @property
    def _drafts(self) -> Drafts:
        from recollect.memory.drafts import Drafts

        return Drafts(self.handle.clock, self.handle.ids, self.handle.message)
