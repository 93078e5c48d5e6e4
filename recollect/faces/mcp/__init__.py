"""MCP: the memory as tools, resources and prompts. Its SDK is an extra: agent frameworks hold it to older versions."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from recollect.errors import RecollectError

#: The sets of tools. They are named here, so that a command line need not load the tools.
CORE, ALL = "core", "all"
SETS = (CORE, ALL)

_NEEDED = (2, 3)


def missing_sdk() -> RecollectError | None:
    """What to say where the SDK is not there, or too old; None where it is. It is not loaded for that."""
    try:
        found = version("mcp")
    except PackageNotFoundError:
        found = ""
    if found and tuple(int(part) for part in found.split(".")[:2]) >= _NEEDED:
        return None
    what = f"here is {found}" if found else "which is not installed"
    return RecollectError(
        f"MCP needs the package mcp {'.'.join(map(str, _NEEDED))} or newer, {what}.",
        hint='To install it: pip install "recollect[mcp]"',
    )
