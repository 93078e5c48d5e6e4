"""Which tools a client gets: the small set by default, all on request; those that write can be left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter

from recollect.answer.tools import TOOLS, MemoryTool, Toolbox
from recollect.faces.mcp.tools.asking import ask
from recollect.faces.mcp.tools.base import ServerCall, ServerReply, ServerTool, tool_of
from recollect.faces.mcp.tools.preparing import context
from recollect.faces.mcp.tools.searching import fetch, search
from recollect.faces.mcp.tools.sets import CORE
from recollect.faces.mcp.tools.shapes import schema_of
from recollect.faces.mcp.tools.times import timeline
from recollect.faces.mcp.tools.writing import check_recording, forget, remember

CORE_TOOLS: tuple[ServerTool, ...] = tuple(
    tool_of(function) for function in (search, fetch, context, ask, timeline, remember, forget)
)


def tools_of(which: str, *, read_only: bool = False) -> tuple[ServerTool, ...]:
    """The tools of a set. `all` adds those that Python, REST and other models have too, under the same names."""
    tools = CORE_TOOLS if which == CORE else (*CORE_TOOLS, *map(_of_toolbox, TOOLS))
    return tuple(tool for tool in tools if not (read_only and tool.writes))


def _of_toolbox(tool: MemoryTool) -> ServerTool:
    """A tool of the toolbox: its text is for a model, measured in tokens, its record the same for a program."""
    record: TypeAdapter[Any] = TypeAdapter(tool.result)
    return ServerTool(
        name=tool.name,
        title=tool.name.replace("_", " ").capitalize(),
        description=tool.description,
        run=_through_toolbox(tool.name, record, writes=tool.writes),
        arguments=tool.arguments,
        output=schema_of(record),
        example=tool.example,
        writes=tool.writes,
    )


def _through_toolbox(name: str, record: TypeAdapter[Any], *, writes: bool) -> Callable[..., ServerReply]:
    def run(call: ServerCall, **arguments: object) -> ServerReply:
        if writes:
            check_recording()
        namespace = str(call.memory.namespace)
        answer = Toolbox(call.memory, namespace=namespace).call(name, arguments)
        if answer.is_error:
            return ServerReply(answer.text, is_error=True)
        return ServerReply(
            answer.text, record.dump_python(answer.result, mode="json", exclude_none=True) | {"namespace": namespace}
        )

    return run
