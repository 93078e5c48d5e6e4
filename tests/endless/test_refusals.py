"""How servers say that a request is too long: their own words, and the numbers in them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from recollect.embedding.tokenizer import PROVIDER_FACTOR
from recollect.endless.measure import cost_of_each, holds_files
from recollect.endless.refusals import Opening, Refusal, read_refusal
from recollect.endless.windows import Window, Windows

MODEL = ("http://host/v1", "m", "")


def openai(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", **more}}


@pytest.mark.parametrize(
    ("body", "limit", "asked"),
    [
        # OpenAI
        (
            openai(
                "This model's maximum context length is 128000 tokens. However, your messages resulted in "
                "130043 tokens. Please reduce the length of the messages.",
                code="context_length_exceeded",
            ),
            128_000,
            130_043,
        ),
        (
            openai(
                "This model's maximum context length is 4097 tokens. However, you requested 4268 tokens (4012 in the "
                "messages, 256 in the completion). Please reduce the length of the messages or completion."
            ),
            4_097,
            4_012,
        ),
        (openai("Your input exceeds the context window of this model. Please adjust your input."), None, None),
        (openai("", code="context_length_exceeded"), None, None),
        # Anthropic
        (
            {
                "type": "error",
                "error": {
                    "type": "invalid_request_error",
                    "message": "prompt is too long: 208310 tokens > 200000 maximum",
                },
            },
            200_000,
            208_310,
        ),
        (
            openai(
                "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or "
                "`max_tokens` and try again"
            ),
            200_000,
            178_959,
        ),
        # vLLM, before and since it counts no further than it must
        (
            {
                "object": "error",
                "message": "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens "
                "(112946 in the messages, 10000 in the completion). Please reduce the length of the messages.",
                "code": 400,
            },
            16_384,
            112_946,
        ),
        (
            openai(
                "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your "
                "prompt contains at least 262145 input tokens, for a total of at least 262145 tokens."
            ),
            262_144,
            None,
        ),
        # llama.cpp, LM Studio, Ollama, and who stands before others
        (
            {
                "error": {
                    "code": 400,
                    "message": "the request exceeds the available context size. try increasing the context size",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 14_429,
                    "n_ctx": 8_192,
                }
            },
            8_192,
            14_429,
        ),
        (
            {"error": {"message": "request (9412 tokens) exceeds the available context size (8192 tokens), try more"}},
            8_192,
            9_412,
        ),
        ({"error": {"message": "Requested tokens (2285) exceed context window of 2048"}}, 2_048, 2_285),
        (
            {
                "error": "Trying to keep the first 15857 tokens when context the overflows. However, the model is "
                "loaded with context length of only 7866 tokens, which is not enough."
            },
            7_866,
            15_857,
        ),
        ({"error": "prompt too long; exceeded max context length by 300 tokens"}, None, None),
        (openai("Input length 131393 exceeds the maximum allowed input length of 131040 tokens."), 131_040, 131_393),
        (openai("Input length (265330) exceeds model's maximum context length (262144)."), 262_144, 265_330),
        (
            openai(
                "This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens "
                "(42832 of text input)."
            ),
            32_768,
            42_832,
        ),
        (
            openai("The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."),
            1_048_575,
            1_196_265,
        ),
        (
            openai("This model's maximum prompt length is 131072 but the request contains 150,000 tokens."),
            131_072,
            150_000,
        ),
        (openai("Prompt is 11543 tokens but the model context window is 4096 tokens."), 4_096, 11_543),
        ({"detail": json.dumps(openai("prompt is too long: 300 tokens > 200 maximum"))}, 200, 300),
    ],
)
def test_refusals_are_read(body: Any, limit: int | None, asked: int | None) -> None:
    assert read_refusal(400, body) == Refusal(limit, asked)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, openai("Invalid value for 'temperature'.")),
        (400, openai("max_tokens is too large: 999999. This model supports at most 16384 completion tokens.")),
        (400, openai("Unknown parameter.", param="prompt is too long")),
        (401, openai("The context window is closed: maximum context length.")),
        (429, openai("Rate limit reached: 30000 tokens per minute > 20000 maximum.")),
        (500, openai("The server had an error.")),
        (400, {"error": {"message": "x" * 5_000 + "prompt is too long"}}),
        (400, []),
        (200, openai("prompt is too long")),
    ],
)
def test_other_errors_are_none(status: int, body: Any) -> None:
    assert read_refusal(status, body) is None


def events(*found: dict[str, Any]) -> bytes:
    return b"".join(f"event: {one.get('type')}\ndata: {json.dumps(one)}\n\n".encode() for one in found)


def test_a_stream_that_begins_with_a_refusal() -> None:
    begun = {"type": "response.created", "response": {"status": "in_progress", "error": None}}
    failed = {
        "type": "response.failed",
        "response": {"status": "failed", "error": {"code": "context_length_exceeded", "message": "Too long."}},
    }
    opening = Opening(200)
    raw = events(begun, failed)
    assert [opening.feed(raw[:40]), opening.feed(raw[40:-5]), opening.feed(raw[-5:])] == [False, False, True]
    assert opening.refusal == Refusal()
    said = Opening(200)
    assert said.feed(events({"choices": [{"delta": {"content": "The prompt is too long: 9 tokens > 8 maximum"}}]}))
    assert said.refusal is None
    of_lm_studio = Opening(200)
    assert of_lm_studio.feed(
        events({"error": {"message": "The model is loaded with context length of only 512 tokens"}})
    )
    assert of_lm_studio.refusal == Refusal(512)


def test_what_a_server_tells_is_learned() -> None:
    windows = Windows()
    assert windows.of(MODEL) is None
    assert windows.of(MODEL, 9_000) == Window(9_000, PROVIDER_FACTOR)
    windows.learn(MODEL, Refusal(10_000, 12_000), own=8_000, answer=0)
    found = windows.of(MODEL)
    assert found is not None
    assert found.tokens == 10_000
    assert found.own < 8_000 * 10_000 / 12_000  # so much of ours are its tokens
    assert windows.of(MODEL, 9_000) == Window(9_000, found.factor)
    assert windows.of(MODEL, 50_000) == found
    assert windows.of(("http://other/v1", "m", "")) is None


@pytest.mark.parametrize("refusal", [Refusal(), Refusal(10_000), Refusal(10_000, 11_000)])
def test_every_refusal_makes_the_window_smaller_than_what_was_refused(refusal: Refusal) -> None:
    windows, own = Windows(), 20_000
    for _ in range(3):
        windows.learn(MODEL, refusal, own, answer=0)
        found = windows.of(MODEL)
        assert found is not None
        assert found.own < own
        own = found.own


def test_a_small_request_that_is_refused_without_a_number_says_nothing_of_the_model() -> None:
    windows = Windows()
    windows.learn(MODEL, Refusal(), own=300, answer=0)
    assert windows.of(MODEL) is None


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "document", "source": {"type": "base64", "data": "JVBERi0"}}],
        [{"type": "input_file", "file_id": "file_1"}],
        [{"type": "image", "source": {"type": "file", "file_id": "file_1"}}],
        [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "document", "source": {}}]}],
    ],
)
def test_files_are_not_counted_here(content: list[Any]) -> None:
    assert holds_files({"messages": [{"role": "user", "content": content}]})
    assert holds_files({"input": [{"role": "user", "content": content}]})


def test_words_and_pictures_are() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 400_000}}
    asked = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, picture]}
    assert not holds_files({"messages": [asked, {"role": "assistant", "content": "A weir."}, "?"], "input": "x"})
    assert 1_600 <= cost_of_each([asked])[0] <= 1_620


def test_a_comment_that_keeps_the_reader_waiting_goes_on() -> None:
    assert Opening(200).feed(b": PROCESSING\n\n")


def test_one_small_request_spoils_nothing() -> None:
    """Ten words that allow an answer of a million tokens are refused, too."""
    windows = Windows()
    windows.learn(MODEL, Refusal(128_000, 12), own=10, answer=1_000_000)
    found = windows.of(MODEL)
    assert found is not None
    assert found.own > 100_000
