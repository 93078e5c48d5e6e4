"""What the tests of the importers read: entries made of values, files and archives, and the truth of the fixtures."""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recollect.importers.base import DraftConversation, DraftDocument, Entry, Problems
from recollect.importers.reading.lenient import drafts as drafts_of
from recollect.importers.records.assemble import assemble
from recollect.importers.registry import as_importer
from recollect.record import DEFAULT_NAMESPACE, Kind, Message, Thread

KINDS = {"said": Kind.SAID, "hidden": Kind.CONTEXT, "tool": Kind.TOOL, "thinking": Kind.REASONING}


def entry(value: Any, name: str = "conversations.json") -> Entry:
    """A file that holds the value as JSON, or the very bytes or text given."""
    text = value if isinstance(value, str | bytes) else json.dumps(value)
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return Entry(name, name, "given", len(data), lambda: io.BytesIO(data))


def json_lines(*values: Any) -> Entry:
    return entry("\n".join(json.dumps(value) for value in values) + "\n", "chats.jsonl")


def files(path: Path) -> list[Entry]:
    """The files at a path: itself, those of a folder, those inside of archives."""
    paths = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [found for file in paths if file.is_file() for found in _files_of(file)]


def _files_of(path: Path) -> Iterator[Entry]:
    if path.suffix != ".zip":
        yield Entry(path.name, path.name, str(path.parent), path.stat().st_size, lambda: path.open("rb"))
        return
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            yield Entry(f"{path.name}: {name}", name, str(path), len(data), lambda data=data: io.BytesIO(data))


def read(format: object, *entries: Entry, problems: Problems | None = None) -> tuple[list[Thread], list[DraftDocument]]:
    """The threads and documents of the entries that the importer recognises."""
    problems = problems if problems is not None else Problems()
    importer = as_importer(format)
    drafts = list(drafts_of(importer, [one for one in entries if importer.recognises(one)], problems))
    threads = [
        assemble(draft, DEFAULT_NAMESPACE, count_tokens=count_tokens)
        for draft in drafts
        if isinstance(draft, DraftConversation)
    ]
    return threads, [draft for draft in drafts if isinstance(draft, DraftDocument)]


def count_tokens(text: str) -> int:
    return -(-len(text) // 4)


def truth(path: Path) -> list[dict[str, Any]]:
    """The conversations that a fixture holds, as its maker wrote them down."""
    conversations: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["conversations"]
    return conversations


def found_by(message: Message, thread: Thread) -> str:
    """Everything by which a message is found: its words, its parts, what its tools were asked and gave back."""
    calls = [call for call in thread.tool_calls if call.message_id == message.id]
    pieces = [message.content, *(part.text for part in message.parts)]
    return "\n".join([*pieces, *(call.arguments for call in calls), *(call.result for call in calls)])
