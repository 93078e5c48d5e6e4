"""The examples of docs/how-to/frameworks.md that need a framework's package: each with the blocks before it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.paths import ROOT

PAGE = (ROOT / "docs" / "how-to" / "frameworks.md").read_text(encoding="utf-8")
FIRST, *SECTIONS = PAGE.split("\n## ")
PACKAGES = {"OpenAI Agents SDK": "agents", "LangGraph": "langgraph.store", "Pydantic AI": "pydantic_ai"}


def programs(text: str) -> list[str]:
    return re.findall(r"^```py(?:thon)?\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.split("\n")[0])
def test_the_examples_of_a_framework_run(section: str, home: Path) -> None:
    package = PACKAGES.get(section.split("\n")[0])
    if package:
        pytest.importorskip(package, reason=f"{package} is not installed")
    names: dict[str, Any] = {}
    for program in [*programs(FIRST), *programs(section)]:
        exec(compile(program, "docs/how-to/frameworks.md", "exec"), names)
    names["memory"].close()


def test_every_example_is_run() -> None:
    assert len([one for section in SECTIONS for one in programs(section)]) == 6
