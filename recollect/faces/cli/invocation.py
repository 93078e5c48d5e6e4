"""One run of the command line: its settings, its output, and the memory, opened when it is first needed."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput, NotFound, RecollectError, StoreError
from recollect.faces.cli.output import STANDARD_OUTPUT, Output
from recollect.faces.present.names import number
from recollect.memory.settings import Places, Settings, load_settings, own_places

if TYPE_CHECKING:
    from recollect.faces.present.names import Meant
    from recollect.faces.present.state import LastDocument, LastHit, State
    from recollect.ingest.importing import Progress
    from recollect.memory import Memory
    from recollect.models.language.base import LanguageModel
    from recollect.runtime.files import Place


class Invocation:
    """What a command works with. `json` says that one JSON document is wanted instead of text."""

    def __init__(self, settings: Settings, places: Places, out: Output, *, json: bool) -> None:
        self.settings, self.places, self.out, self.json = settings, places, out, json
        self._opened: Memory | None = None
        self._background: bool | None = None  # as the settings say
        self._asked_model = ""
        self.chose_model = False  # whether a model, or none, was named or set for what is asked for now

    def within(self, memory: Memory, store: Place) -> Invocation:
        """An invocation of its own, with a memory elsewhere that is open already."""
        settings = replace(self.settings, store=store, namespace=memory.namespace)
        inner = Invocation(settings, self.places, self.out, json=self.json)
        inner._opened = memory
        return inner

    @property
    def store(self) -> Place:
        """Where the memory is."""
        return self.settings.store

    def memory(self) -> Memory:
        """The memory, made where there is none: for commands that write."""
        if self._opened is None:
            self._opened = self.another_memory()
        return self._opened

    def another_memory(self) -> Memory:
        """The memory opened once more, for a thread that ends when it likes. Whoever asks for it closes it."""
        import recollect

        self._refuse_file_as_folder()
        s = self.settings
        return recollect.open(
            s.store,
            namespace=s.namespace,
            embedder=s.embedder,
            model=self._background_model(),
            asked_model=self._answering(),
            reranker=s.reranker or None,
            durable=s.durable,
            background=s.background if self._background is None else self._background,
            on_wait=lambda: self.out.note("Waiting: another process is writing. Ctrl-C to stop."),
        )

    @property
    def chosen_namespace(self) -> str | None:
        """The namespace that this run names; None where it is the one of the settings."""
        return self.settings.namespace if self.settings.origins["namespace"].startswith("--") else None

    def ask_model(self, spec: str, *, now: bool = True) -> None:
        """The model for this run's background work. To be called before the memory is opened. Raises InvalidInput, and
        where it is to be asked `now` ModelNotReady for one that cannot be.
        """
        from recollect.models.language.choose import open_model

        open_model(spec, check=now)
        self.settings = replace(self.settings, background_model=spec)

    def answering_model(self, spec: str | None) -> str:
        """Chooses the model for what this run asks for now: the one that is named, else the one that is set. Returns
        its name, empty for none. To be called before the memory is opened. Raises InvalidInput.
        """
        from recollect.models.language.choose import split_spec

        chosen = self.settings.model if spec is None else spec
        self._asked_model = chosen if split_spec(chosen)[0] else "none"
        self.chose_model = spec is not None or self.settings.origins["model"] != "default"
        return "" if self._asked_model == "none" else chosen

    @property
    def leaves_worker(self) -> bool:
        """Whether what this run writes leaves a worker behind."""
        from recollect.memory.background.process import AVAILABLE

        return AVAILABLE and (self.settings.background if self._background is None else self._background)

    def without_background(self) -> None:
        """Nothing that this run writes leaves a worker behind. To be called before the memory is opened."""
        self._background = False

    def _background_model(self) -> LanguageModel | None:
        """The model that is set for background work; whether it can be asked is seen when it is."""
        if not self.settings.background_model:
            return None
        from recollect.models.language.choose import open_model

        return open_model(self.settings.background_model, prices=self.places.prices, check=False)

    def _answering(self) -> LanguageModel | str | None:
        """The model for what is asked for now. One that cannot be asked costs nothing but its answer."""
        if not self._asked_model:
            return None
        from recollect.models.language.choose import open_model

        return open_model(self._asked_model, prices=self.places.prices, check=False) or "none"

    def existing_memory(self) -> Memory:
        """The memory, for commands that only read. Raises NotFound where there is none yet."""
        if not self.has_memory():
            raise NotFound(
                f"No memory {self._whose()}at {self.store} yet.",
                hint="To create one: recollect import PATH. To try it out first: recollect demo",
            )
        return self.memory()

    def has_memory(self) -> bool:
        """Whether there is a memory: its file, or on a server anything that was ever written to the namespace."""
        if isinstance(self.store, Path):
            self._refuse_file_as_folder()
            return self._opened is not None or self.store.exists()
        memory = self.memory()
        return memory.upkeep.stored_embedder() is not None or memory.namespace in memory.upkeep.namespaces()

    def last_hit(self, number: int) -> LastHit | LastDocument:
        """A hit of the last search, counted from 1.

        Raises NotFound, also where the last search was in another memory or namespace than this run would look in
        without having been told so: its hits are on the screen, not those of an earlier search here.
        """
        elsewhere = self.state.searched_elsewhere()
        if elsewhere is None or (elsewhere == "" and self._was_told("store")):
            return self.state.hit(number)
        if elsewhere == "":
            raise NotFound(
                "The last search was in another memory.", hint="Name that memory here too, or search here first."
            )
        if self._was_told("namespace"):
            return self.state.hit(number)
        raise NotFound(
            f"The last search was in the namespace {elsewhere}, not in {self.settings.namespace}.",
            hint=f"To see that result: recollect show {number} --namespace {elsewhere}",
        )

    def _was_told(self, setting: str) -> bool:
        """Whether a flag or a variable of this run sets it."""
        return self.settings.origins[setting].startswith(("--", "RECOLLECT_"))

    def _whose(self) -> str:
        """Of which namespace, where others are there."""
        return f"of {self.settings.namespace} " if self._opened and self._opened.upkeep.namespaces() else ""

    def _refuse_file_as_folder(self) -> None:
        if not isinstance(self.store, Path):
            return
        above = next((folder for folder in self.store.parents if folder.exists()), None)
        if above is None or above.is_dir():
            return
        moved = self.settings.origins["store"] == "default" and os.environ.get("RECOLLECT_HOME")
        hint = "Set RECOLLECT_HOME to a folder." if moved else "recollect config shows where this setting comes from."
        raise StoreError(f"Cannot create a memory at {self.store}: {above} is a file, not a folder.", hint=hint)

    @cached_property
    def state(self) -> State:
        """What is remembered from run to run for this store and namespace."""
        from recollect.faces.present.state import State

        return State.of(self.places.state, self.store, self.settings.namespace)

    def confirms(self, what: str, question: str, hint: str, plan: Iterable[str] = ()) -> bool:
        """Shows what would be removed and asks. Raises InvalidInput where nobody can be asked."""
        if self.json or not self.out.can_ask:
            message = f"Nothing was removed. This would remove {what}, and there is no terminal to ask on."
            raise InvalidInput(message, hint=hint)
        for line in plan:
            self.out.line(line)
        with on_interrupt("Nothing was removed."):
            return self.out.confirms(question)

    def in_json(self, document: Callable[[], object]) -> bool:
        """Prints a document where JSON is wanted; whether it is."""
        if self.json:
            self.out.document(document())
        return self.json

    def show(self, document: Callable[[], object], *lines: str) -> None:
        """Prints a document where JSON is wanted, else the lines."""
        for line in () if self.in_json(document) else lines:
            self.out.line(line)

    def close(self) -> None:
        """Closes the memory."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None


