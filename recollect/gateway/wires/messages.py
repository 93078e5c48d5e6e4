"""Anthropic's Messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recollect.gateway.talk import Call, Heard, Result, Said, Talk, assets, output, own_of, words
from recollect.gateway.wires.base import Body, Links, before_words
from recollect.importers.reading.lenient import as_json, objects_of, text_of


class Messages:
    """`POST …/messages`."""

    vendor, path, items = "anthropic", "/messages", "messages"

    def read(self, body: Body) -> Talk:
        """What stands in a request."""
        said = []
        for at, message in enumerate(_messages(body)):
            if not isinstance(message, Mapping):
                continue
            role, content = text_of(message.get("role")), message.get("content")
            if role not in ("user", "assistant"):
                continue
            blocks = objects_of(content)
            results = [block for block in blocks if text_of(block.get("type")).endswith("tool_result")]
            calls = [block for block in blocks if text_of(block.get("type")).endswith("tool_use")]
            said.append(
                Said(
                    role,
                    own_of(content, role),
                    at,
                    calls=tuple(
                        Call(text_of(call.get("id")), text_of(call.get("name")) or "tool", as_json(call.get("input")))
                        for call in calls
                    ),
                    results=tuple(
                        Result(text_of(one.get("tool_use_id")), output(one.get("content"))) for one in results
                    ),
                    assets=assets([block for block in blocks if block not in calls and block not in results]),
                )
            )
        thread = body.get("thread")  # held by the server, which is sent only what is new
        follows = text_of(thread.get("previous_message_id")) if isinstance(thread, Mapping) else ""
        return Talk(tuple(said), words(body.get("system")), follows, isinstance(thread, Mapping))

    def links(self, item: Body) -> Links:
        """What a message hangs together with."""
        blocks = objects_of(item.get("content"))
        if item.get("role") == "user":
            closes = tuple(text_of(one.get("tool_use_id")) for one in blocks if one.get("type") == "tool_result")
            return Links("result" if closes else "user", closes=closes)
        if item.get("role") != "assistant":
            return Links("system")
        return Links("assistant", tuple(text_of(one.get("id")) for one in blocks if one.get("type") == "tool_use"))

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
        """Takes in an event."""
        match event.get("type"):
            case "message_start" if isinstance(message := event.get("message"), Mapping):
                heard.model, heard.id = text_of(message.get("model")), text_of(message.get("id"))
            case "content_block_start" if isinstance(block := event.get("content_block"), Mapping):
                kind = text_of(block.get("type"))
                if kind == "text":
                    heard.words.append(("\n\n" if heard.text else "") + text_of(block.get("text")))
                elif kind == "tool_use":
                    heard.calls[int(event.get("index") or 0)] = [text_of(block.get("id")), text_of(block.get("name"))]
            case "content_block_delta" if isinstance(delta := event.get("delta"), Mapping):
                if delta.get("type") == "text_delta":
                    heard.words.append(text_of(delta.get("text")))
                elif delta.get("type") == "input_json_delta":
                    kept = heard.calls.get(int(event.get("index") or 0))
                    if kept is not None:
                        kept.append(text_of(delta.get("partial_json")))
            case "message_stop":
                heard.is_whole = True

    def whole(self, answer: Body, heard: Heard) -> None:
        """Takes in an answer that comes in one piece."""
        heard.model, heard.id = text_of(answer.get("model")), text_of(answer.get("id"))
        heard.words.append(words(answer.get("content")))
        for number, block in enumerate(objects_of(answer.get("content"))):
            if block.get("type") == "tool_use":
                heard.calls[number] = [
                    text_of(block.get("id")),
                    text_of(block.get("name")),
                    as_json(block.get("input")),
                ]
        heard.is_whole = answer.get("type") == "message"


def _messages(body: Body) -> list[Any]:
    given = body.get("messages")
    return given if isinstance(given, list) else []
