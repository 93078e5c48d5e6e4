"""The names that are supported, and the documents that describe the interfaces."""

from __future__ import annotations

import inspect
from functools import cached_property
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from mcp import Client

import recollect
from recollect.answer.tools import Toolbox
from recollect.faces import rest
from recollect.faces.mcp.server import build_server
from recollect.faces.mcp.tools.base import ResourceLinks
from recollect.faces.rest import openapi
from recollect.memory import Memory
from recollect.memory.integration import Integration
from recollect.memory.knowledge import Knowledge
from recollect.memory.upkeep import Upkeep
from tests.faces.mcp.conftest import connected
from tests.golden.golden import assert_golden


def test_supported_names() -> None:
    assert_golden("names", sorted(recollect.__all__))


def test_memory_and_its_signatures() -> None:
    assert_golden("memory", signatures(Memory))


def test_the_groups_of_memory_and_their_signatures() -> None:
    assert_golden("groups", {part.__name__: signatures(part) for part in (Knowledge, Upkeep, Integration, Toolbox)})


def test_async_memory_and_its_signatures() -> None:
    assert_golden("async_memory", signatures(recollect.AsyncMemory))


def test_openapi() -> None:
    app = FastAPI(title="Recollect", openapi_url=None)
    app.include_router(rest.router)
    openapi.install(app, asks_token=False)
    assert_golden("openapi", app.openapi())


def test_mcp_tools(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        client = Client(build_server(lambda context: (memory, ResourceLinks("")), tools="all"))
        listed = connected(client, lambda connection: connection.list_tools())
    assert_golden("mcp_tools", [tool.model_dump(mode="json", exclude_none=True) for tool in listed.tools])


def signatures(of: type) -> dict[str, str]:
    """Public members by name: a method's signature with its annotations, or the kind of another member."""
    return {name: _signature(inspect.getattr_static(of, name), getattr(of, name)) for name in dir(of) if name[0] != "_"}


def _signature(static: Any, member: Any) -> str:
    if isinstance(static, property):
        return f"property -> {inspect.signature(static.fget).return_annotation}" if static.fget else "property"
    if isinstance(static, cached_property):
        return f"property -> {inspect.signature(static.func).return_annotation}"
    return str(inspect.signature(member)) if callable(member) else type(member).__name__
