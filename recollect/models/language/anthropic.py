"""Claude, through Anthropic's SDK. The texts leave the machine, to the server that the model's name says.

The address is always explicit: an exported ANTHROPIC_BASE_URL may be a proxy that remembers what passes, our own
among them, and a memory must not remember itself.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from recollect.models.language.base import Price, Prompt
from recollect.models.language.structured import Turn, wire_schema
from recollect.models.language.talk import Heard, Said, StreamedModel, Talk, arguments_of
from recollect.models.language.wire import checked_base_url

DEFAULT_BASE_URL = "https://api.anthropic.com"

#: Tokens for thinking, which count as output: these models may think before they answer, even at low effort.
THINKING = 4_000

_SCHEMA_AND_EFFORT, _SCHEMA, _WORDS = "schema, low effort", "schema", "words"


class AnthropicModel(StreamedModel):
    """A model behind Anthropic's Messages API. Safe to use from several threads.

    Answers are streamed, so that silence is told from work. The SDK does not retry: whoever asks knows better.
    """

    _package = "anthropic"
    _forms = (_SCHEMA_AND_EFFORT, _SCHEMA, _WORDS)
    _key_variable = "ANTHROPIC_API_KEY"
    _hint = "Check ANTHROPIC_API_KEY and the name of the model."

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        price: Price | None = None,
        silence: float = 120.0,
        longest: float = 600.0,
    ) -> None:
        """Asks nothing yet. The key is that of ANTHROPIC_API_KEY, for Anthropic's own address, else that of
        RECOLLECT_MODEL_KEY, if any. `silence` and `longest` are seconds without a word and in all.

        Raises InvalidInput for an address that is none.
        """
        base_url = checked_base_url(base_url or DEFAULT_BASE_URL)
        own = base_url == DEFAULT_BASE_URL
        key = os.environ.get("ANTHROPIC_API_KEY" if own else "RECOLLECT_MODEL_KEY") or ("" if own else "none")
        name = f"anthropic:{model}" if own else f"anthropic:{model}@{base_url}"
        super().__init__(name, model, base_url, key, price, silence, longest)

    def _tells_schema(self, form: str) -> bool:
        return form == _WORDS

    def _open(self, prompt: Prompt, system: str, turns: Sequence[Turn], max_tokens: int, form: str) -> Any:
        config: dict[str, Any] = {}
        if form != _WORDS:
            config["format"] = {"type": "json_schema", "schema": wire_schema(prompt.schema)}
        if form == _SCHEMA_AND_EFFORT:
            config["effort"] = "low"
        return self._client.messages.create(
            model=self._model,
            max_tokens=max_tokens + THINKING,
            system=system,
            messages=[{"role": role, "content": text} for role, text in turns],
            stream=True,
            **({"output_config": config} if config else {}),
        )

    def _open_talk(self, talk: Talk) -> Any:
        asked: dict[str, Any] = {}
        if talk.tools:
            asked["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
                for tool in talk.tools
            ]
            asked["tool_choice"] = {"type": "auto" if talk.may_call else "none"}
        return self._client.messages.create(
            model=self._model,
            max_tokens=talk.max_tokens + THINKING,
            system=[{"type": "text", "text": talk.system, "cache_control": {"type": "ephemeral"}}],
            messages=[{"role": turn.role, "content": _content(turn)} for turn in talk.said],
            stream=True,
            **asked,
        )

    def _hear(self, event: Any, heard: Heard) -> None:
        match event.type:
            case "message_start":
                _count(event.message.usage, heard)
            case "content_block_start":
                _begin(event.index, event.content_block, heard)
            case "content_block_delta" if event.delta.type == "text_delta":
                heard.add(event.delta.text)
            case "content_block_delta" if event.delta.type == "input_json_delta":
                heard.call(event.index, arguments=event.delta.partial_json)
            case "content_block_delta" if event.delta.type == "thinking_delta" and event.index in heard.raw:
                heard.raw[event.index]["thinking"] += event.delta.thinking
            case "content_block_delta" if event.delta.type == "signature_delta" and event.index in heard.raw:
                heard.raw[event.index]["signature"] += event.delta.signature
            case "message_delta":
                _count(event.usage, heard)
                match event.delta.stop_reason:
                    case "max_tokens" | "model_context_window_exceeded":
                        heard.stop = "limit"
                    case "refusal":
                        heard.stop = "refusal"
                        details = getattr(event.delta, "stop_details", None)
                        heard.reason = str(getattr(details, "category", None) or "")
                    case None | "":
                        pass
                    case _:
                        heard.stop = "end"

    @cached_property
    def _client(self) -> Any:
        return self._sdk.Anthropic(
            api_key=self._key,
            base_url=self._base_url,
            max_retries=0,
            open_telemetry=False,
            http_client=self._http(),
        )


def _begin(place: int, block: Any, heard: Heard) -> None:
    """Takes the beginning of a part of an answer. Thinking is not shown, and wanted back when tools were called."""
    match block.type:
        case "text" if block.text:
            heard.add(block.text)
        case "tool_use":
            heard.call(place, id=block.id, name=block.name)
        case "thinking":
            heard.raw[place] = {"type": "thinking", "thinking": block.thinking, "signature": block.signature or ""}
        case "redacted_thinking":
            heard.raw[place] = {"type": "redacted_thinking", "data": block.data}


def _content(turn: Said) -> list[dict[str, Any]] | str:
    """A turn as Anthropic has it."""
    if not turn.calls and not turn.results:
        return turn.text
    content: list[dict[str, Any]] = [dict(block) for block in turn.raw]
    content += [
        {
            "type": "tool_result",
            "tool_use_id": result.call.id,
            "content": result.text or "(nothing)",
            "is_error": result.is_error,
        }
        for result in turn.results
    ]
    if turn.text.strip():
        content.append({"type": "text", "text": turn.text})
    content += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_of(call)} for call in turn.calls
    ]
    return content


def _count(usage: Any, heard: Heard) -> None:
    """Takes the tokens that an event tells; those of prompt caches count as input."""
    kinds = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    told = [value for kind in kinds if isinstance(value := getattr(usage, kind, None), int)]
    if any(told):
        heard.input_tokens = sum(told)
    if isinstance(output := getattr(usage, "output_tokens", None), int):
        heard.output_tokens = output
