"""OpenAI's Responses."""

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
    own_words,
    sources,
    words,
)
from recollect.importers.reading.lenient import objects_of, rest, text_of

_SYSTEM = ("system", "developer")
#: What stands for all that was said before it.
_STAYS = ("compaction", "compaction_summary")
_ENDS = ("response.completed", "response.incomplete")
_COMING = ("queued", "in_progress")  # an answer that is made in the background
#: Of a tool that the provider runs itself: what comes of it, and what says nothing of what it was asked.
_GIVEN = ("output", "outputs", "results", "error")
#: Tools that the client runs, whether the server gives the call an id or not.
_OF_CLIENTS = ("function_call", "custom_tool_call")
_ABOUT = frozenset({"type", "id", "call_id", "status", "name", "result", *_GIVEN})


class Responses:
    """`POST …/responses`."""

    vendor, path, items = "openai", "/responses", "input"

    def read(self, body: Body) -> Dialogue:
        """What stands in a request."""
        given, system = body.get("input"), [text_of(body.get("instructions"))]
        said: list[DialogueMessage] = []
        if isinstance(given, str):
            said.append(DialogueMessage("user", own_words(given, "user"), 0))
        for at, item in enumerate(given if isinstance(given, list) else ()):
            if not isinstance(item, Mapping):
                continue
            kind, role, content = text_of(item.get("type")) or "message", text_of(item.get("role")), item.get("content")
            if kind == "message" and role in _SYSTEM:
                system.append(words(content))
            elif kind == "message" and role in ("user", "assistant"):
                said.append(DialogueMessage(role, own_of(content, role), at, assets=assets(content, role)))
            elif kind.endswith("call_output"):
                said.append(DialogueMessage("tool", "", at, results=_results(item)))
            elif kind.endswith("_call"):
                said.append(DialogueMessage("assistant", "", at, calls=(_call(item),), results=_results(item)))
            elif _is_reference(item):
                said.append(DialogueMessage("assistant", "", at, refers=text_of(item.get("id"))))
        follows, is_held = text_of(body.get("previous_response_id")), body.get("store") is not False
        return Dialogue(tuple(said), "\n\n".join(filter(None, system)), follows, is_held)

    def links(self, item: Body) -> Links:
        """What an item hangs together with. A thought is the model's, and so is what it led to."""
        kind, role = text_of(item.get("type")) or "message", text_of(item.get("role"))
        if kind in _STAYS or (kind == "message" and role in _SYSTEM):
            return Links("system")
        if kind == "message" and role == "user":
            return Links("user")
        if kind.endswith("call_output"):
            return Links("result", closes=(text_of(item.get("call_id")),))
        if kind == "mcp_approval_response":
            return Links("result", closes=(text_of(item.get("approval_request_id")),))
        name = text_of(item.get("id") if kind == "mcp_approval_request" else item.get("call_id"))
        return Links("assistant", (name,) if name else ())

    def with_blocks(self, body: Body, blocks: Mapping[int, str]) -> dict[str, Any]:
        """The request with a text before the words of some of its messages, by their places."""
        given = body.get("input")
        if isinstance(given, str):
            return {**body, "input": f"{blocks[0]}\n\n{given}" if 0 in blocks else given}
        items = [
            {**item, "content": before_words(item.get("content"), blocks[at], "input_text")}
            if at in blocks and isinstance(item, Mapping)
            else item
            for at, item in enumerate(given if isinstance(given, list) else ())
        ]
        return {**body, "input": items}

    def hear(self, event: Body, heard: HeardAnswer) -> None:
        """Takes in an event. A message that is done is told once more, whole; and so is all of it at the end, which
        counts where nothing was told before.
        """
        kind, response = text_of(event.get("type")), event.get("response")
        if kind == "response.created" and isinstance(response, Mapping):
            heard.model, heard.id = text_of(response.get("model")), text_of(response.get("id"))
        elif kind in ("response.output_text.delta", "response.refusal.delta"):
            heard.words.append(text_of(event.get("delta")))
        elif kind == "response.output_item.done" and isinstance(item := event.get("item"), Mapping):
            self._item(item, heard)
        elif kind in _ENDS:
            if isinstance(response, Mapping) and not (heard.text or heard.calls):
                self.whole(response, heard)
            heard.is_whole = True
        elif event.get("object") == "response":  # some servers answer in one piece, whatever was asked for
            self.whole(event, heard)

    def whole(self, answer: Body, heard: HeardAnswer) -> None:
        """Takes in an answer that comes in one piece."""
        heard.model, heard.id = text_of(answer.get("model")), text_of(answer.get("id"))
        for item in objects_of(answer.get("output")):
            self._item(item, heard)
        heard.is_whole = answer.get("status") in ("completed", "incomplete")
        heard.is_coming = answer.get("status") in _COMING

    def _item(self, item: Body, heard: HeardAnswer) -> None:
        kind, content = text_of(item.get("type")), item.get("content")
        if kind == "message":
            heard.words = [answered(content)] if answered(content) else heard.words
            heard.name = text_of(item.get("id"))
            heard.begin()
            for part in objects_of(content):
                heard.sources |= sources(part.get("annotations"))
        elif kind.endswith("_call"):
            heard.add(_call(item))
        heard.results += _results(item)


def _is_reference(item: Body) -> bool:
    """Whether an item only names another, which the provider keeps: its type may be left out."""
    return item.get("type") == "item_reference" or (not item.get("type") and not item.get("role"))


def _call(item: Body) -> DialogueCall:
    """A call of a tool. One that the provider runs has no id for a result to refer to, but its own."""
    kind, own = text_of(item.get("type")), text_of(item.get("call_id")) or text_of(item.get("id"))
    given = item.get("arguments", item.get("input"))
    if given is None and (about := rest(item, _ABOUT)):
        given = (
            {**about, "action": rest(action, {"sources"})}
            if isinstance(action := about.get("action"), Mapping)
            else about
        )
    return DialogueCall(own, text_of(item.get("name")) or kind.removesuffix("_call") or "tool", output(given))


def _results(item: Body) -> tuple[DialogueResult, ...]:
    """What comes of a call, told on its own or with the call."""
    kind, own = text_of(item.get("type")), text_of(item.get("call_id"))
    if kind.endswith("call_output"):
        return (DialogueResult(own, output(item.get("output"))),)
    if own or not kind.endswith("_call") or kind in _OF_CLIENTS:
        return ()
    action = item.get("action")
    found = action.get("sources") if isinstance(action, Mapping) else None
    given = next((item[key] for key in _GIVEN if item.get(key)), found)
    return (DialogueResult(text_of(item.get("id")), output(given)),)
