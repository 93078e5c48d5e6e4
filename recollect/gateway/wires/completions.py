"""OpenAI's Chat Completions, which many servers speak."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recollect.gateway.talk import Call, Heard, Result, Said, Talk, assets, output, own_of, words
from recollect.gateway.wires.base import Body, Links, before_words
from recollect.importers.reading.lenient import objects_of, text_of

_SYSTEM, _TOOLS = ("system", "developer"), ("tool", "function")


class Completions:
    """`POST …/chat/completions`."""

    vendor, path, items = "openai", "/chat/completions", "messages"

    def read(self, body: Body) -> Talk:
        """What stands in a request."""
        said: list[Said] = []
        system: list[str] = []
        for at, message in enumerate(_messages(body)):
            if not isinstance(message, Mapping):
                continue
            role, content = text_of(message.get("role")), message.get("content")
            if role in _SYSTEM:
                system.append(words(content))
            elif role in _TOOLS:
                result = Result(text_of(message.get("tool_call_id")) or text_of(message.get("name")), output(content))
                said.append(Said("tool", "", at, results=(result,)))
            elif role in ("user", "assistant"):
                own = own_of(content, role) or own_of(text_of(message.get("refusal")), role)
                said.append(Said(role, own, at, calls=_calls(message), assets=assets(content)))
        return Talk(tuple(said), "\n\n".join(system))

    def links(self, item: Body) -> Links:
        """What a message hangs together with."""
        role = text_of(item.get("role"))
        if role in _SYSTEM:
            return Links("system")
        if role in _TOOLS:
            return Links("result", closes=(text_of(item.get("tool_call_id")) or text_of(item.get("name")),))
        if role == "user":
            return Links("user")
        return Links("assistant", tuple(call.id for call in _calls(item)))

    def with_blocks(self, body: Body, blocks: Mapping[int, str]) -> dict[str, Any]:
        """The request with a text before the words of some of its messages, by their places."""
        messages = [
            {**message, "content": before_words(message.get("content"), blocks[at], "text")}
            if at in blocks and isinstance(message, Mapping)
            else message
            for at, message in enumerate(_messages(body))
        ]
        return {**body, "messages": messages}

    def hear(self, event: Body, heard: Heard) -> None:
        """Takes in a chunk."""
        heard.model, heard.id = heard.model or text_of(event.get("model")), heard.id or text_of(event.get("id"))
        for choice in objects_of(event.get("choices")):
            if choice.get("index"):  # of several answers the first is kept
                continue
            delta = choice.get("delta")
            if isinstance(delta, Mapping):
                heard.words.append(text_of(delta.get("content")) or text_of(delta.get("refusal")))
                for call in objects_of(delta.get("tool_calls")):
                    function = call.get("function")
                    about = function if isinstance(function, Mapping) else {}
                    kept = heard.calls.setdefault(int(call.get("index") or 0), ["", ""])
                    kept[0], kept[1] = kept[0] or text_of(call.get("id")), kept[1] or text_of(about.get("name"))
                    kept.append(text_of(about.get("arguments")))
            heard.is_whole = heard.is_whole or choice.get("finish_reason") is not None

    def whole(self, answer: Body, heard: Heard) -> None:
        """Takes in an answer that comes in one piece."""
        heard.model, heard.id = text_of(answer.get("model")), text_of(answer.get("id"))
        for choice in objects_of(answer.get("choices"))[:1]:
            message = choice.get("message")
            if isinstance(message, Mapping):
                heard.words.append(words(message.get("content")) or text_of(message.get("refusal")))
                for number, call in enumerate(_calls(message)):
                    heard.calls[number] = [call.id, call.name, call.arguments]
                heard.is_whole = True


def _messages(body: Body) -> list[Any]:
    given = body.get("messages")
    return given if isinstance(given, list) else []


def _calls(message: Body) -> tuple[Call, ...]:
    found = []
    for call in objects_of(message.get("tool_calls")):
        inner = call.get("function") or call.get("custom")
        about = inner if isinstance(inner, Mapping) else {}
        given = about.get("arguments", about.get("input"))
        found.append(Call(text_of(call.get("id")), text_of(about.get("name")) or "tool", output(given)))
    old = message.get("function_call")
    if isinstance(old, Mapping):
        found.append(Call(text_of(old.get("name")), text_of(old.get("name")) or "tool", output(old.get("arguments"))))
    return tuple(found)
