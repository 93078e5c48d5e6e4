"""The programs in examples/ that talk to a provider, against one on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import recollect
from tests.faces.proxy.conftest import serving
from tests.gateway.upstream import upstream
from tests.models.language.wire_server import Says
from tests.paths import ROOT


def run(program: str, *arguments: str, said: str = "", **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / program, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        input=said,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_an_endless_chat(home: Path) -> None:
    with upstream() as provider:
        provider.script.extend([Says("Noted, no chicken."), Says("Chicken.")])
        printed = run(
            "endless_chat.py",
            "m",
            said="Rex may eat no chicken.\nWhat must Rex not eat?\n\n",
            OPENAI_BASE_URL=f"{provider.root}/v1",
            OPENAI_API_KEY="k",
        )
        assert printed == "you: model: Noted, no chicken.\nyou: model: Chicken.\nyou: "
        assert len(provider.body["messages"]) == 1
        assert "Rex may eat no chicken." in provider.body["messages"][0]["content"]
    with recollect.open() as memory:
        assert memory.upkeep.stats().messages == 4


def test_through_the_proxy(home: Path, tmp_path: Path) -> None:
    with upstream() as provider, serving(tmp_path, provider) as proxy:
        provider.otherwise = Says("Chicken.")
        place = f"{proxy.address}/in/acme/rex"
        printed = run(
            "through_the_proxy.py", "c", "What must Rex not eat?", ANTHROPIC_BASE_URL=place, ANTHROPIC_API_KEY="k"
        )
        assert printed == "Chicken.\n(memory: acme/rex, 0 tokens given)\n"
        assert proxy.memory("acme/rex").upkeep.stats().messages == 2
