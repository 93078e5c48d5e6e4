"""What is added to a client's request has masks in the place of secrets; what the client sends goes as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.memory import Memory
from tests.gateway.upstream import Upstream, upstream
from tests.models.language.wire_server import Says
from tests.secret_values import AWS, GITHUB, OPENAI, parts

openai = pytest.importorskip("openai")


@pytest.fixture
def provider() -> Iterator[Upstream]:
    with upstream() as server:
        server.otherwise = Says("Done.")
        yield server


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        memory.store_message(f"The Peniche server pays with the key {OPENAI}, and the robot signs in with {AWS}.")
        yield memory


def test_a_memory_is_told_without_its_secrets_and_a_request_keeps_its_own(memory: Memory, provider: Upstream) -> None:
    client = recollect.wrap(openai.OpenAI(base_url=f"{provider.root}/v1", api_key="k", max_retries=0), memory)
    own = f"use {GITHUB} for the Peniche server. Which key does it pay with?"
    talk: list[Any] = [{"role": "user", "content": own}]
    client.chat.completions.create(model="m", messages=talk)
    sent = provider.body["messages"][-1]["content"]
    assert sent.endswith(own)
    assert "[secret: OpenAI key]" in sent
    assert "[secret: AWS access key]" in sent
    for secret in (OPENAI[8:], AWS):
        assert not any(part in str(provider.body) for part in parts(secret))


def test_what_was_taken_out_stays_out_when_a_client_tells_its_history_again(memory: Memory, provider: Upstream) -> None:
    client = recollect.wrap(openai.OpenAI(base_url=f"{provider.root}/v1", api_key="k", max_retries=0), memory)
    talk: list[Any] = [{"role": "user", "content": f"Sign in with {GITHUB}, please, as ever."}]
    client.chat.completions.create(model="m", messages=talk)
    memory.upkeep.forget_secrets()
    talk += [{"role": "assistant", "content": "Done."}, {"role": "user", "content": f"And again with {GITHUB}?"}]
    client.chat.completions.create(model="m", messages=talk)
    assert GITHUB in str(provider.body)
    texts = [m.content for row in memory.conversations() for m in memory.conversation(row.conversation.id).messages]
    assert not any(GITHUB in text for text in texts)
    assert "And again with [secret: GitHub token]?" in texts
    assert memory.upkeep.secrets() == []
