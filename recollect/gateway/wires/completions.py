"""OpenAI's Chat Completions, which many servers speak."""

from __future__ import annotations

from collections.abc import Mapping
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
    output,
    own_of,
    prefilled,
    sources,
    words,
)
from recollect.importers.reading.lenient import objects_of, text_of

_SYSTEM, _TOOLS = ("system", "developer"), ("tool", "function")
_NO_REASON = (None, "", "null")  # to end: some servers write them into every chunk


class Completions:
    """`POST …/chat/completions`."""

    vendor, path, items = "openai", "/chat/completions", "messages"

    def read(self, body: Body) -> Dialogue:
        """What stands in a request."""
        said: list[DialogueMessage] = []
        system: list[str] = []
        for at, message in enumerate(_messages(body)):
            if not isinstance(message, Mapping):
                continue
            role, content = text_of(message.get("role")), message.get("content")
            if role in _SYSTEM:
                system.append(words(content))
            elif role in _TOOLS:
                result = DialogueResult(
                    text_of(message.get("tool_call_id")) or text_of(message.get("name")), output(content)
                )
                said.append(DialogueMessage("tool", "", at, results=(result,)))
            elif role in ("user", "assistant"):
                own = own_of(content, role) or own_of(text_of(message.get("refusal")), role)
                said.append(
                    DialogueMessage(
                        role,
                        own,
                        at,
                        calls=_calls(message),
                        assets=assets(content, role),
                        refers="" if own else _spoken_as(message),
                    )
                )
        many, last = body.get("n"), (objects_of(_messages(body)) or [{}])[-1]
        # OpenAI's models do not go on with what they said last; those of others do where they are asked to.
        is_prefill = last.get("prefix") is True or body.get("continue_final_message") is True
        prefill = prefilled(said, _messages(body)) if is_prefill else ""
        answers = many if isinstance(many, int) else 1
        return Dialogue(tuple(said), "\n\n".join(system), answers=answers, prefill=prefill)

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

    def hear(self, event: Body, heard: HeardAnswer) -> None:
        """Takes in a chunk."""
        heard.model, heard.id = heard.model or text_of(event.get("model")), heard.id or text_of(event.get("id"))
        heard.sources |= sources(event.get("search_results"))
        for choice in objects_of(event.get("choices")):
            one, delta, message = (
                heard.answer(int(choice.get("index") or 0)),
                choice.get("delta"),
                choice.get("message"),
            )
            is_piece = isinstance(delta, Mapping)  # else some servers tell all at once, whatever was asked for
            said = delta if is_piece else message
            if isinstance(said, Mapping):
                _told(said, one)
                for call in objects_of(said.get("tool_calls")):
                    about = _about(call)
                    kept = one.call(call.get("index"), text_of(call.get("id")), text_of(about.get("name")))
                    kept.append(output(about.get("arguments", about.get("input"))))
                if isinstance(old := said.get("function_call"), Mapping):
                    name = text_of(old.get("name"))
                    one.call(0, name, name).append(output(old.get("arguments")))
            one.is_whole = one.is_whole or choice.get("finish_reason") not in _NO_REASON
            one.is_whole = one.is_whole or (isinstance(message, Mapping) and not is_piece)

    def whole(self, answer: Body, heard: HeardAnswer) -> None:
        """Takes in an answer that comes in one piece."""
        heard.model, heard.id = text_of(answer.get("model")), text_of(answer.get("id"))
        heard.sources |= sources(answer.get("search_results"))
        for number, choice in enumerate(objects_of(answer.get("choices"))):
            message = choice.get("message")
            if isinstance(message, Mapping):
                one = heard.answer(number)
                _told(message, one)
                for call in _calls(message):
                    one.add(call)
                one.is_whole = True


def _messages(body: Body) -> list[Any]:
    given = body.get("messages")
    return given if isinstance(given, list) else []


def _told(message: Body, heard: HeardAnswer) -> None:
    """Takes in what a message or a piece of one says."""
    heard.words.append(_words(message))
    heard.sources |= sources(message.get("annotations"))
    heard.name = heard.name or _spoken_as(message)


def _spoken_as(message: Body) -> str:
    """The name of a spoken answer, by which alone clients send it again."""
    audio = message.get("audio")
    return text_of(audio.get("id")) if isinstance(audio, Mapping) else ""


def _words(message: Body) -> str:
    """What a message or a piece of one says; of a spoken answer what was spoken."""
    audio = message.get("audio")
    spoken = text_of(audio.get("transcript")) if isinstance(audio, Mapping) else ""
    return answered(message.get("content")) or text_of(message.get("refusal")) or spoken


def _about(call: Body) -> Body:
    inner = call.get("function") or call.get("custom")
    return inner if isinstance(inner, Mapping) else {}


def _calls(message: Body) -> tuple[DialogueCall, ...]:
    found = []
    for call in objects_of(message.get("tool_calls")):
        about = _about(call)
        given = about.get("arguments", about.get("input"))
        found.append(DialogueCall(text_of(call.get("id")), text_of(about.get("name")) or "tool", output(given)))
    old = message.get("function_call")
    if isinstance(old, Mapping):
        found.append(
            DialogueCall(text_of(old.get("name")), text_of(old.get("name")) or "tool", output(old.get("arguments")))
        )
    return tuple(found)
