"""The tools of a model, for programs that hand them to one."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path

from recollect.faces.http.once import ONCE
from recollect.faces.http.scope import Scoped
from recollect.faces.rest.routes.family import calls, family
from recollect.faces.rest.schemas.upkeep import ToolAnswer, ToolArguments, ToolDescriptions

routes = family("tools of a model")


@routes.get("/tools")
def toolbox(
    memory: Scoped, provider: Literal["anthropic", "openai", "openai-responses"] = "anthropic", read_only: bool = False
) -> ToolDescriptions:
    """What a model is told of the tools."""
    return ToolDescriptions(tools=memory.toolbox(read_only=read_only).schemas(provider))


@routes.post("/tools/{name}", dependencies=[ONCE], openapi_extra=calls("toolbox"))
def call_tool(
    memory: Scoped, name: Annotated[str, Path(examples=["vector_search"])], called: ToolArguments
) -> ToolAnswer:
    """Does what a model asks. What is wrong with a call comes back as an answer that says what to do instead."""
    box = memory.toolbox(max_tokens=called.max_tokens, read_only=called.read_only)
    return ToolAnswer.model_validate(box.call(name, called.arguments), from_attributes=True)
