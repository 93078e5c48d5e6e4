"""The façade: one namespace of one store, with everything that can be done with it. The faces sit on this alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, wraps
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Concatenate, Literal, ParamSpec, Protocol, TypeVar

from recollect.errors import InvalidInput, NotFound
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
from recollect.record import namespace as checked
from recollect.store import Counts, IndexInfo, Store, StoreInfo, Task, Violation, Where
from recollect.store.transfer import every
from recollect.text.clean import clean_text, clean_title
from recollect.text.marks import cut_recall

if TYPE_CHECKING:
    from threading import Event

    from recollect.consolidate.backlog import Backlog
    from recollect.consolidate.desk import Consolidated
    from recollect.consolidate.entities.by_hand import ByHand
    from recollect.consolidate.entities.entity import Entity
    from recollect.consolidate.entities.graph import Graph, Paths
    from recollect.consolidate.facts.correct import Corrections
    from recollect.consolidate.facts.fact import Fact
    from recollect.consolidate.shift import Done
    from recollect.consolidate.summaries.reading import Summary
    from recollect.consolidate.topics.reading import Segment, Topic
    from recollect.consolidate.worker import Worker
    from recollect.embedding import Embedder, TokenEmbedder
    from recollect.forget import Forgotten
    from recollect.importing import ImportReport, Progress
    from recollect.ingest import Ingest
    from recollect.model.base import LanguageModel
    from recollect.search.result import SearchResults

#: The source of conversations that are written here rather than imported.
LIVE_SOURCE = "recollect"

_MOST_NAMED = 8  # of what a name may mean
_SHORT = 6  # characters of an id, from its end, that tell it apart
_MAINTENANCE = timedelta(seconds=1)


class Background(Protocol):
    """What is told that there is work for the background."""

    def wrote(self) -> None:
        """Something was written."""
        ...

    def close(self) -> None:
        """Nothing more is written."""
        ...


P = ParamSpec("P")
T = TypeVar("T")


def _writes(method: Callable[Concatenate[Memory, P], T]) -> Callable[Concatenate[Memory, P], T]:
    """A method that leaves work for the background, also where it fails in the middle."""

    @wraps(method)
    def told(self: Memory, /, *arguments: P.args, **named: P.kwargs) -> T:
        try:
            return method(self, *arguments, **named)
        finally:
            if self._background is not None:
                self._background.wrote()

    return told


class Memory:
    """A handle on one namespace. Thread-safe; usable as a context manager. Open one with `recollect.open()`."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        namespace: Namespace = DEFAULT_NAMESPACE,
        *,
        model: LanguageModel | None = None,
        quality: Callable[[], TokenEmbedder] | None = None,
        background: Background | None = None,
        clock: Callable[[], datetime] = utc_now,
        ids: Callable[[], NodeId] = new_id,
    ) -> None:
        self._store, self._embedder, self.namespace = store, embedder, namespace
        self._model, self._background = model, background
        self._make_quality, self._clock, self._ids = quality or _packaged_quality, clock, ids
        self._space = store.space(namespace)

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
        if self._background is not None:
            self._background.close()

    @property
    def location(self) -> str:
        """Where the store is: a path or an address."""
        return self._store.location

    @property
    def embedder_name(self) -> str:
        """The identity of the embedder in use."""
        return self._embedder.name

    # --- coming in -------------------------------------------------------------------------------------------------
    @_writes
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

    @_writes
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
            tokens=_count_tokens(words),
            parts=tuple(parts),
            metadata=metadata,
        )
        return self._ingest.append(conversation, message)

    @_writes
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
        text = clean_text(result)
        message = Message(
            id=own,
            conversation_id=asked.conversation_id,
            role=Role.TOOL,
            content=text,
            kind=Kind.TOOL,
            timestamp=now,
            parent_id=asked.id,
            tokens=_count_tokens(text),
        )
        conversation = Conversation(asked.conversation_id, LIVE_SOURCE)
        self._ingest.append(conversation, message, [call])
        return replace(call, result=text)

    @_writes
    def update_message(self, id: str, content: str) -> Message:
        """Gives a message a new wording; the old ones are kept. Same id, new chunks and vectors. Raises NotFound."""
        words = clean_text(content)
        if not words.strip():
            raise InvalidInput("The new text is empty.", hint="To remove the message: delete_message()")
        return self._ingest.edit(NodeId(id), words, Version("", self._clock()))

    @_writes
    def delete(self, *names: str) -> int:
        """Deletes softly: no search or count shows it, the record keeps it. Returns how many messages.

        `names` are ids, ends of ids or titles of messages and conversations. Raises NotFound, InvalidInput.
        """
        ids = [m.id for m in self._messages_of(names) if not m.deleted]
        if ids:
            self._ingest.delete(ids)
        return len(ids)

    @_writes
    def restore(self, *names: str) -> int:
        """Takes soft deletions back; returns how many messages. Raises NotFound, InvalidInput."""
        ids = [m.id for m in self._messages_of(names, deleted=None) if m.deleted and not m.erased]
        if ids:
            self._ingest.restore(ids)
        return len(ids)

    @_writes
    def delete_message(self, *ids: str) -> None:
        """Deletes messages softly, by id. Raises NotFound."""
        self._ingest.delete([NodeId(i) for i in ids])

    @_writes
    def restore_message(self, *ids: str) -> None:
        """Takes the soft deletion of messages back, by id. Raises NotFound, InvalidInput for what was forgotten."""
        self._ingest.restore([NodeId(i) for i in ids])

    @_writes
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

        `names` are ids, ends of ids, source ids or titles of messages and conversations; `sources`, `since` and `until`
        choose among all messages, or among those named; `everything` is the whole namespace. Returns what goes.
        Raises NotFound, InvalidInput where nothing is named.
        """
        from recollect.forget import Selection, forget

        named = self._sources(_several(sources))
        selection = Selection.read(self.resolve, names, named, since, until, everything, self._clock())
        return forget(self._space, selection, self._retract, dry_run=dry_run)

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
        before: str | datetime | None = None,
        mode: str = "auto",
        sort: str = "relevance",
        literal: bool = False,
    ) -> SearchResults:
        """Finds messages by meaning, words and relation; grouped by conversation, or one result a message.

        The query may hold filters: `source:claude since:2025-03 role:user "exact phrase" -word`. `kind` asks for other
        than chat text: attachment, reasoning, tool, context, subagent, document, all. `until` includes the day, month
        or year it names, `before` does not. `mode`: auto (quality where its vectors are made), instant, quality.
        `sort`: relevance, newest. `literal` takes the query as one phrase, word for word. Raises
        InvalidInput, also for a source that is not there.
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
            before=before,
            mode=mode,
            sort=sort,
            literal=literal,
            now=self._clock(),
            find_conversations=self._conversation_ids,
            check_sources=self._sources,
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
        """Conversations with their numbers of messages, newest first. Raises InvalidInput for a source not there."""
        where = Where(
            sources=self._sources(_several(source)),
            title=title,
            since=to_microseconds(since),
            until=to_microseconds(until),
            deleted=False,
            order="newest",
        )
        with self._space.view() as view:
            found = list(islice(every(view, Conversation, where), offset, offset + limit))
            sizes = view.sizes([conversation.id for conversation in found])
        return [ConversationRow(conversation, sizes[conversation.id][0]) for conversation in found]

    def conversation(self, id: str) -> Thread:
        """A conversation with everything in it. Raises NotFound."""
        with self._space.view() as view:
            thread = view.thread(NodeId(id))
        if thread is None or thread.conversation.erased:
            raise NotFound(f"No conversation has the ID {id}.", hint="To see what there is: recollect list")
        return thread

    def messages(self, ids: Iterable[str]) -> list[Message]:
        """Those messages that are there, in the order asked for."""
        with self._space.view() as view:
            return [message for message in view.get(Message, [NodeId(i) for i in ids]) if not message.erased]

    def tool_calls(self, ids: Iterable[str]) -> list[ToolCall]:
        """Those tool calls that are there, with their results, in the order asked for."""
        with self._space.view() as view:
            return view.get(ToolCall, [NodeId(i) for i in ids])

    # --- facts -----------------------------------------------------------------------------------------------------
    def facts(
        self, about: str | None = None, as_of: str | datetime | None = None, include_past: bool = False
    ) -> list[Fact]:
        """What is held true, pinned facts first, then the newest. `about` is whom or what it concerns ("Luna", "me").

        `as_of` asks what was believed at a time ("2025-03", "last spring": at its end); `include_past` shows what no
        longer holds as well. Raises InvalidInput for what is no time.
        """
        from recollect.consolidate.facts.fact import find_facts, moment_of

        moment = None if as_of is None else moment_of(as_of, self._clock())
        with self._space.view() as view:
            return find_facts(view, about, moment, now=self._clock(), include_past=include_past)

    @_writes
    def edit_fact(self, id: str, content: str | None = None, *, value: str | None = None) -> Fact:
        """Corrects a fact: what you say outranks what was derived, and survives a rebuild. Raises NotFound."""
        return self._corrections.edit(id, content, value)

    @_writes
    def pin_fact(self, id: str, *, pinned: bool = True) -> Fact:
        """Holds on to a fact: nothing derived replaces it; with `pinned` false lets it go. Raises NotFound."""
        return self._corrections.pin(id, pinned=pinned)

    @_writes
    def merge_facts(self, keep: str, *others: str) -> Fact:
        """Makes one fact of several that say the same. Raises NotFound, InvalidInput."""
        return self._corrections.merge(keep, others)

    @_writes
    def forget_fact(self, id: str) -> str:
        """Removes a fact; it is not drawn from the same messages again. Returns its id, for `undo_fact`."""
        return self._corrections.forget(id)

    @_writes
    def undo_fact(self, id: str) -> list[Fact]:
        """Takes back what was decided about a fact by hand; returns the facts that come of it. Raises NotFound."""
        return self._corrections.undo(id)

    def summaries(self, conversation_id: str | None = None, kind: str | None = None) -> list[Summary]:
        """What messages come down to, by time: of a conversation, or of all; `kind` is conversation, l1, l2, segment,
        period or topic. Made in the background, or by `consolidate`. Raises InvalidInput for another kind.
        """
        from recollect.consolidate.summaries.reading import summaries

        with self._space.view() as view:
            return summaries(view, NodeId(conversation_id) if conversation_id else None, kind)

    def documents(self) -> Iterator[Document]:
        """The documents of the namespace."""
        with self._space.view() as view:
            yield from every(view, Document, Where(deleted=False))

    def resolve(self, name: str) -> tuple[Thread, Message | None]:
        """What a person means by an id, the end of one, a source's id or a title: the conversation, and the message.

        Raises NotFound, or InvalidInput where several are meant.
        """
        return self._resolve(name, deleted=False)

    # --- who and what is spoken of ---------------------------------------------------------------------------------
    def entities(self, *, type: str | None = None, limit: int = 50) -> list[Entity]:
        """The people, places, tools and other names that messages mention, the most salient first [2]."""
        from recollect.consolidate.entities.directory import Directory

        with self._space.view() as view:
            return Directory(view).salient(self._clock(), type, limit)

    def entity(self, name: str) -> Entity:
        """The entity of a name, in any of its spellings. Raises NotFound with the nearest names."""
        from recollect.consolidate.entities.directory import Directory

        with self._space.view() as view:
            return Directory(view).named(name)

    def graph(self, entity: str, depth: int = 1, limit: int = 150) -> Graph:
        """What lies around an entity: others, and the relations among them with their evidence. Raises NotFound."""
        from recollect.consolidate.entities.graph import around

        with self._space.view() as view:
            return around(view, entity, depth, limit)

    def paths(self, source: str, target: str) -> Paths:
        """The shortest ways between two entities, in words by `str`; neighbours where there is none [0].

        Raises NotFound.
        """
        from recollect.consolidate.entities.graph import between

        with self._space.view() as view:
            return between(view, source, target)

    def edit_entity(self, name: str, new_name: str | None = None, *, type: str | None = None) -> Entity:
        """Corrects the name or type of an entity: what you say outranks what was derived, and survives a rebuild.

        Raises NotFound, InvalidInput.
        """
        return self._entities_by_hand.edit(name, new_name, type)

    def pin_entity(self, name: str, *, pinned: bool = True) -> Entity:
        """Lists an entity first, and keeps it even where nothing mentions it any more. Raises NotFound."""
        return self._entities_by_hand.pin(name, pinned=pinned)

    def merge_entities(self, name: str, into: str) -> Entity:
        """Takes an entity for another name of a second, which is returned. Raises NotFound, InvalidInput."""
        return self._entities_by_hand.merge(name, into)

    def unmerge_entity(self, name: str) -> Entity:
        """Takes a name out of the entity that it was merged into. Raises NotFound, InvalidInput."""
        return self._entities_by_hand.unmerge(name)

    def forget_entity(self, name: str) -> Entity:
        """Shows an entity no longer; the messages that mention it stay. Raises NotFound."""
        return self._entities_by_hand.forget(name)

    def undo_entity(self, name: str) -> Entity:
        """Takes back what was said of an entity by hand. Raises NotFound."""
        return self._entities_by_hand.undo(name)

    def topics(self, limit: int = 50) -> list[Topic]:
        """What many conversations are about, the largest first, each with its period [4]."""
        from recollect.consolidate.topics import reading

        with self._space.view() as view:
            return reading.topics(view, limit)

    def get_topic_messages(self, topic: str, limit: int = 50) -> list[Message]:
        """The messages of a topic by its label, a term of it or its id, the most typical first [4]. Raises NotFound."""
        from recollect.consolidate.topics import reading

        with self._space.view() as view:
            return reading.messages_of(view, reading.named(view, topic), limit)

    get_cluster = get_topic_messages

    def segments(self, conversation_id: str) -> list[Segment]:
        """A conversation as runs of turns about one thing, cut where it drifts [2]. Raises NotFound."""
        from recollect.consolidate.topics import reading

        with self._space.view() as view:
            return reading.segments(view, NodeId(conversation_id))

    # --- upkeep ----------------------------------------------------------------------------------------------------
    def embed(self, *, progress: Callable[[int, int], None] | None = None, limit: int | None = None) -> int:
        """Makes the vectors of the quality mode for what was said and has none yet, newest first; returns how many.

        Interrupted, it goes on where it was; while a background worker makes them, it waits for that. `progress` gets
        the passages made and wanted.
        """
        from recollect.consolidate.quality import embed_all

        return embed_all(self._space, self._make_quality, self._clock, limit, progress)

    def consolidate(
        self, *, limit: int | None = None, progress: Callable[[Consolidated], None] | None = None
    ) -> Consolidated:
        """Derives what is due in the namespace, or so many tasks of it; returns what was done.

        Interrupted, it goes on where it was. `progress` gets what has been done so far. Raises StoreError.
        """
        return self._worker.drain([self.namespace], limit=limit, progress=progress)

    def tasks(self, state: Literal["due", "leased", "dead"] = "due", *, limit: int = 100) -> list[tuple[Task, str]]:
        """What the worker has to do, is doing, or has given up, oldest first; with the reason of the last failure."""
        with self._space.view() as view:
            return view.tasks(state, limit)

    def retry(self, *ids: str) -> int:
        """Has tasks that were given up tried again: those with these ids, or all. Returns how many."""
        revived = self._space.revive([NodeId(i) for i in ids] if ids else None)
        if revived and self._background is not None:
            self._background.wrote()
        return revived

    def work(
        self,
        *,
        namespaces: Sequence[str] | None = None,
        once: bool = False,
        stop: Event | None = None,
        is_over: Callable[[float, float | None], bool] | None = None,
        progress: Callable[[Done], None] | None = None,
    ) -> Done:
        """Does what the background worker does: consolidates, makes quality vectors, keeps the store in shape; in all
        namespaces of the store, or in some. Returns what was done.

        Until nothing is left to do (`once`), or until `stop` is set or `is_over` says so, which is told between rounds
        for how many seconds nothing was done, and in how many something that failed is tried again.
        """
        from recollect.consolidate.shift import Shift

        names = None if namespaces is None else [checked(name) for name in namespaces]
        shift = Shift(
            self._store,
            self._worker,
            self._make_quality,
            namespaces=names,
            stop=stop,
            clock=self._clock,
            progress=progress,
        )
        return shift.once() if once else shift.run(is_over)

    def backlog(self, *, namespaces: Sequence[str] | None = None) -> Backlog | None:
        """What waits for the model that is set, and about what it will take; in this namespace, or in some. None where
        none is set. Nothing is asked or changed.
        """
        from recollect.consolidate.backlog import backlogs
        from recollect.consolidate.registry import model_works

        if self._model is None:
            return None
        spaces = [self._store.space(checked(name)) for name in namespaces or [self.namespace]]
        return backlogs(spaces, model_works(self._embedder), self._model)

    def reindex(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Makes anew what search derives from the messages, beside what is in use; returns how many messages.

        Search answers meanwhile; interrupted, it goes on where it was. `progress` gets the messages done and all.
        """
        from recollect.reindex import reindex

        done = reindex(self._space, self._ingest, progress)
        self.maintain()
        return done

    def maintain(self, budget: timedelta | None = None) -> bool:
        """Does what is due of the store's own upkeep, for so long at most; True while there is more."""
        if budget is not None:
            return self._space.maintain(budget)
        while self._space.maintain(_MAINTENANCE):
            pass
        return False

    def export(
        self,
        target: str | Path | BinaryIO,
        *,
        overwrite: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Writes the whole namespace as a dump that `import_file` reads back without loss; returns the records.

        A file appears whole or not at all, and is yours alone to read. Something else than a dump is replaced only
        where `overwrite` says so. Raises InvalidInput, StoreError.
        """
        from recollect.store.transfer import dump
        from recollect.writing import whole_file

        if isinstance(target, str | Path):
            with whole_file(Path(target).expanduser(), overwrite=overwrite) as stream:
                return dump(self._space, stream, progress)
        return dump(self._space, target, progress)

    def backup(self, target: str | Path, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Writes a verified copy of the whole store, all namespaces, while it is in use; returns its bytes.

        `recollect.restore` puts it back. Raises InvalidInput, StoreError.
        """
        path = Path(target).expanduser()
        self._store.backup(path, progress)
        return path.stat().st_size

    def check(self) -> list[Violation]:
        """Verifies every invariant of the namespace; an empty list means that all hold."""
        return self._space.check()

    def repair(self, *, progress: Callable[[int, int], None] | None = None) -> list[Violation]:
        """Makes anew what is derived, where something is wrong with it; returns what is wrong then."""
        if any(violation.remedy == "reindex" for violation in self.check()):
            self.reindex(progress=progress)
        return self.check()

    def stats(self) -> Counts:
        """What is in the namespace."""
        with self._space.view() as view:
            return view.counts()

    def index(self) -> IndexInfo:
        """What search reads, and what is being built beside it."""
        with self._space.view() as view:
            return view.index()

    def info(self) -> StoreInfo:
        """About the whole store: engine, schema, bytes."""
        return self._store.info()

    def namespaces(self) -> list[Namespace]:
        """The namespaces of the store that hold anything."""
        return self._store.namespaces()

    def stored_embedder(self) -> str | None:
        """The embedder that made the vectors of this namespace."""
        embedder = self.index().embedder
        return embedder.name if embedder else None

    # --- inside ----------------------------------------------------------------------------------------------------
    @cached_property
    def _entities_by_hand(self) -> ByHand:
        from recollect.consolidate.entities.by_hand import ByHand

        return ByHand(self._space)

    @cached_property
    def _searcher(self) -> Any:
        from recollect.search.find import Searcher

        return Searcher(self._space, self._embedder, self._make_quality, lambda: self._clock().date())

    def _message(self, id: NodeId) -> Message:
        found = self.messages([id])
        if not found:
            raise NotFound(f"No message has the ID {id}.")
        return found[0]

    def _resolve(self, name: str, *, deleted: bool | None) -> tuple[Thread, Message | None]:
        if not name.strip():
            raise InvalidInput("A name is empty.", hint="Give an ID or a title.")
        with self._space.view() as view:
            ids = view.named(name)
            if not ids:
                titled = list(
                    islice(
                        every(view, Conversation, Where(title=name, deleted=deleted, order="newest")), _MOST_NAMED + 1
                    )
                )
                exact = [c for c in titled if c.title.casefold() == name.casefold()]
                ids = [conversation.id for conversation in exact or titled]
        if not ids:
            raise NotFound(f"No conversation or message matches {name!r}.", hint="To see what there is: recollect list")
        if len(ids) > 1:
            raise self._ambiguous(name, ids)
        message = next(iter(self.messages(ids)), None)
        return self.conversation(message.conversation_id if message else ids[0]), message

    def _ambiguous(self, name: str, ids: Sequence[NodeId]) -> InvalidInput:
        """The error for a name that fits several, with what tells them apart."""
        with self._space.view() as view:
            titles = {c.id: c.title for c in view.get(Conversation, ids)}
            titles |= {m.id: " ".join(m.content[:60].split()) for m in view.get(Message, ids)}
        lines = [f"\n  {named[-_SHORT:]}  {titles.get(named) or '(no title)'}" for named in ids[:_MOST_NAMED]]
        more = "\n  …" if len(ids) > _MOST_NAMED else ""
        hint = "Name one by these characters, or by more of its title."
        return InvalidInput(f"{name!r} matches several:{''.join(lines)}{more}", hint=hint)

    def _messages_of(self, names: Sequence[str], *, deleted: bool | None = False) -> list[Message]:
        """Every message that is meant by names of messages and conversations, each once."""
        found: dict[NodeId, Message] = {}
        for name in names:
            thread, message = self._resolve(name, deleted=deleted)
            found |= {m.id: m for m in ([message] if message else thread.messages)}
        return list(found.values())

    def _sources(self, named: Sequence[str]) -> tuple[str, ...]:
        if not named:
            return ()
        from recollect.search.sources import checked_sources

        with self._space.view() as view:
            return checked_sources(view, named)

    def _retract(self, message_ids: Sequence[NodeId], conversation_ids: Sequence[NodeId]) -> None:
        from recollect.consolidate.base import Setting
        from recollect.consolidate.conversation import Conversations
        from recollect.consolidate.registry import derivers

        if message_ids:
            self._ingest.delete(message_ids)
        conversations = Conversations(self._space, derivers(self._embedder), self._embedder)
        conversations.derive(conversation_ids, Setting(now=self._clock()))

    @cached_property
    def _worker(self) -> Worker:
        from recollect.consolidate.worker import Worker

        return Worker(self._store, self._embedder, model=self._model_for, clock=self._clock)

    def _model_for(self, namespace: Namespace) -> LanguageModel | None:
        from recollect.model.budget import within

        return within(self._model, namespace) if self._model else None

    @cached_property
    def _corrections(self) -> Corrections:
        from recollect.consolidate.facts.correct import Corrections

        return Corrections(self._space, self._embedder, self._clock)

    @cached_property
    def _ingest(self) -> Ingest:
        """The way in; who only searches never loads it."""
        from recollect.ingest import Ingest

        return Ingest(self._space, self._embedder, _count_tokens, self._clock)

    def _conversation_ids(self, title_or_id: str) -> list[NodeId]:
        with self._space.view() as view:
            ids = view.named(title_or_id)
            by_id = {message.conversation_id for message in view.get(Message, ids)}
            by_id |= {conversation.id for conversation in view.get(Conversation, ids)}
            named = every(view, Conversation, Where(title=title_or_id, deleted=False))
            return sorted(by_id | {conversation.id for conversation in named})


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """A conversation in a list, with how much is in it."""

    conversation: Conversation
    messages: int  # that are not deleted


def _aware(moment: datetime | None) -> datetime | None:
    """The moment, which is in UTC where it does not say."""
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


def _several(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _choice(kind: type[Any], value: str, name: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        names = ", ".join(member.value for member in kind)
        raise InvalidInput(f"{value!r} is no {name}.", hint=f"One of: {names}.") from None


def _count_tokens(text: str) -> int:
    from recollect.embedding.tokenizer import count_tokens

    return count_tokens(text)


def _packaged_quality() -> TokenEmbedder:
    from recollect.embedding.minilm import MiniLM

    return MiniLM()