@contextmanager
def open_invocation(flags: Mapping[str, Any]) -> Iterator[Invocation]:
    """An invocation with the settings in force under these flags (None: not given). Raises InvalidInput.

    The hints of errors are completed by the options of this run, so that what they name can be typed.
    """
    places = own_places()
    given = {name: value for name, value in flags.items() if name != "json"}
    settings = load_settings(given, where=places)
    if isinstance(settings.store, Path) and settings.store.is_dir():
        settings = replace(settings, store=settings.store / places.store.name)
    run = Invocation(
        settings,
        places,
        Output.standard(settings.color, options=_options(given, settings)),
        json=bool(flags.get("json")),
    )
    try:
        yield run
    except RecollectError as problem:
        problem.hint = run.out.hint(problem.hint)
        raise
    finally:
        run.close()


def _options(given: Mapping[str, Any], settings: Settings) -> str:
    if given.get("store") is None and given.get("namespace") is None:
        return ""

    return memory_options(given, settings)


def shell_quoted(word: str) -> str:
    """A word that the shell passes on unchanged."""
    if os.name == "nt":
        from subprocess import list2cmdline

        return list2cmdline([word])
    return shlex.quote(word)


def memory_options(given: Mapping[str, object], settings: Settings) -> str:
    """The options of a run that say which memory is meant, as they were given; a server without its password."""
    words: list[str] = []
    if given.get("store") is not None:
        address = not isinstance(settings.store, os.PathLike)
        words += ["--store", shell_quoted(str(settings.store if address else given["store"]))]
    if given.get("namespace") is not None:
        words += ["--namespace", shell_quoted(settings.namespace)]
    return " ".join(words)


