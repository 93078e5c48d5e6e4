"""Claude's memory tool (`memory_20250818`): its files are documents of the memory, with history, and searched.

    from recollect.frameworks.claude_memory import RecollectMemoryTool

    tool = RecollectMemoryTool(recollect.open())
    client.beta.messages.run_tools(model=…, max_tokens=1024, messages=[…], tools=[tool]).until_done()

What it answers is worded as in the SDK's own tool for files, since that is what models have seen.
"""

from __future__ import annotations

import asyncio
import posixpath
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from recollect.frameworks.records import Records, synced
from recollect.memory import Memory
from recollect.memory.async_memory import AsyncMemory
from recollect.record import Document, NodeId
from recollect.record.tree import outline
from recollect.store.update import insist
from recollect.text.clean import clean_text

_ROOT = "/memories"
_WIDTH = 6  # of a line's number
_MOST_LINES = 999_999  # of a file that is shown, as in the SDK's own tool
_DEPTH = 2  # levels of a folder that are listed
_AROUND = 2  # lines shown about a change
_PATH = "path"


class _Files:
    """The files under /memories. Folders are there as long as they hold a file."""

    def __init__(self, memory: Memory | AsyncMemory) -> None:
        self._memory = synced(memory)
        self._records = Records(self._memory, "claude-memory")
        self._lock = threading.RLock()
        self._read: dict[NodeId, int] = {}  # the revisions of what a command has read

    def answer(self, command: Any) -> str:
        """Does what a command says. Raises ToolError with what the model is to be told. Of secrets it is shown masks,
        but for those that the command itself tells.
        """
        with self._lock:
            made = insist(lambda: self._done(command), "The memory files are")
        return self._memory.integration.masked(made, spoken=repr(command))

    def _done(self, command: Any) -> str:
        """Does it once. Raises Stale where somebody else wrote to a file that it read, before it did."""
        self._read.clear()
        done: str = getattr(self, f"_{command.command}")(command)
        return done

    def clear(self) -> str:
        """Deletes all files."""
        with self._lock:
            self._records.remove(list(self._records.every()))
        return "All memory cleared"

    def _view(self, command: Any) -> str:
        path = _checked(command.path)
        file = self._file(path)
        if file is None:
            return self._listed(path, command.path)
        lines, first = file.content.split("\n"), 0
        if len(lines) > _MOST_LINES:
            raise ToolError(f"File {command.path} exceeds maximum line limit of {_MOST_LINES:,} lines.")
        if command.view_range and len(command.view_range) == 2:
            first = max(1, command.view_range[0]) - 1
            lines = lines[first : None if command.view_range[1] == -1 else command.view_range[1]]
        return f"Here's the content of {command.path} with line numbers:\n" + _numbered(lines, first + 1)

    def _create(self, command: Any) -> str:
        path = _checked(command.path)
        if path == _ROOT or self._file(path) is not None or any(self._below(path)):
            raise ToolError(f"File {command.path} already exists")
        self._check_folder(path)
        self._write(path, command.file_text)
        return f"File created successfully at: {command.path}"

    def _str_replace(self, command: Any) -> str:
        path, text = self._text(command.path)
        old, new = command.old_str, command.new_str or ""
        lines = [text.count("\n", 0, at) for at in _places(text, old)]
        if not lines:
            raise ToolError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {command.path}.")
        if len(lines) > 1:
            named = ", ".join(str(line + 1) for line in lines)
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {named}."
                " Please ensure it is unique"
            )
        changed = text.replace(old, new, 1)
        self._write(path, changed)
        first = max(0, lines[0] - _AROUND)
        shown = _numbered(changed.split("\n")[first : lines[0] + _AROUND + 1], first + 1)
        return f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{shown}"

    def _insert(self, command: Any) -> str:
        path, text = self._text(command.path)
        lines = text.removesuffix("\n").split("\n") if text else []
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {command.insert_line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        self._write(path, "\n".join(lines) + "\n")
        return f"The file {command.path} has been edited."

    def _delete(self, command: Any) -> str:
        path = _checked(command.path)
        if path == _ROOT:
            raise ToolError(f"Cannot delete the {_ROOT} directory itself")
        self._put(self._records.hidden(self._all(path, command.path)))
        return f"Successfully deleted {command.path}"

    def _rename(self, command: Any) -> str:
        old, new = _checked(command.old_path), _checked(command.new_path)
        if old == _ROOT:
            raise ToolError(f"Cannot rename the {_ROOT} directory itself")
        if new == _ROOT or self._file(new) is not None or any(self._below(new)):
            raise ToolError(f"The destination {command.new_path} already exists")
        moved = self._all(old, command.old_path)
        if new.startswith(f"{old}/"):
            raise ToolError(f"The destination {command.new_path} lies in {command.old_path}")
        self._check_folder(new)
        made = [self._made(new + _path(file)[len(old) :], file.content) for file in moved]
        self._put([*made, *self._records.hidden(moved)])
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def _file(self, path: str) -> Document | None:
        own = self._records.id(path)
        file, self._read[own] = self._records.read(own)
        return file

    def _below(self, folder: str) -> Iterator[Document]:
        return (file for file in self._records.every() if _path(file).startswith(f"{folder}/"))

    def _all(self, path: str, named: str) -> list[Document]:
        """The file, or all those of a folder. Raises ToolError where neither is there."""
        file = self._file(path)
        below = [_path(one) for one in self._below(path)] if file is None else []
        found = [file] if file is not None else [one for name in below if (one := self._file(name)) is not None]
        if not found:
            raise ToolError(f"The path {named} does not exist")
        return found

    def _text(self, named: str) -> tuple[str, str]:
        path = _checked(named)
        file = self._file(path)
        if file is None:
            if path == _ROOT or any(self._below(path)):
                raise ToolError(f"The path {named} is not a file.")
            raise ToolError(f"The path {named} does not exist. Please provide a valid path.")
        return path, file.content

    def _check_folder(self, path: str) -> None:
        above = posixpath.dirname(path)
        while above != _ROOT:
            if self._file(above) is not None:
                raise ToolError(f"The path {above} is a file, not a directory.")
            above = posixpath.dirname(above)

    def _made(self, path: str, text: str) -> Document:
        kept = {_PATH: path} | outline(lines=True)
        return self._records.made(self._records.id(path), path, text, kept, searched=bool(text))

    def _write(self, path: str, text: str) -> None:
        self._put([self._made(path, text)])

    def _put(self, files: Sequence[Document]) -> None:
        self._records.put_as_read(files, self._read)

    def _listed(self, folder: str, named: str) -> str:
        sizes: dict[str, int] = {}
        total = 0
        for file in self._below(folder):
            size = len(file.content.encode())
            total += size
            parts = _path(file)[len(folder) + 1 :].split("/")
            if any(part.startswith(".") for part in parts):
                continue
            for depth in range(1, min(len(parts), _DEPTH) + 1):
                name = "/".join(parts[:depth]) + ("/" if depth < len(parts) else "")
                sizes[name] = sizes.get(name, 0) + size
        if not total and not sizes and folder != _ROOT and not any(self._below(folder)):
            raise ToolError(f"The path {named} does not exist. Please provide a valid path.")
        lines = [f"{_size(total)}\t{named}", *(f"{_size(sizes[name])}\t{named}/{name}" for name in sorted(sizes))]
        header = f"Here're the files and directories up to 2 levels deep in {named}, excluding hidden items:"
        return f"{header}\n" + "\n".join(lines)


class RecollectMemoryTool(BetaAbstractMemoryTool):
    """The tool for `Anthropic`. Deleted files are gone for the model; the record keeps them and their history."""

    def __init__(self, memory: Memory | AsyncMemory, *, cache_control: Any = None) -> None:
        super().__init__(cache_control=cache_control)
        self._files = _Files(memory)

    def _answer(self, command: Any) -> str:
        return self._files.answer(command)

    view = create = str_replace = insert = delete = rename = _answer

    def clear_all_memory(self) -> str:
        """Deletes all files."""
        return self._files.clear()


class AsyncRecollectMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for `AsyncAnthropic`."""

    def __init__(self, memory: Memory | AsyncMemory, *, cache_control: Any = None) -> None:
        super().__init__(cache_control=cache_control)
        self._files = _Files(memory)

    async def _answer(self, command: Any) -> str:
        return await asyncio.to_thread(self._files.answer, command)

    view = create = str_replace = insert = delete = rename = _answer

    async def clear_all_memory(self) -> str:
        """Deletes all files."""
        return await asyncio.to_thread(self._files.clear)


def _checked(path: str) -> str:
    """The path without detours. Raises ToolError for one that is not under /memories, or holds a NUL."""
    if not path.startswith(_ROOT):
        raise ToolError(f"Path must start with {_ROOT}, got: {path}")
    if "\0" in path:
        raise ToolError("A path holds no NUL")
    plain = posixpath.normpath(clean_text(path))
    if plain != _ROOT and not plain.startswith(f"{_ROOT}/"):
        raise ToolError(f"Path {path} would escape {_ROOT} directory")
    return plain


def _path(file: Document) -> str:
    return str(file.metadata[_PATH])


def _places(text: str, words: str) -> Iterator[int]:
    at = text.find(words)
    while at >= 0:
        yield at
        at = text.find(words, at + 1)


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _size(count: int) -> str:
    """As in "1.5K"."""
    size, unit = float(count), 0
    while size >= 1024 and unit < 3:
        size, unit = size / 1024, unit + 1
    return f"{int(size) if size == int(size) else f'{size:.1f}'}{'BKMG'[unit]}"
