"""The façade: one namespace of one store, with everything that can be done with it. The faces sit on this alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

from recollect.embedding import QUALITY_TOKENS, Embedder, TokenEmbedder
from recollect.embedding.tokenizer import count_tokens, count_tokens_of
from recollect.errors import InvalidInput, NotFound
from recollect.ingest import Ingest
from recollect.record import (
    DEFAULT_NAMESPACE,
    NOTHING,
    Conversation,
    Document,
    Kind,
    Message,
    Metadata,
    Namespace,
    NodeId,
    Part,
    Role,
    Thread,
    ToolCall,
    Version,
    new_id,
    stable_id,
    to_microseconds,
    utc_now,
)
from recollect.store import ConversationFilter, ConversationRow, Counts, Store, Violation
from recollect.text.clean import clean_text, clean_title
from recollect.text.marks import cut_recall

if TYPE_CHECKING:
    from recollect.importing import ImportReport, Progress
    from recollect.search.result import SearchResults

#: The source of conversations that are written here rather than imported.
LIVE_SOURCE = "recollect"

_EMBED_BATCH = 64


class Memory:
    """A handle on one namespace. Thread-safe; usable as a context manager. Open one with `recollect.open()`."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        namespace: Namespace = DEFAULT_NAMESPACE,
        *,
        quality: Callable[[], TokenEmbedder] | None = None,
        clock: Callable[[], datetime] = utc_now,
        ids: Callable[[], NodeId] = new_id,
    ) -> None:
        self._store, self._embedder, self.namespace = store, embedder, namespace
        self._make_quality, self._clock, self._ids = quality or _packaged_quality, clock, ids
        self._ingest = Ingest(store, namespace, embedder, count_tokens)

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Memory {self.namespace} in {self._store.location}>"

    def close(self) -> None:
        """Closes the store. Further calls raise StoreError."""
        self._store.close()

    @property
    def location(self) -> str:
        """Where the store is: a path or an address."""
        return self._store.location

    @property
    def embedder_name(self) -> str:
        """The identity of the embedder in use."""
        return self._embedder.name

    # --- coming in -------------------------------------------------------------------------------------------------
    def import_file(
        self,
        *paths: str | Path,
        format: str | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> ImportReport:
        """Imports exports: files, folders, archives; the format is detected unless it is named.

        Importing again changes nothing; a newer export adds what is new. Raises NotFound, ImportProblem, StoreError.
        """
        from recollect.importing import Importing

        importing = Importing(self._store, self.namespace, self._ingest, count_tokens, count_tokens_of, progress)
        return importing([Path(path).expanduser() for path in paths], format)

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
            raise InvalidInput("A message needs words or parts.")
        now = timestamp or self._clock()
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

    def store_tool_call(
        self, name: str, arguments: str, result: str, message_id: str, *, timestamp: datetime | None = None
    ) -> ToolCall:
        """Stores a tool call with its result below a message, as a message of kind `tool` in the conversation [4]."""
        asked = self._message(NodeId(message_id))
        now = timestamp or self._clock()
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
        text = clean_text(result)
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

    def update_message(self, id: str, content: str) -> Message:
        """Gives a message a new wording; the old ones are kept. Same id, new chunks and vectors. Raises NotFound."""
        words = clean_text(content)
        if not words.strip():
            raise InvalidInput("A message needs words.", hint="To remove it: delete_message().")
        return self._ingest.edit(NodeId(id), words, Version("", self._clock()))

    def delete_message(self, *ids: str) -> None:
        """Deletes softly: no search or count shows it, the record keeps it. Raises NotFound."""
        self._ingest.delete([NodeId(i) for i in ids])

    def restore_message(self, *ids: str) -> None:
        """Takes a soft deletion back. Raises NotFound."""
        self._ingest.restore([NodeId(i) for i in ids])

    # --- going out -------------------------------------------------------------------------------------------------
    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        group_by: str = "conversation",
        source: str | Sequence[str] = (),
        role: str | Sequence[str] = (),
        kind: str | Sequence[str] = (),
        conversation: str | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        mode: str = "auto",
    ) -> SearchResults:
        """Finds messages by meaning, words and relation; grouped by conversation, or one result a message.

        The query may hold filters: `source:claude since:2025-03 role:user "exact phrase" -word`. `kind` asks for what
        nobody said: reasoning, tool, context, subagent, document, all. `mode`: auto (quality where its vectors are
        made), instant, quality. Raises InvalidInput.
        """
        from recollect.search.request import read_search

        search = read_search(
            query,
            limit=limit,
            group_by=group_by,
            sources=_several(source),
            roles=_several(role),
            kinds=_several(kind),
            conversation=conversation,
            since=since,
            until=until,
            mode=mode,
            now=self._clock(),
            find_conversations=self._conversation_ids,
        )
        found: SearchResults = self._searcher(search)
        return found

    recall = search

    def conversations(
        self,
        *,
        source: str | Sequence[str] = (),
        title: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[ConversationRow]:
        """Conversations with their numbers of messages, newest first."""
        wanted = ConversationFilter(_several(source), title, to_microseconds(since), to_microseconds(until))
        return self._store.conversations(self.namespace, wanted, limit=limit, offset=offset)

    def conversation(self, id: str) -> Thread:
        """A conversation with everything in it. Raises NotFound."""
        thread = self._store.thread(self.namespace, NodeId(id))
        if thread is None:
            raise NotFound(f"There is no conversation {id}.", hint="recollect list shows what is there.")
        return thread

    def messages(self, ids: Iterable[str]) -> list[Message]:
        """Those messages that are there, in the order asked for."""
        return self._store.messages(self.namespace, [NodeId(i) for i in ids])

    def tool_calls(self, ids: Iterable[str]) -> list[ToolCall]:
        """Those tool calls that are there, with their results, in the order asked for."""
        return self._store.tool_calls(self.namespace, [NodeId(i) for i in ids])

    def documents(self) -> Iterator[Document]:
        """The documents of the namespace."""
        return self._store.documents(self.namespace)

    def resolve(self, name: str) -> tuple[Thread, Message | None]:
        """What a person means by an id, the end of one, a source's id or a title: the conversation, and the message.

        Raises NotFound, or InvalidInput where several are meant.
        """
        ids = self._store.ids_ending(self.namespace, name)
        if not ids:
            rows = self.conversations(title=name, limit=4)
            exact = [row for row in rows if row.conversation.title.casefold() == name.casefold()]
            ids = [row.conversation.id for row in exact or rows]
        if not ids:
            raise NotFound(f"Nothing is called {name!r}.", hint="recollect list shows what is there.")
        if len(ids) > 1:
            several = ", ".join(ids)
            raise InvalidInput(f"{name!r} can mean several: {several}.", hint="Give more of the id.")
        message = next(iter(self._store.messages(self.namespace, ids)), None)
        return self.conversation(message.conversation_id if message else ids[0]), message

    # --- upkeep ----------------------------------------------------------------------------------------------------
    def embed(self, *, progress: Callable[[int, int], None] | None = None, limit: int | None = None) -> int:
        """Makes the vectors of the quality mode for what was said and has none yet, newest first; returns how many.

        Interrupted, it goes on where it was. `progress` gets the passages made and wanted.
        """
        from recollect.store.passages import QualityVectors

        model = self._make_quality()
        counts = self.stats()
        wanted = counts.said_passages - counts.quality
        wanted = wanted if limit is None else min(wanted, limit)
        made = 0
        while made < wanted:
            texts = self._store.without_quality(self.namespace, min(_EMBED_BATCH, wanted - made))
            if not texts:
                break
            vectors, tokens = model.embed_with_tokens([text.text for text in texts], max_tokens=QUALITY_TOKENS)
            rows = [
                QualityVectors(text.number, vector, token.ids, token.vectors)
                for text, vector, token in zip(texts, vectors, tokens, strict=True)
            ]
            self._store.store_quality(self.namespace, rows)
            made += len(rows)
            if progress is not None:
                progress(made, wanted)
        return made

    def reindex(self, *, progress: Callable[[int], None] | None = None) -> int:
        """Throws away everything that is derived for search and makes it again from the messages; returns how many."""
        self._store.clear_passages(self.namespace)
        return Ingest(self._store, self.namespace, self._embedder, count_tokens).reindex(progress)

    def export(self, target: str | Path | BinaryIO, *, progress: Callable[[int], None] | None = None) -> int:
        """Writes the whole namespace as a dump that `import_file` reads back without loss; returns the records."""
        from recollect.store.transfer import dump

        if isinstance(target, str | Path):
            path = Path(target).expanduser()
            partial = path.with_name(path.name + ".part")
            with partial.open("wb") as stream:
                written = dump(self._store, self.namespace, stream, progress)
            partial.replace(path)
            return written
        return dump(self._store, self.namespace, target, progress)

    def check(self) -> list[Violation]:
        """Verifies every invariant of the namespace; an empty list means that all hold."""
        return self._store.check(self.namespace)

    def stats(self) -> Counts:
        """What is in the namespace."""
        return self._store.counts(self.namespace)

    def size(self) -> int:
        """Bytes that the whole store takes."""
        return self._store.size()

    def namespaces(self) -> list[Namespace]:
        """The namespaces of the store that hold anything."""
        return self._store.namespaces()

    def stored_embedder(self) -> str | None:
        """The embedder that made the vectors of this namespace."""
        return self._store.embedder(self.namespace)

    # --- inside ----------------------------------------------------------------------------------------------------
    @cached_property
    def _searcher(self) -> Any:
        from recollect.search.find import Searcher

        return Searcher(self._store, self.namespace, self._embedder, self._make_quality)

    def _message(self, id: NodeId) -> Message:
        found = self._store.messages(self.namespace, [id])
        if not found:
            raise NotFound(f"There is no message {id}.")
        return found[0]

    def _conversation_ids(self, title_or_id: str) -> list[NodeId]:
        ids = self._store.ids_ending(self.namespace, title_or_id)
        by_id = {m.conversation_id for m in self._store.messages(self.namespace, ids)}
        by_id |= {i for i in ids if self._store.end(self.namespace, i) is not None}
        by_title = {row.conversation.id for row in self.conversations(title=title_or_id, limit=10_000)}
        return sorted(by_id | by_title)


def _several(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _choice(kind: type[Any], value: str, name: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        names = ", ".join(member.value for member in kind)
        raise InvalidInput(f"{value!r} is no {name}.", hint=f"One of: {names}.") from None


def _packaged_quality() -> TokenEmbedder:
    from recollect.embedding.minilm import MiniLM

    return MiniLM()
