"""What a model says of questions before they are searched for, where a test is about the answer."""

from __future__ import annotations

import json
import re
from typing import Any

from recollect.answer.intents import read_intent
from recollect.models.language.prompts import QUESTIONS, prompt
from tests.models.language.wire_server import Says

_SHOWN = re.compile(r"^\| (.*)$", re.MULTILINE)


def of_questions(body: dict[str, Any]) -> Says | None:
    """A sound answer that changes nothing: the intent that the rules read, and the question itself."""
    strings = list(_strings(body))
    name = next((name for name in QUESTIONS if any(prompt(name).system[:80] in text for text in strings)), None)
    if name is None:
        return None
    question = next(match[1] for text in strings if text.startswith("<material") and (match := _SHOWN.search(text)))
    answers = {
        "intent": {"intent": read_intent(question).value},
        "hyde": {"passage": question},
        "expand": {"queries": []},
    }
    return Says(json.dumps(answers[name]))


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _strings(part)]
