"""What every part of the façade stands on: a store, one namespace of it, and the parts that are exchanged."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import cache, cached_property, wraps
from types import TracebackType
from typing import TYPE_CHECKING, Concatenate, Literal, ParamSpec, Protocol, Self, TypeVar

from recollect.record import DEFAULT_NAMESPACE, Namespace, NodeId, new_id, utc_now
from recollect.record import namespace as checked
from recollect.store import Store
from recollect.store.results import Kept
from recollect.text.sentences import USUAL, Chunking

if TYPE_CHECKING:
    from recollect.answer.chat.writing import TurnWriter, TurnWriters
    from recollect.ingest import Ingest
    from recollect.models.embedding import Embedder, TokenEmbedder
    from recollect.models.language.base import LanguageModel
    from recollect.models.rerank import Reranker
    from recollect.search.secrets import Mask, Masking

#: The source of conversations that are written here rather than imported.
LIVE_SOURCE = "recollect"

P = ParamSpec("P")
T = TypeVar("T")
H = TypeVar("H", bound="Handle")


class Background(Protocol):
    """What is told that there is work for the background."""

    def wrote(self) -> None:
        """Something was written."""
        ...

    def close(self) -> None:
        """Nothing more is written."""
        ...


def writes(method: Callable[Concatenate[H, P], T]) -> Callable[Concatenate[H, P], T]:
    """A method that leaves work for the background, also where it fails in the middle.

    It waits for the turns that are being written behind their answers: what is forgotten must not come back.
    """

    @wraps(method)
    def told(self: H, /, *arguments: P.args, **named: P.kwargs) -> T:
        self._written()
        try:
            return method(self, *arguments, **named)
        finally:
            if self._background is not None:
                self._background.wrote()

    return told


class Handle:
    """A handle on one namespace of a store. Thread-safe; usable as a context manager."""

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
    ) -> None:
        """`model` is for the background, and for what is asked for now unless `asked_model` differs (False: none)."""
        self._store, self._whole_embedder, self.namespace = store, embedder, namespace
        self._model, self._background = model, background
        self._asked_model = model if asked_model is None else asked_model or None
        self._make_quality, self._clock, self._ids = quality or _packaged_quality, clock, ids
        self._reranker = reranker
        self._space, self._kept, self._chunking = store.space(namespace), Kept(), chunking
        self._opened: Handle | None = None  # the handle that was opened, of one that is beside it

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Memory {self.namespace} in {self._store.location}>"

    def close(self) -> None:
        """Closes the store, once the turns that are being written behind their answers are. Further calls raise
        StoreError.
        """
        try:
            if "_behind" in self.__dict__:
                self._behind.close()
        finally:
            if self._opened is None:
                self._store.close()
        if self._background is not None and self._opened is None:
            self._background.close()

    def beside(self, namespace: str) -> Self:
        """A handle on another namespace of the same store, for programs that serve many: it costs next to nothing and
        shares the connections, the models and the background of this one. Close it before this one, which closes the
        store. Raises InvalidInput for a name that cannot be used.
        """
        handle = type(self)(
            self._store,
            self._whole_embedder,
            checked(namespace),
            model=self._model,
            asked_model=self._asked_model or False,
            quality=self._make_quality,
            reranker=self._reranker,
            background=self._background,
            chunking=self._chunking,
            clock=self._clock,
            ids=self._ids,
        )
        handle._opened = self._opened or self  # noqa: SLF001  # of its own class
        return handle

    @property
    def location(self) -> str:
        """Where the store is: a path or an address."""
        return self._store.location

    @property
    def embedder_name(self) -> str:
        """The identity of the embedder in use."""
        return self._whole_embedder.name

    @cached_property
    def _embedder(self) -> Embedder:
        """The embedder for what is in this memory: one on a server is told none of its secrets."""
        from recollect.models.embedding import is_remote

        if not is_remote(self._whole_embedder):
            return self._whole_embedder
        from recollect.models.embedding.remote import DiscreetEmbedder

        return DiscreetEmbedder(self._whole_embedder, self.masked)

    def masked(self, value: T, *, spoken: str = "") -> T:
        """A text, record, map or list as a model may be given it: with `[secret: …]` in the place of each key, token
        and password that it holds, whole or in part. What stands in the text that was just `spoken` stays.

        Everything that Recollect adds to a request goes through here: contexts, answers of tools, its own prompts.
        """
        return self._mask.all(value, spoken)

    def _as_left(self, value: T) -> T:
        """What comes in, without the secrets that were taken out of the memory."""
        from recollect.ingest.withheld import Withheld

        with self._space.view() as view:
            return Withheld.read(view).out_of(value)

    @property
    def _mask(self) -> Mask:
        """The mask as of now."""
        with self._space.view() as view:
            return self._masking.of(view)

    @cached_property
    def _masking(self) -> Masking:
        from recollect.search.secrets import Masking

        return Masking()

    def _written(self) -> None:
        """Waits for the turns that are being written behind their answers."""
        if "_behind" in self.__dict__:
            self._behind.wait()

    @cached_property
    def _behind(self) -> TurnWriter:
        """What writes turns behind their answers."""
        return (self._opened or self)._turns.behind()  # noqa: SLF001  # of its own class

    @cached_property
    def _turns(self) -> TurnWriters:
        """What writes turns behind the answers of this handle and of those beside it."""
        from recollect.answer.chat.writing import TurnWriters

        return TurnWriters()

    @cached_property
    def _ingest(self) -> Ingest:
        """The way in; who only searches never loads it."""
        from recollect.ingest import Ingest

        return Ingest(self._space, self._embedder, count_tokens, self._clock, self._chunking)


def count_tokens(text: str) -> int:
    """How many tokens a text has; the tokenizer is loaded when it is first needed."""
    from recollect.models.embedding import tokenizer

    return tokenizer.count_tokens(text)


@cache  # one for all handles of the process
def _packaged_quality() -> TokenEmbedder:
    from recollect.models.embedding.encoder import MiniLM

    return MiniLM()
