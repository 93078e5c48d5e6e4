"""Anthropic's Messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from recollect.gateway.talk import (
    Body,
    Dialogue,
    DialogueCall,
    DialogueMessage,
    DialogueResult,
    HeardAnswer,
    Links,
    answered,
    assets,
    before_words,
    ends_paragraph,
    output,
    own_of,
    prefilled,
    sources,
    words,
)
from recollect.importers.reading.lenient import as_json, objects_of, text_of


class Messages:
    """`POST …/messages`."""

    vendor, path, items = "anthropic", "/messages", "messages"

    def read(self, body: Body) -> Dialogue:
        """What stands in a request."""
        said: list[DialogueMessage] = []
        for at, message in enumerate(_messages(body)):
            if not isinstance(message, Mapping):
                continue
            role, content = text_of(message.get("role")), message.get("content")
            if role not in ("user", "assistant"):
                continue
            calls, results = tuple(_calls(content)), tuple(_results(content))
            said.append(
                DialogueMessage(
                    role, own_of(content, role), at, calls=calls, results=results, assets=assets(content, role)
                )
            )
        prefill = prefilled(said, _messages(body))  # a last message of the model is one that it goes on with
        thread = body.get("thread")  # held by the server, which is sent only what is new
        follows = text_of(thread.get("previous_message_id")) if isinstance(thread, Mapping) else ""
        return Dialogue(tuple(said), words(body.get("system")), follows, isinstance(thread, Mapping), prefill=prefill)

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

    def hear(self, event: Body, heard: HeardAnswer) -> None:
        """Takes in an event."""
        match event.get("type"):
            case "message_start" if isinstance(message := event.get("message"), Mapping):
                heard.model, heard.id = text_of(message.get("model")), text_of(message.get("id"))
            case "content_block_start" if isinstance(block := event.get("content_block"), Mapping):
                kind = text_of(block.get("type"))
                if kind == "text":
                    heard.words.append(text_of(block.get("text")))
                elif kind.endswith("tool_use"):
                    given = as_json(block.get("input") or None)  # some servers tell it here
                    heard.call(event.get("index"), text_of(block.get("id")), text_of(block.get("name"))).append(given)
                heard.results += _results([block])
                if ends_paragraph(kind) and heard.words[-1:] != ["\n\n"]:
                    heard.words.append("\n\n")
            case "content_block_delta" if isinstance(delta := event.get("delta"), Mapping):
                if delta.get("type") == "text_delta":
                    heard.words.append(text_of(delta.get("text")))
                elif delta.get("type") == "citations_delta":
                    heard.sources |= sources([delta.get("citation")])
                elif delta.get("type") == "input_json_delta" and str(event.get("index", "0")) in heard.calls:
                    heard.call(event.get("index"), "", "").append(text_of(delta.get("partial_json")))
            case "message_stop":
                heard.is_whole = True
            case "message":  # some servers answer in one piece, whatever was asked for
                self.whole(event, heard)

    def whole(self, answer: Body, heard: HeardAnswer) -> None:
        """Takes in an answer that comes in one piece."""
        heard.model, heard.id = text_of(answer.get("model")), text_of(answer.get("id"))
        content = answer.get("content")
        heard.words.append(answered(content))
        for call in _calls(content):
            heard.add(call)
        heard.results += _results(content)
        for block in objects_of(content):
            heard.sources |= sources(block.get("citations"))
        heard.is_whole = answer.get("type") == "message"


def _calls(content: object) -> Iterator[DialogueCall]:
    """The calls of tools, of the client's and of the provider's own."""
    for block in objects_of(content):
        if text_of(block.get("type")).endswith("tool_use"):
            yield DialogueCall(
                text_of(block.get("id")), text_of(block.get("name")) or "tool", as_json(block.get("input"))
            )


def _results(content: object) -> Iterator[DialogueResult]:
    for block in objects_of(content):
        if text_of(block.get("type")).endswith("tool_result"):
            yield DialogueResult(text_of(block.get("tool_use_id")), output(block.get("content")))


def _messages(body: Body) -> list[Any]:
    given = body.get("messages")
    return given if isinstance(given, list) else []
