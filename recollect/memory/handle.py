"""What all parts of a memory share: one namespace of a store, the models, the clock, and what was read before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property, partial, wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar

from recollect.errors import InvalidInput, NotFound
from recollect.record import (
    DEFAULT_NAMESPACE,
    Conversation,
    Message,
    Namespace,
    NodeId,
    Thread,
    new_id,
    to_microseconds,
    utc_now,
)
from recollect.record import namespace as checked
from recollect.runtime.behind import TurnWriter, wait_for
from recollect.store import Space, Store, View, Where
from recollect.store.results import Kept
from recollect.store.transfer import every
from recollect.text.sentences import USUAL, Chunking

if TYPE_CHECKING:
    from recollect.derive.entities.by_hand import EntitiesByHand
    from recollect.derive.facts.correct import Corrections
    from recollect.importers.base import Entry
    from recollect.ingest import Ingest
    from recollect.ingest.importing import Importing, Progress
    from recollect.models.embedding import Embedder, TokenEmbedder
    from recollect.models.language.base import LanguageModel
    from recollect.models.rerank import Reranker
    from recollect.search.find import Searcher
    from recollect.search.query.request import Filters, Search
    from recollect.search.secrets import Mask, Masking

#: The source of conversations that are written here rather than imported.
LIVE_SOURCE = "recollect"

_MOST_NAMED = 8  # of what a name may mean
_SHORT = 6  # characters of an id, from its end, that tell it apart

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """A conversation in a list, with how much is in it."""

    conversation: Conversation
    messages: int  # that are not deleted

    @classmethod
    def read(cls, view: View, found: Sequence[Conversation]) -> list[ConversationRow]:
        """The rows of some conversations."""
        sizes = view.sizes([conversation.id for conversation in found])
        return [cls(conversation, sizes[conversation.id][0]) for conversation in found]


class Background(Protocol):
    """Receives a signal when there is work for the background."""

    def wrote(self) -> None:
        """Something was written."""
        ...

    def close(self) -> None:
        """Nothing more is written."""
        ...


class FacadePart(Protocol):
    """A part of the façade: calls on one handle."""

    handle: Handle


S = TypeVar("S", bound=FacadePart)


def writes(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """A method that leaves work for the background, also where it fails in the middle."""

    @wraps(method)
    def told(self: S, /, *arguments: P.args, **named: P.kwargs) -> T:
        try:
            return method(self, *arguments, **named)
        finally:
            self.handle.wrote()

    return told


class Handle:
    """One namespace of a store, with the parts that are exchanged. Thread-safe. `model` is for the background, and for
    what is asked for now unless `asked_model` differs (False: none).
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        namespace: Namespace = DEFAULT_NAMESPACE,
        *,
        model: LanguageModel | None = None,
        asked_model: LanguageModel | Literal[False] | None = None,
        quality: Callable[[], TokenEmbedder] | None = None,
        reranker: Reranker | None = None,
        background: Background | None = None,
        chunking: Chunking = USUAL,
        clock: Callable[[], datetime] = utc_now,
        ids: Callable[[], NodeId] = new_id,
        opened: Handle | None = None,
    ) -> None:
        """`opened` is the handle that was opened, of one that is beside it."""
        self._store, self.whole_embedder, self.namespace = store, embedder, namespace
        self.location = store.location
        self.model, self.background = model, background
        self.asked_model = model if asked_model is None else asked_model or None
        self.make_quality, self.clock, self.ids = quality or _packaged_quality, clock, ids
        self.reranker, self.chunking = reranker, chunking
        self._space, self.kept = store.space(namespace), Kept()
        self._opened = opened

    def beside(self, namespace: str) -> Handle:
        """A handle on another namespace that shares everything else. Raises InvalidInput."""
        return Handle(
            self._store,
            self.whole_embedder,
            checked(namespace),
            model=self.model,
            asked_model=self.asked_model or False,
            quality=self.make_quality,
            reranker=self.reranker,
            background=self.background,
            chunking=self.chunking,
            clock=self.clock,
            ids=self.ids,
            opened=self._opened or self,
        )

    def close(self) -> None:
        """Closes the store, once the turns that are being written behind their answers are."""
        try:
            if "behind" in self.__dict__:
                self.behind.close()
        finally:
            if self._opened is None:
                self.store.close()
                if self.background is not None:
                    self.background.close()

    def wrote(self) -> None:
        """Tells the background that there is work."""
        if self.background is not None:
            self.background.wrote()

    @property
    def store(self) -> Store:
        """The store, once it holds all that this process writes behind answers: whoever reads it must see that, and
        what is forgotten or dropped must not come back.
        """
        wait_for(self.location)
        return self._store

    @property
    def space(self) -> Space:
        """The namespace, once it holds all that this process writes behind answers, through this handle or others."""
        wait_for(self.location, self.namespace)
        return self._space

    # --- models and secrets ----------------------------------------------------------------------------------------

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder for what is in this memory: one on a server is told none of its secrets."""
        from recollect.models.embedding import is_remote

        if not is_remote(self.whole_embedder):
            return self.whole_embedder
        from recollect.models.embedding.remote import DiscreetEmbedder

        return DiscreetEmbedder(self.whole_embedder, self.masked)

    def answering(self, spoken: str) -> LanguageModel | None:
        """The model for what is asked for now. It is told no secret but those of the text that was just spoken."""
        if not self.asked_model:
            return None
        from recollect.models.language.budget import within
        from recollect.models.language.choose import discreet

        return discreet(within(self.asked_model, self.namespace), partial(self.masked, spoken=spoken))

    def masked(self, value: T, *, spoken: str = "") -> T:
        """The same without the secrets of the memory, but for those of the text that was just `spoken`."""
        return self.mask.all(value, spoken)

    @property
    def mask(self) -> Mask:
        """The mask as of now. It does not wait for what is written behind answers: that is written with it."""
        with self._space.view() as view:
            return self.masking.of(view)

    @cached_property
    def masking(self) -> Masking:
        """What knows the secrets of the memory."""
        from recollect.search.secrets import Masking

        return Masking()

    def as_left(self, value: T) -> T:
        """What comes in, without the secrets that were taken out of the memory."""
        from recollect.ingest.secrets import Withheld

        with self.space.view() as view:
            return Withheld.read(view).out_of(value)

    # --- writing ---------------------------------------------------------------------------------------------------

    @cached_property
    def behind(self) -> TurnWriter:
        """What writes turns behind their answers."""
        return TurnWriter(self.location, self.namespace)

    @property
    def ingest(self) -> Ingest:
        """Writes to the namespace; never loaded by who only searches."""
        from recollect.ingest import Ingest

        return Ingest(self.space, self.embedder, count_tokens, self.clock, self.chunking)

    def importing(
        self,
        progress: Callable[[Progress], None] | None,
        wanted: Callable[[Entry], Entry | None] | None,
        *,
        again: bool = False,
    ) -> Importing:
        """Imports files into the namespace."""
        from recollect.ingest.importing import Importing
        from recollect.models.embedding.tokenizer import count_tokens, count_tokens_of

        return Importing(self.space, self.ingest, count_tokens, count_tokens_of, progress, again=again, wanted=wanted)

    @property
    def corrections(self) -> Corrections:
        """Corrections of facts."""
        from recollect.derive.facts.correct import Corrections

        return Corrections(self.space, self.embedder, self.clock)

    @property
    def entities_by_hand(self) -> EntitiesByHand:
        """Corrections of entities."""
        from recollect.derive.entities.by_hand import EntitiesByHand

        return EntitiesByHand(self.space)

    # --- finding ---------------------------------------------------------------------------------------------------

    @property
    def searcher(self) -> Searcher:
        """Searches the namespace."""
        from recollect.search.find import Searcher

        reranker = self.reranker
        if reranker is not None:
            from recollect.search.reranking import DiscreetReranker

            reranker = DiscreetReranker(reranker, self.masked)
        return Searcher(self.space, self.embedder, self.make_quality, lambda: self.clock().date(), reranker)

    def read_search(self, query: str, filters: Filters, *, now: datetime | None = None, **options: Any) -> Search:
        """A query with its filters and options (search/query/request.py), checked against this namespace; relative
        dates are told from `now`. Raises InvalidInput.
        """
        from recollect.search.query.request import read_search

        return read_search(
            query,
            filters,
            **options,
            now=now or self.clock(),
            find_conversations=self._conversation_ids,
            check_sources=self.sources,
        )

    def sources(self, named: str | Sequence[str]) -> tuple[str, ...]:
        """The sources that are named. Raises InvalidInput for one that is not there."""
        if not named:
            return ()
        from recollect.search.query.request import checked_sources

        with self.space.view() as view:
            return checked_sources(view, several(named))

    def listing(
        self, source: str | Sequence[str], title: str, since: str | datetime | None, until: str | datetime | None
    ) -> Where:
        """Which conversations a list shows, newest first. Raises InvalidInput."""
        from recollect.search.query.request import read_period

        first, last = (None, None) if since is until is None else read_period(since, until, None, self.clock())
        return Where(
            sources=self.sources(source),
            title=title,
            since=to_microseconds(first),
            until=to_microseconds(last),
            deleted=False,
            order="newest",
        )

    def conversation(self, id: str) -> Thread:
        """A conversation with everything in it. Raises NotFound."""
        with self.space.view() as view:
            thread = view.thread(NodeId(id))
        if thread is None:
            raise NotFound(f"No conversation has the ID {id}.", hint="To see what there is: recollect list")
        if thread.conversation.erased:
            raise _forgotten(f"Conversation {id}")
        return thread

    def message(self, id: str) -> Message:
        """A message. Raises NotFound."""
        with self.space.view() as view:
            found = [one for one in view.get(Message, [NodeId(id)]) if not one.erased]
        if not found:
            raise NotFound(f"No message has the ID {id}.")
        return found[0]

    def resolve(self, name: str, *, deleted: bool | None) -> tuple[Thread, Message | None]:
        """What a name means; of conversations that are `deleted` or not, or either (None)."""
        if not name.strip():
            raise InvalidInput("A name is empty.", hint="Give an ID or a title.")
        with self.space.view() as view:
            ids = view.named(name)
            if not ids:
                where = Where(title=name, deleted=deleted, order="newest")
                titled = list(islice(every(view, Conversation, where), _MOST_NAMED + 1))
                exact = [c for c in titled if c.title.casefold() == name.casefold()]
                ids = [conversation.id for conversation in exact or titled]
            messages = view.get(Message, ids)
        if not ids:
            raise NotFound(f"No conversation or message matches {name!r}.", hint="To see what there is: recollect list")
        if len(ids) > 1:
            raise self._ambiguous(name, ids)
        message = next(iter(messages), None)
        if message is not None and message.erased:
            raise _forgotten(f"Message {message.id}")
        return self.conversation(message.conversation_id if message else ids[0]), message

    def _ambiguous(self, name: str, ids: Sequence[NodeId]) -> InvalidInput:
        """The error for a name that fits several, with what tells them apart."""
        with self.space.view() as view:
            titles = {c.id: c.title for c in view.get(Conversation, ids)}
            titles |= {m.id: " ".join(m.content[:60].split()) for m in view.get(Message, ids)}
        lines = [f"\n  {named[-_SHORT:]}  {titles.get(named) or '(no title)'}" for named in ids[:_MOST_NAMED]]
        more = "\n  …" if len(ids) > _MOST_NAMED else ""
        hint = "Name one by these characters, or by more of its title."
        return InvalidInput(f"{name!r} matches several:{''.join(lines)}{more}", hint=hint)

    def _conversation_ids(self, title_or_id: str) -> list[NodeId]:
        """The conversations that a name may mean: a whole id, of one or of a message in it, means that one alone."""
        with self.space.view() as view:
            whole = [NodeId(title_or_id)]
            if view.get(Conversation, whole):
                return whole
            if messages := view.get(Message, whole):
                return [messages[0].conversation_id]
            ids = view.named(title_or_id)
            by_id = {message.conversation_id for message in view.get(Message, ids)}
            by_id |= {conversation.id for conversation in view.get(Conversation, ids)}
            named = every(view, Conversation, Where(title=title_or_id, deleted=False))
            return sorted(by_id | {conversation.id for conversation in named})


def several(value: str | Sequence[str]) -> tuple[str, ...]:
    """One or several, as several."""
    return (value,) if isinstance(value, str) else tuple(value)


def count_tokens(text: str) -> int:
    """How many tokens a text has; the tokenizer is loaded when it is first needed."""
    from recollect.models.embedding import tokenizer

    return tokenizer.count_tokens(text)


def _forgotten(what: str) -> NotFound:
    return NotFound(f"{what} was forgotten.", hint="To bring it back from an export: recollect import --again PATH")


@cache  # one for all handles of the process
def _packaged_quality() -> TokenEmbedder:
    from recollect.models.embedding.encoder import MiniLM

    return MiniLM()
