"""Made conversations with tools, in each wire form, and the rules of the vendors for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire


@dataclass(frozen=True)
class Turn:
    """A question, the steps to its answer (words before the calls, how many calls, words of each result, whether the
    model thinks first), and the answer, each in words. `steers`: the person says something beside the last results,
    and in Responses the model goes on talking before the last of them is there.
    """

    question: int
    steps: list[tuple[int, int, int, bool]]
    answer: int
    steers: bool


def body_of(wire: Wire, turns: list[Turn], *, is_answered: bool) -> dict[str, Any]:
    """A request; `is_answered`: the last turn, too, so that nothing waits for an answer."""
    items: list[dict[str, Any]] = []
    for number, turn in enumerate(turns):
        items += _TURNS[wire.path](turn, str(number), is_answered or number < len(turns) - 1)
    tools = [{"name": "look", "description": _words("tool", 9)}]
    if wire is MESSAGES:
        return {"model": "c", "max_tokens": 20, "system": _words("system", 8), "tools": tools, "messages": items}
    if wire is RESPONSES:
        return {"model": "m", "instructions": _words("system", 8), "max_output_tokens": 20, "input": items}
    items = [{"role": "system", "content": _words("system", 8)}, *items]
    return {"model": "m", "max_tokens": 20, "messages": items}


def check(wire: Wire, items: list[Mapping[str, Any]]) -> None:
    """The rules of a vendor."""
    _CHECKS[wire.path](items)


def _words(name: str, many: int) -> str:
    return " ".join([name, *("word" for _ in range(many))])


def _completions(turn: Turn, name: str, is_answered: bool) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [{"role": "user", "content": _words(f"q{name}", turn.question)}]
    for step, (words, calls, result, _) in enumerate(turn.steps):
        ids = [f"call_{step}_{n}" for n in range(calls)]  # some servers count from 0 in each turn
        made = [
            {"id": own, "type": "function", "function": {"name": "look", "arguments": json.dumps({"of": own + name})}}
            for own in ids
        ]
        items.append({"role": "assistant", "content": _words(f"s{name}.{step}", words), "tool_calls": made})
        items += [{"role": "tool", "tool_call_id": own, "content": _words(f"r{name}{own}", result)} for own in ids]
    if turn.steers and turn.steps:
        items.append({"role": "user", "content": f"steer {name}"})
    return [*items, {"role": "assistant", "content": _words(f"a{name}", turn.answer)}] if is_answered else items


def _messages(turn: Turn, name: str, is_answered: bool) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [{"role": "user", "content": _words(f"q{name}", turn.question)}]
    for step, (words, calls, result, thinks) in enumerate(turn.steps):
        ids = [f"toolu_{name}_{step}_{n}" for n in range(calls)]
        content: list[dict[str, Any]] = [{"type": "thinking", "thinking": _words("hm", 3), "signature": "x"}][
            : int(thinks)
        ]
        content.append({"type": "text", "text": _words(f"s{name}.{step}", words)})
        content += [{"type": "tool_use", "id": own, "name": "look", "input": {"of": own}} for own in ids]
        items.append({"role": "assistant", "content": content})
        results: list[dict[str, Any]] = [
            {"type": "tool_result", "tool_use_id": own, "content": _words(f"r{own}", result)} for own in ids
        ]
        if turn.steers and step == len(turn.steps) - 1:
            results.append({"type": "text", "text": f"steer {name}"})
        items.append({"role": "user", "content": results})
    return [*items, {"role": "assistant", "content": _words(f"a{name}", turn.answer)}] if is_answered else items


def _responses(turn: Turn, name: str, is_answered: bool) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [{"role": "user", "content": _words(f"q{name}", turn.question)}]
    for step, (words, calls, result, thinks) in enumerate(turn.steps):
        ids = [f"call_{name}_{step}_{n}" for n in range(calls)]
        if thinks:
            items.append({"type": "reasoning", "id": f"rs_{name}_{step}", "summary": [], "encrypted_content": "x" * 40})
        if words % 2:
            items.append({"type": "message", "role": "assistant", "content": _words(f"s{name}.{step}", words)})
            items += [{"type": "reasoning", "id": f"rt_{name}_{step}", "summary": []}][: int(thinks)]
        items += [{"type": "function_call", "call_id": own, "name": "look", "arguments": "{}"} for own in ids]
        items += [{"type": "function_call_output", "call_id": own, "output": _words("r", result)} for own in ids]
        if turn.steers:
            items.insert(-1, {"type": "message", "role": "assistant", "content": f"Meanwhile {name}.{step}"})
    if turn.steers and turn.steps:
        items.insert(len(items) - turn.answer % 2, {"role": "user", "content": f"steer {name}"})
    return [*items, {"role": "assistant", "content": _words(f"a{name}", turn.answer)}] if is_answered else items


def _check_completions(items: list[Mapping[str, Any]]) -> None:
    open_calls: set[str] = set()
    for item in items:
        if item["role"] == "tool":
            assert item["tool_call_id"] in open_calls, "a result of no call"
            open_calls.remove(item["tool_call_id"])
            continue
        assert not open_calls, "a call without its result"
        open_calls = {call["id"] for call in item.get("tool_calls", ())}
    assert not open_calls
    assert next(item["role"] for item in items if item["role"] != "system") == "user"


def _check_messages(items: list[Mapping[str, Any]]) -> None:
    assert items[0]["role"] == "user"
    assert all(one["role"] != other["role"] for one, other in pairwise(items)), "roles alternate"
    for before, item in pairwise([{"role": "", "content": ""}, *items, {"role": "user", "content": ""}]):
        called = _ids(before, "tool_use", "id")
        assert set(called) == set(_ids(item, "tool_result", "tool_use_id"))


def _ids(item: Mapping[str, Any], kind: str, field: str) -> list[str]:
    content = item["content"]
    return [part[field] for part in content if part["type"] == kind] if isinstance(content, list) else []


def _check_responses(items: list[Mapping[str, Any]]) -> None:
    kinds = [item.get("type", "message") for item in items]
    called = [item["call_id"] for item in items if item.get("type") == "function_call"]
    closed = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    assert sorted(called) == sorted(closed)
    assert kinds[-1] != "reasoning"
    assert items[0].get("role") == "user"
    thoughts = {item["id"][3:]: item["id"][:2] for item in items if item.get("type") == "reasoning"}
    for item in items:  # a call whose thought is gone is refused
        if item.get("type") == "function_call" and (step := item["call_id"][5:].rpartition("_")[0]) in thoughts:
            assert any(one.get("type") == "reasoning" and one["id"][3:] == step for one in items)


_TURNS = {COMPLETIONS.path: _completions, RESPONSES.path: _responses, MESSAGES.path: _messages}
_CHECKS = {COMPLETIONS.path: _check_completions, RESPONSES.path: _check_responses, MESSAGES.path: _check_messages}
