"""Opening a memory: a place, an embedder and a model become a `Memory`. Nothing heavy is imported before that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.models.language.base import LanguageModel
    from recollect.models.rerank import Reranker
    from recollect.runtime.files import Address
    from recollect.store import Lost

_SMALLEST_CHUNK = 200  # tokens


def open(  # noqa: A001
    path: str | Path | Address | None = None,
    *,
    namespace: str = "default",
    embedder: str = "static",
    model: str | LanguageModel | Callable[[str], str] | None = None,
    asked_model: str | LanguageModel | Callable[[str], str] | None = None,
    reranker: str | Reranker | None = None,
    durable: bool = True,
    background: bool | None = None,
    chunk_tokens: int = 4_000,
    chunk_overlap: int | None = None,
    on_wait: Callable[[], None] | None = None,
) -> Memory:
    """Opens a memory, and makes it where there is none. Close it, or use it in a `with`.

    Without a path it is the one that the command line uses; an address such as "neo4j://localhost:7687" is a server
    (docs/how-to/neo4j.md). `embedder`: static, minilm, folder:/path or openai:model; its model is loaded when it is
    first needed. `model`: anthropic:model, openai:model, openai:model@http://host/v1, a function from a prompt to its
    answer, or an object of your own (recollect/models/language/base.py). It is asked by this handle alone, also for
    what is otherwise done in the background, within the daily budget of the settings; without it nothing is asked,
    whatever keys are there (docs/how-to/models.md). `asked_model` is another one for what is asked for now (`ask`,
    `research`, `chat`), counted and not limited; "none" asks none.
    `reranker`: folder:/path, model@https://host/v1/rerank or an object of your own (recollect/models/rerank/choose.py),
    which reads the best results of each search again (docs/how-to/re-rank.md).
    `durable=False` may lose the last moments before a power cut, never more. `background`:
    whether writing leaves a worker behind, a process of low priority that ends when nothing is due; None: as the
    setting of that name says (docs/how-to/background-work.md). `chunk_tokens`: longer messages and tool results that
    are written live are cut in chunks, 200 or more; each begins `chunk_overlap` tokens before the end of the one
    before, less than half of that (None: 200, of small chunks a twentieth). What is stored stays cut as it is.
    `on_wait` is called when another process has been writing for two seconds.
    Raises InvalidInput, StoreError, and ModelError for a model without its package or key.
    """
    from recollect.engines import open_store
    from recollect.errors import InvalidInput
    from recollect.memory import Handle, Memory
    from recollect.memory.settings import usual_store
    from recollect.models.embedding.choose import LazyEmbedder
    from recollect.record import namespace as checked
    from recollect.runtime.files import read_place
    from recollect.text.sentences import Chunking

    name = checked(namespace)
    if chunk_tokens < _SMALLEST_CHUNK:
        raise InvalidInput(f"Chunks of {chunk_tokens} tokens are too small.", hint=f"Use {_SMALLEST_CHUNK} or more.")
    chunking = Chunking.of(chunk_tokens, chunk_overlap)
    store_place = usual_store() if path is None else path
    if isinstance(store_place, str):
        store_place = read_place(store_place)
    checked_reranker = _checked_reranker(reranker)
    checked_model, checked_asked = _checked_model(model), _checked_model(asked_model)
    store = open_store(store_place, durable=durable, on_wait=on_wait)
    starter = None
    if background is not False:
        from recollect.memory.background.process import Starter

        kept = Path(store.location) if isinstance(store_place, Path) else store_place
        starter = Starter(kept, embedder=embedder, durable=durable, wanted=background)
    handle = Handle(
        store,
        LazyEmbedder(embedder),
        name,
        model=_within_budget(checked_model, store.location, name),
        asked_model=_within_budget(checked_asked, store.location, name, limited=False)
        or (None if asked_model is None else False),
        reranker=checked_reranker,
        background=starter,
        chunking=chunking,
    )
    return Memory(handle)


def _checked_reranker(reranker: str | Reranker | None) -> Reranker | None:
    """The re-ranker that is meant, not opened yet. Raises InvalidInput."""
    if not isinstance(reranker, str):
        return reranker
    from recollect.models.rerank import LazyReranker, read_reranker

    return LazyReranker(reranker) if read_reranker(reranker) is not None else None


def _checked_model(model: str | LanguageModel | Callable[[str], str] | None) -> LanguageModel | None:
    """The model that is meant. Raises InvalidInput, ModelNotReady."""
    if not isinstance(model, str):
        if model is None or hasattr(model, "complete"):
            return model  # type: ignore[return-value]
        from recollect.models.language.choose import FunctionModel

        return FunctionModel(model)
    from recollect.memory.settings import own_places
    from recollect.models.language.choose import open_model

    return open_model(model, prices=own_places().prices)


def _within_budget(
    model: LanguageModel | None, store: str, namespace: str, *, limited: bool = True
) -> LanguageModel | None:
    """The model, counted; where `limited`, within the daily budget of the settings."""
    if model is None:
        return None
    from recollect.memory.settings import load_settings, own_places
    from recollect.models.language.budget import Limits, metered

    places = own_places()
    limits = load_settings(where=places).limits if limited else Limits()
    return metered(model, places.data, limits, store=store, namespace=namespace, prices=places.prices)


def restore(backup: str | Path, path: str | Path | None = None, *, replace: bool = False) -> Path:
    """Puts a backup (`memory.upkeep.backup`) in its place, verified, and returns the place; a memory there is kept
    unless `replace`.

    Without a path it is the memory that the command line uses. Raises NotFound, InvalidInput, StoreError.
    """
    from recollect.engines.sqlite.backup import restore_backup
    from recollect.errors import InvalidInput
    from recollect.memory.settings import load_settings
    from recollect.runtime.files import Address, read_place

    place = load_settings().store if path is None else read_place(str(path))
    if isinstance(place, Address):
        raise InvalidInput(
            f"A backup can only be restored to a file, and {place} is a server.", hint="Import an export there instead."
        )
    target = place.expanduser()
    if replace:
        from recollect.memory.background.process import stop

        stop(target)
    restore_backup(Path(backup).expanduser(), target, replace=replace)
    return target


def recover(damaged: str | Path, path: str | Path) -> dict[str, Lost]:
    """Writes what can be read of a damaged memory to a new file; returns by namespace what could not, at least.

    It works page by page and needs neither the header nor an index of the file. What is derived is not taken over: it
    is made anew when the new memory is used. Works for files alone. Raises NotFound, InvalidInput where `path` is there
    already, StoreError where nothing can be read.
    """
    from recollect.engines.sqlite import salvage
    from recollect.engines.sqlite.file import store_file
    from recollect.errors import InvalidInput, NotFound

    source, target = store_file(Path(damaged).expanduser()), Path(path).expanduser().absolute()
    if not source.exists():
        raise NotFound(f"No such file: {source}.")
    if target.is_symlink() or target.exists():
        raise InvalidInput(f"{target} is there already: choose another name.")
    return {str(name): one for name, one in salvage.recover(source, target).items()}
