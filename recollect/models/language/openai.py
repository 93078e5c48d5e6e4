"""Models behind OpenAI's Chat Completions, which many servers speak (Ollama, vLLM, llama.cpp, LM Studio, gateways).

Through OpenAI's SDK. The texts go to the server that the address names, and nowhere else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from recollect.models.language.base import Price, Prompt
from recollect.models.language.structured import Turn, wire_schema
from recollect.models.language.talk import Heard, Said, StreamedModel, Talk, arguments_of
from recollect.models.language.wire import checked_base_url

DEFAULT_BASE_URL = "https://api.openai.com/v1"

#: Tokens for reasoning, which count as output with OpenAI's own models.
THINKING = 4_000

_SCHEMA, _WORDS = "schema", "words"


class OpenAIModel(StreamedModel):
    """A model behind an OpenAI-compatible server. Safe to use from several threads.

    Where the server does not take a schema, the model is told it in words, and its answer is found in its text.
    """

    _package = "openai"
    _forms = (_SCHEMA, _WORDS)
    _key_variable = "OPENAI_API_KEY"
    _hint = "Check the key, the name of the model and the address, which usually ends in /v1."

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        price: Price | None = None,
        silence: float = 300.0,
        longest: float = 900.0,
    ) -> None:
        """Asks nothing yet. Without a `base_url` it is that of OPENAI_BASE_URL, else OpenAI's, and the key is that of
        OPENAI_API_KEY. A server that is named here gets the key of RECOLLECT_MODEL_KEY, if any: never one that is
        meant for another. `silence` and `longest` are seconds without a word (a small machine reads a long prompt for
        minutes) and in all.

        Raises InvalidInput for an address that is none.
        """
        usual = checked_base_url(os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL)
        base_url = usual if base_url is None else checked_base_url(base_url)
        self._own = base_url == DEFAULT_BASE_URL
        key = os.environ.get("OPENAI_API_KEY" if base_url == usual or self._own else "RECOLLECT_MODEL_KEY")
        name = f"openai:{model}" if self._own else f"openai:{model}@{base_url}"
        super().__init__(name, model, base_url, key or ("" if self._own else "none"), price, silence, longest)

    def _tells_schema(self, form: str) -> bool:
        return form == _WORDS or not self._own  # some servers take a schema and do not look at it

    def _open(self, prompt: Prompt, system: str, turns: Sequence[Turn], max_tokens: int, form: str) -> Any:
        asked: dict[str, Any] = {}
        if form == _SCHEMA:
            schema = {"name": prompt.name, "schema": wire_schema(prompt.schema), "strict": True}
            asked["response_format"] = {"type": "json_schema", "json_schema": schema}
        if self._own:
            asked |= {"max_completion_tokens": max_tokens + THINKING, "store": False}
        else:
            asked["max_tokens"] = max_tokens
        return self._client.chat.completions.create(
            model=self._model,
            messages=[{"role": "system", "content": system}]
            + [{"role": role, "content": text} for role, text in turns],
            stream=True,
            stream_options={"include_usage": True},
            **asked,
        )

    def _open_talk(self, talk: Talk) -> Any:
        asked: dict[str, Any] = {}
        if talk.tools:
            asked["tools"] = [
                {
                    "type": "function",
                    "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)},
                }
                for tool in talk.tools
            ]
            asked["tool_choice"] = "auto" if talk.may_call else "none"
        if self._own:
            asked |= {"max_completion_tokens": talk.max_tokens + THINKING, "store": False}
        else:
            asked["max_tokens"] = talk.max_tokens
        said: list[dict[str, Any]] = [{"role": "system", "content": talk.system}]
        for turn in talk.said:
            said += _messages(turn)
        return self._client.chat.completions.create(
            model=self._model, messages=said, stream=True, stream_options={"include_usage": True}, **asked
        )

    def _hear(self, event: Any, heard: Heard) -> None:
        usage = getattr(event, "usage", None)
        if isinstance(value := getattr(usage, "prompt_tokens", None), int):
            heard.input_tokens = value
        if isinstance(value := getattr(usage, "completion_tokens", None), int):
            heard.output_tokens = value
        for choice in getattr(event, "choices", None) or ():
            delta = choice.delta
            if text := getattr(delta, "content", None):
                heard.add(text)
            for call in getattr(delta, "tool_calls", None) or ():
                function = call.function
                heard.call(
                    call.index or 0,
                    id=call.id or "",
                    name=(function and function.name) or "",
                    arguments=(function and function.arguments) or "",
                )
            if getattr(delta, "refusal", None):
                heard.stop = "refusal"
            match choice.finish_reason:
                case None | "":  # some servers write an empty one into every chunk
                    pass
                case "length":
                    heard.stop = "limit"
                case "content_filter":
                    heard.stop, heard.reason = "refusal", "content filter"
                case _:
                    heard.stop = heard.stop or "end"

    @cached_property
    def _client(self) -> Any:
        return self._sdk.OpenAI(api_key=self._key, base_url=self._base_url, max_retries=0, http_client=self._http())


def _messages(turn: Said) -> list[dict[str, Any]]:
    """A turn as Chat Completions has it: each result is a message of its own."""
    found: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": result.call.id, "content": result.text or "(nothing)"}
        for result in turn.results
    ]
    if turn.calls:
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(arguments_of(call), ensure_ascii=False)},
            }
            for call in turn.calls
        ]
        found.append({"role": "assistant", "content": turn.text or None, "tool_calls": calls})
    elif turn.text or not found:
        found.append({"role": turn.role, "content": turn.text})
    return found
