"""The prompts, a file each, with a version that is stored with what it produced.

Whoever changes a file raises its version; a test holds them together.
"""

from __future__ import annotations

import json
import tomllib
from functools import cache
from importlib import resources
from typing import Any

from recollect.models.language.base import Prompt, Request

#: What questions are put before a model by. They are about no material: nothing that they made is kept.
QUESTIONS = ("intent", "hyde", "expand")

#: The prompts of what is derived in the background: another version of one has it asked about anew.
DERIVING = ("conversation", "l1", "l2", "period", "topic", "facts", "entities", "references")

#: The prompts about what was said.
NAMES = (*DERIVING, "research_plan", "research_gaps")


@cache
def prompt(name: str) -> Prompt:
    """The prompt of that name, one of NAMES or QUESTIONS."""
    found = _file(name)
    rules = resources.files(__name__).joinpath(f"{found.get('rules', 'rules')}.md").read_text("utf-8")
    return Prompt(
        name=name,
        version=found["version"],
        system=f"{found['system'].strip()}\n\n{rules.strip()}",
        schema=json.loads(found["schema"]),
        example=json.loads(found["example"]),
    )


def request(name: str, text: str) -> Request:
    """A call of that prompt about a text (see transcript.py), with the length of answer that its file gives."""
    return Request(prompt=prompt(name), text=text, max_tokens=_file(name)["max_tokens"])


@cache
def _file(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(__name__).joinpath(f"{name}.toml").read_text("utf-8"))
