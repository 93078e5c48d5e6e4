"""The ports of the importers: what a format is given, and what it hands over.

A format turns foreign values into drafts that speak only of the source's own ids; `records` makes records of them, and
`driver` runs it. All that formats need alike (files, places, trees, cycles, ids) therefore stands in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO, Protocol

from recollect.record import NOTHING, Chunk, Document, Edge, Kind, Metadata, Node, Part, Role, Thread


@dataclass(frozen=True, slots=True)
class Entry:
    """One file to read, wherever it lies: on disk, or inside an archive (then never unpacked to disk).

    `place` is what a person is told ("export.zip: conversations-003.json"), `path` the name inside its container, with
    forward slashes, `container` what it came in: the archive, the folder named by the user, or the file itself.
    `open()` gives a fresh stream of bytes from the start; reading it raises ImportProblem where the archive is damaged.
    """

    place: str
    path: str
    container: str
    size: int
    open: Callable[[], BinaryIO]

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rsplit("/", 1)[-1]

    def peek(self, size: int = 65_536) -> bytes:
        """The first bytes, without a byte-order mark."""
        with self.open() as stream:
            head = stream.read(size)
        return head.removeprefix(b"\xef\xbb\xbf")


@dataclass(frozen=True, slots=True)
class DraftCall:
    """A tool call as the source has it. `result_of` names the source id of the message that holds the result, where it
    is a message of its own; else the result's text stands in `result`.
    """

    name: str
    arguments: str = ""
    result: str = ""
    result_of: str | None = None
    timestamp: datetime | None = None
    metadata: Metadata = NOTHING


@dataclass(frozen=True, slots=True)
class DraftMessage:
    """A message as the source has it.

    `source_id` is the id that the export gives it, None where it gives none (then the position counts). `parent` is the
    source id of the message before it; None: a root. `key` is the name by which parents refer to it, where that is not
    the source id (ChatGPT's mapping keys). A message without words, parts and calls is a joint of the tree: it is
    left out, and its children hang on its parent.
    """

    role: Role
    content: str
    source_id: str | None = None
    key: str | None = None
    parent: str | None = None
    kind: Kind = Kind.SAID
    speaker: str | None = None
    timestamp: datetime | None = None
    model: str | None = None
    parts: tuple[Part, ...] = ()
    calls: tuple[DraftCall, ...] = ()
    metadata: Metadata = NOTHING


@dataclass(frozen=True, slots=True)
class DraftConversation:
    """A conversation as the source has it.

    `linear`: the source knows no parents; each message follows the one before it. Otherwise `parent` rules; siblings
    stand in the order given. `leaf` is the key of the last message of the active path, None: the newest leaf.
    `place` is told to the user with problems: 'conversations-017.json #44 "Trip to Porto"'. It and `source` are filled
    in by the driver where they are empty.
    """

    messages: Sequence[DraftMessage]
    source: str = ""
    place: str = ""
    source_id: str | None = None
    title: str = ""
    created: datetime | None = None
    updated: datetime | None = None
    leaf: str | None = None
    linear: bool = False
    metadata: Metadata = NOTHING


@dataclass(frozen=True, slots=True)
class DraftDocument:
    """A document of a project or knowledge base, as the source has it."""

    source_id: str
    title: str
    content: str
    source: str = ""
    place: str = ""
    created: datetime | None = None
    metadata: Metadata = NOTHING


Draft = DraftConversation | DraftDocument

#: What a dump of Recollect's own hands over: records as they are.
Record = Thread | tuple[Document, Sequence[Chunk]] | Edge | Node


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read, or not whole: the place, the reason, and whether anything of it is in."""

    place: str
    reason: str
    lost: bool = True  # False: it is in, with a part missing or kept as raw text


@dataclass(slots=True)
class Problems:
    """Collects problems and notes (counts of things seen but not kept as messages) while a reader goes on."""

    found: list[Problem] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)

    def lost(self, place: str, reason: str) -> None:
        """A conversation or file that could not be read."""
        self.found.append(Problem(place, reason))

    def partial(self, place: str, reason: str) -> None:
        """A conversation that is in, but not whole."""
        self.found.append(Problem(place, reason, lost=False))

    def note(self, what: str, count: int = 1) -> None:
        """Counts something that is no problem but should be told: "entries without messages"."""
        self.notes[what] = self.notes.get(what, 0) + count


@dataclass(frozen=True, slots=True)
class Piece:
    """What is read by itself, a conversation mostly: where it cannot be, only it is lost."""

    place: str
    drafts: Callable[[], Iterable[Draft | Record]]


@dataclass(slots=True)
class DraftNotes:
    """What a format has to say of one value: the driver knows its place."""

    partly: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def partial(self, reason: str) -> None:
        """Something of it could not be read."""
        self.partly.append(reason)

    def note(self, what: str) -> None:
        """Counts something that is no problem but should be told: "messages of unknown roles, kept as context"."""
        self.notes.append(what)


class JsonFormat(Protocol):
    """A format whose files are JSON values, one conversation each: in a list, under a key, one a line or one alone.

    The driver reads the values, one at a time, fills in `source` and `place` and survives whatever `draft` raises.
    """

    name: str  #: the source name that conversations carry and filters use: "chatgpt"
    label: str  #: for people: "ChatGPT"
    recognised: str  #: for the reference: what it is recognised by, in half a line of Markdown
    about: str  #: for the reference: what is read of it, in Markdown

    def fits(self, value: Any) -> bool:
        """Whether a value is of the format, judged by several keys. Its end may be cut, so the last list in it may end
        early, and in that the last value.
        """
        ...

    def draft(self, value: Any, told: DraftNotes) -> Draft | Iterable[Draft] | None:
        """The conversation that a value is, None where it has no messages. Raises ImportProblem with the reason why it
        is none.
        """
        ...


class Importer(Protocol):
    """A format whose files belong together, or are no plain JSON. Stateless; one instance serves all imports."""

    name: str
    label: str
    recognised: str
    about: str

    def recognises(self, entry: Entry) -> bool:
        """Whether this file is of the format, judged by its content (several keys, not the first entry alone) and its
        name. Reads a bounded head. Must not raise on garbage.
        """
        ...

    def pieces(self, entries: Sequence[Entry], problems: Problems) -> Iterator[Piece]:
        """What the files of one container hold, piece by piece, in bounded memory; files that nobody recognised too,
        where the format was named by the user. What cannot be read goes into `problems` with its place.
        """
        ...
