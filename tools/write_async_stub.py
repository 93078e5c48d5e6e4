"""Writes the types of async faces from the source of the sync ones: async_memory.pyi of `AsyncMemory`, storage.pyi of
`InfiniteChatStorage`.

python -m tools.write_async_stub
"""

from __future__ import annotations

import ast
import builtins
import inspect
import subprocess
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import recollect
from recollect.answer.tools import Toolbox
from recollect.compat.infinite_chat.chat import InfiniteChat
from recollect.memory import Memory
from recollect.memory.async_derive import public_members, yields
from recollect.memory.integration import Integration
from recollect.memory.knowledge import Knowledge
from recollect.memory.upkeep import Upkeep

_PACKAGE = Path(__file__).resolve().parent.parent / "recollect"

_HEAD = """# Written by `python -m tools.write_async_stub` from the source; a test keeps it true. Do not edit.
"""
_MEMORY = """
class AsyncMemory(AsyncContext):
    sync: Memory
    namespace: Namespace
    location: str
    def __init__(self, sync: Memory) -> None: ...
    @classmethod
    def open({open}) -> Opening[AsyncMemory]: ...
"""
_STORAGE = """
class InfiniteChatStorage(AsyncContext):
    sync: InfiniteChat
    index_config: IndexConfig
    conversation_id: str
    def __init__({made}) -> None: ...
"""
_PART = """
class {name}:
    sync: {of}
    {held}
    def __init__(self, sync: {of}) -> None: ...
"""
_ALWAYS = {
    "AsyncGenerator": "collections.abc",
    "AsyncContext": "recollect.memory.async_derive",
    "Opening": "recollect.memory.async_derive",
    "IndexConfig": "recollect.context.settings",
    "InfiniteChat": "recollect.compat.infinite_chat.chat",
    "Integration": "recollect.memory.integration",
    "Knowledge": "recollect.memory.knowledge",
    "Memory": "recollect.memory",
    "Namespace": "recollect.record",
    "Self": "typing",
    "MemoryTool": "recollect.answer.tools",
    "Toolbox": "recollect.answer.tools",
    "Upkeep": "recollect.memory.upkeep",
}
_FACES = {one.__name__: f"Async{one.__name__}" for one in (Memory, Knowledge, Upkeep, Integration, Toolbox)}


def stubs() -> dict[Path, str]:
    """The stubs by their places."""
    return {
        _PACKAGE / "memory" / "async_memory.pyi": memory_stub(),
        _PACKAGE / "compat" / "infinite_chat" / "storage.pyi": storage_stub(),
    }


def storage_stub() -> str:
    """The types of `InfiniteChatStorage`."""
    origins = dict(_ALWAYS)
    made = _function(InfiniteChat.__init__, origins)
    body = _STORAGE.format(made=ast.unparse(made.args)) + "".join(_members(InfiniteChat, origins, at_once=set()))
    return _formatted(_HEAD + _imports(origins, body) + body)


def memory_stub() -> str:
    """The types of `AsyncMemory` and `AsyncToolbox`."""
    origins = dict(_ALWAYS)
    opening = _function(recollect.open, origins)
    opening.args.args.insert(0, ast.arg("cls"))
    lines = [_MEMORY.format(open=ast.unparse(opening.args))]
    lines += _members(Memory, origins, at_once={"beside", "toolbox"})
    for part in (Knowledge, Upkeep, Integration, Toolbox):
        held = "tools: tuple[MemoryTool, ...]" if part is Toolbox else ""
        lines.append(_PART.format(name=_FACES[part.__name__], of=part.__name__, held=held))
        lines += _members(part, origins, at_once={"schemas"})
    body = "".join(lines)
    return _formatted(_HEAD + _imports(origins, body) + body)


def _members(of: type, origins: dict[str, str], at_once: set[str]) -> Iterator[str]:
    for name, member in public_members(of):
        if isinstance(member, property | cached_property):
            made = _function(member.fget if isinstance(member, property) else member.func, origins)
            returned = _told(made.returns)
            yield f"    @property\n    def {name}(self) -> {_FACES.get(returned, returned)}: ...\n"
        elif inspect.isfunction(member):
            made = _function(member, origins)
            returned = _told(made.returns)
            way = "def" if name in at_once or yields(member) else "async def"
            if yields(member):
                returned = f"AsyncGenerator[{_item(made.returns)}]"
            yield f"    {way} {name}({ast.unparse(made.args)}) -> {_FACES.get(returned, returned)}: ...\n"


def _item(annotation: ast.expr | None) -> str:
    """What a generator gives, of its annotation."""
    assert isinstance(annotation, ast.Subscript)
    assert isinstance(annotation.slice, ast.Tuple)
    return ast.unparse(annotation.slice.elts[0])


def _told(annotation: ast.expr | None) -> str:
    return "None" if annotation is None else ast.unparse(annotation)


def _function(function: object, origins: dict[str, str]) -> ast.FunctionDef:
    """A function as its source has it; where the names in its signature come from is noted in `origins`, as a module or
    as module:Name where the stub calls it otherwise.
    """
    plain = inspect.unwrap(function)  # type: ignore[arg-type]
    module = sys.modules[plain.__module__]
    tree = ast.parse(inspect.getsource(module))
    line = plain.__code__.co_firstlineno
    found = next(
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and node.name == plain.__name__
        and line <= node.lineno <= line + len(node.decorator_list)
    )
    known = _names_of(tree, module.__name__)
    wanted = [node for part in (found.args, found.returns) if part for node in ast.walk(part)]
    for node in wanted:
        if isinstance(node, ast.Name) and node.id in known:
            node.id = _claimed(node.id, known[node.id], origins)
        elif isinstance(node, ast.Name) and not hasattr(builtins, node.id):
            raise LookupError(f"{node.id} in {plain.__qualname__}")
    return found


def _claimed(name: str, module: str, origins: dict[str, str]) -> str:
    """What a name of a module is called in the stub: by its package as well where another module's has the name."""
    if origins.setdefault(name, module) == module:
        return name
    parts = module.split(".")
    alias = f"{parts[-2 if len(parts) > 1 else 0].title()}{name}"
    assert origins.setdefault(alias, f"{module}:{name}") == f"{module}:{name}", alias
    return alias


def _names_of(tree: ast.Module, own: str) -> dict[str, str]:
    """Where the names of a module come from, also those that are imported for types alone."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}:{alias.name}" if alias.asname else node.module
        elif isinstance(node, ast.ClassDef | ast.Assign) and node in tree.body:
            targets = [ast.Name(node.name)] if isinstance(node, ast.ClassDef) else node.targets
            names |= {target.id: own for target in targets if isinstance(target, ast.Name)}
    return names


def _imports(origins: dict[str, str], body: str) -> str:
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    modules: dict[str, list[str]] = {}
    for name, module in origins.items():
        if name in used:
            place, _, own = module.partition(":")
            modules.setdefault(place, []).append(f"{own} as {name}" if own else name)
    return "".join(f"from {module} import {', '.join(sorted(names))}\n" for module, names in sorted(modules.items()))


def _formatted(text: str) -> str:
    """As the house formats its code."""
    for command in (["check", "--fix", "--quiet", "--select", "I"], ["format"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", "types.pyi", "-"]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    for place, text in stubs().items():
        place.write_text(text, encoding="utf-8")