def confirms_guesses(run: Invocation, found: Sequence[Meant], verb: str, *, asks: bool = True) -> bool:
    """Shows what was guessed and asks; True where nothing was. Raises InvalidInput where nobody can be asked."""
    from recollect.faces.cli.output import harmless
    from recollect.faces.present.names import short, titled

    guessed = [one for one in found if not one.exact]
    if not guessed:
        return True
    out = run.out
    if run.json or not out.can_ask or not asks:
        first = guessed[0]
        raise InvalidInput(
            f'Nothing matches "{first.name}" exactly. Did you mean "{titled(first.title)}" ({short(first.id)})?',
            hint=f"Give the whole title, or its ID: {short(first.id)}",
        )
    for one in guessed:
        out.line(f"  {harmless(titled(one.title))}  {out.dim(short(one.id))}")
    return out.confirms(f"{verb} {'this' if len(guessed) == 1 else 'these'}?")


#: Tells how much is done, of how much, and in words.
Report = Callable[[int, int, str], None]


@contextmanager
def on_interrupt(words: str) -> Iterator[None]:
    """Says after "Interrupted." what became of the work of this block, and how to continue."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(words) from None


@contextmanager
def progress(out: Output, label: str) -> Iterator[Report]:
    """A bar for as long as the block runs."""
    if not out.shows_progress:
        yield lambda done, total, words: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[words]}"), TimeRemainingColumn())
    console = Console(stderr=True, no_color=not out.styled)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=None, words="")

        def report(done: int, total: int, words: str) -> None:
            bar.update(task, completed=done, total=total or None, words=words)

        yield report


#: What became of an import that was interrupted.
SAVED = "What was imported is saved; run it again to continue."


@contextmanager
def reading(out: Output) -> Iterator[Callable[[Progress], None]]:
    """A bar for as long as conversations are imported, with what is in so far."""
    with on_interrupt(SAVED), progress(out, "Reading") as bar:
        yield lambda p: bar(
            p.read, p.total, f"{number(p.conversations, 'conversation')}   {number(p.messages, 'message')}"
        )


@contextmanager
def interrupted() -> Iterator[threading.Event]:
    """Set by the first Ctrl-C or SIGTERM: what is under way comes to its end. A second one ends everything at once."""
    told = threading.Event()

    def tell(number: int, frame: object) -> None:
        if told.is_set():
            raise KeyboardInterrupt
        told.set()

    before: dict[int, Any] = {}
    with suppress(ValueError):  # not in the main thread
        before = {number: signal.signal(number, tell) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def naming_file(path: Path | None) -> Iterator[None]:
    """Makes errors of the operating system that name no file, as that of a full disk, name this one.

    None is standard output.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is None:
            error.filename = str(path) if path is not None else STANDARD_OUTPUT
        raise


def is_standard_output(path: Path) -> bool:
    """Whether writing to this path writes to standard output, as /dev/stdout does."""
    try:
        return os.path.samestat(path.stat(), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):
        return False
