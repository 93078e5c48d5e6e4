"""Both providers, on one server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from recollect.models.language.anthropic import AnthropicModel
from recollect.models.language.base import Price, Prompt, Request
from recollect.models.language.openai import OpenAIModel
from tests.models.language.wire_server import WireServer, wire_server

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["summary", "themes"],
    "properties": {
        "summary": {"type": "string", "minLength": 1},
        "themes": {"type": "array", "maxItems": 3, "items": {"type": "string"}},
    },
}
GOOD = {"summary": "Luna is allergic to chicken.", "themes": ["allergy"]}
PROMPT = Prompt(name="l1", version=1, system="Summarise.", schema=SCHEMA, example=GOOD)
REQUEST = Request(
    prompt=PROMPT, text="<material 1>\n[1] user\n| Luna can't have chicken, she's allergic to it.\n</material 1>"
)


@pytest.fixture
def server() -> Iterator[WireServer]:
    with wire_server() as running:
        yield running


@pytest.fixture(params=["anthropic", "openai"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def model(provider: str, server: WireServer) -> Any:
    return model_of(provider, server)


def model_of(provider: str, server: WireServer, *, silence: float = 10.0, longest: float = 20.0) -> Any:
    if provider == "anthropic":
        return AnthropicModel("claude-test", base_url=server.root, price=Price(1, 5), silence=silence, longest=longest)
    return OpenAIModel("test", base_url=f"{server.root}/v1", price=Price(1, 5), silence=silence, longest=longest)
