"""How servers say that a request is too long: their own words, and the numbers in them."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest

from recollect.gateway.events import AnswerStart, Refusal, read_refusal
from recollect.gateway.fitting import ContextWindow, ContextWindows, answer_allowed, cost_of_each, holds_files
from recollect.models.embedding.tokenizer import PROVIDER_FACTOR

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
        (
            openai(
                "Provider returned error",
                code=400,
                metadata={
                    "raw": json.dumps(openai("prompt is too long: 300 tokens > 200 maximum"), indent=2),
                    "provider_name": "Anthropic",
                },
            ),
            200,
            300,
        ),
        # SGLang, vLLM before it counted, TGI, LM Studio since
        (openai("The input (61709 tokens) is longer than the model's context length (40960 tokens)."), 40_960, 61_709),
        (
            openai(
                "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens). Use a shorter input."
            ),
            59_862,
            160_062,
        ),
        (
            openai(
                "Requested token count exceeds the model's maximum context length of 202752 tokens. You requested a "
                "total of 202941 tokens: 170941 tokens from the input messages and 32000 tokens for the completion."
            ),
            202_752,
            170_941,
        ),
        (
            openai("The decoder prompt (length 10127) is longer than the maximum model length of 8192. Make sure …"),
            8_192,
            10_127,
        ),
        (
            {
                "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 "
                "`inputs` tokens and 512 `max_new_tokens`"
            },
            8_193,
            9_000,
        ),
        (
            {
                "error": "The number of tokens to keep from the initial prompt is greater than the context length "
                "(n_keep: 14000>= n_ctx: 4096)."
            },
            4_096,
            None,
        ),
        # Mistral, Moonshot, Qwen, MiniMax, Zhipu, Copilot, Cerebras
        (
            openai("Prompt contains 40000 tokens, too large for model with 32768 maximum context length"),
            32_768,
            40_000,
        ),
        (
            openai("Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)"),
            262_144,
            291_351,
        ),
        (openai("Range of input length should be [1, 129024]"), 129_024, None),
        (openai("invalid params, context window exceeds limit (2013)"), None, None),
        (openai("Prompt exceeds max length", code="1261"), None, None),
        (openai("prompt token count of 130000 exceeds the limit of 128000"), 128_000, 130_000),
        (
            openai("Current length is 8934 while limit is 8192", code="context_length_exceeded"),
            8_192,
            8_934,
        ),
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
        (400, openai("max_tokens exceeds the limit of 8192")),
        (400, openai("max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens")),
        (400, openai("Invalid 'input': string too long. Expected a string with maximum length 10485760.")),
        (413, openai("Request too large on tokens per minute (TPM): Limit 6000, Requested 12000")),
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
    opening = AnswerStart(200)
    raw = events(begun, failed)
    assert [opening.feed(raw[:40]), opening.feed(raw[40:-5]), opening.feed(raw[-5:])] == [False, False, True]
    assert opening.refusal == Refusal()
    said = AnswerStart(200)
    assert said.feed(events({"choices": [{"delta": {"content": "The prompt is too long: 9 tokens > 8 maximum"}}]}))
    assert said.refusal is None
    of_lm_studio = AnswerStart(200)
    assert of_lm_studio.feed(
        events({"error": {"message": "The model is loaded with context length of only 512 tokens"}})
    )
    assert of_lm_studio.refusal == Refusal(512)


def test_what_a_server_tells_is_learned() -> None:
    windows = ContextWindows()
    assert windows.of(MODEL) is None
    assert windows.of(MODEL, 9_000) == ContextWindow(9_000, PROVIDER_FACTOR)
    windows.learn(MODEL, Refusal(10_000, 12_000), own=8_000, answer=0)
    found = windows.of(MODEL)
    assert found is not None
    assert found.tokens == 10_000
    assert found.own < 8_000 * 10_000 / 12_000  # so much of ours are its tokens
    assert windows.of(MODEL, 9_000) == ContextWindow(9_000, found.factor)
    assert windows.of(MODEL, 50_000) == found
    assert windows.of(("http://other/v1", "m", "")) is None


@pytest.mark.parametrize("refusal", [Refusal(), Refusal(10_000), Refusal(10_000, 11_000)])
def test_every_refusal_makes_the_window_smaller_than_what_was_refused(refusal: Refusal) -> None:
    windows, own = ContextWindows(), 20_000
    for _ in range(3):
        windows.learn(MODEL, refusal, own, answer=0)
        found = windows.of(MODEL)
        assert found is not None
        assert found.own < own
        own = found.own


def test_a_small_request_that_is_refused_without_a_number_says_nothing_of_the_model() -> None:
    windows = ContextWindows()
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


@pytest.mark.parametrize(
    "picture",
    [
        {"type": "image_url", "image_url": {"url": "https://host/weir.png", "detail": "high"}},
        {"type": "input_image", "image_url": "https://host/weir.png"},
        {"type": "input_image", "file_id": "file_1"},
        {"type": "image", "source": {"type": "url", "url": "https://host/weir.png"}},
        {"type": "computer_screenshot", "image_url": "data:image/png;base64," + "A" * 400_000},
    ],
)
def test_a_picture_costs_the_same_wherever_it_is(picture: dict[str, Any]) -> None:
    assert 1_600 <= cost_of_each([{"role": "user", "content": [picture]}])[0] <= 1_620
    assert 1_600 <= cost_of_each([{"type": "computer_call_output", "output": picture}])[0] <= 1_620


@pytest.mark.parametrize("field", ["content", "output", "text"])
def test_words_that_look_encoded_cost_what_words_cost(field: str) -> None:
    hashes = "\n".join(sha256(str(n).encode()).hexdigest() for n in range(1_000))
    names = "\n".join(f"word{n}" for n in range(20_000))
    assert cost_of_each([{"role": "tool", field: hashes}])[0] > 15_000
    assert cost_of_each([{"role": "tool", field: [{"type": "text", "text": names}]}])[0] > 30_000


def test_what_is_encoded_costs_little() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "QUJD" * 5_000}
    made = {"type": "image_generation_call", "id": "i", "result": "QUJD" * 500_000}
    assert cost_of_each([{"role": "assistant", "content": [thought]}, made])[0] < 1_620
    assert cost_of_each([made])[0] < 1_620


def test_a_comment_that_keeps_the_reader_waiting_goes_on() -> None:
    assert AnswerStart(200).feed(b": PROCESSING\n\n")


def test_what_is_held_back_and_what_is_not() -> None:
    begun = events({"type": "response.created", "response": {}})
    assert not AnswerStart(200).feed(begun)
    assert AnswerStart(200, waits=False).feed(begun)
    assert AnswerStart(200).feed(events({"type": "response.queued", "response": {}}))  # a queue may be long
    assert AnswerStart(200).feed(b"\n")
    unreadable = AnswerStart(200)
    assert unreadable.feed(b"Good morning.")
    assert not unreadable.is_readable
    whole = AnswerStart(200)
    assert [whole.feed(piece) for piece in (b"{\n", b'"choices": [')] == [False, False]  # of no use before it ends
    whole.end()
    assert whole.is_whole


def test_one_small_request_spoils_nothing() -> None:
    """Ten words that allow an answer of a million tokens are refused, too."""
    windows = ContextWindows()
    windows.learn(MODEL, Refusal(128_000, 12), own=10, answer=1_000_000)
    found = windows.of(MODEL)
    assert found is not None
    assert found.own > 100_000


def test_an_answer_of_any_length_may_be_allowed() -> None:
    windows, allowed = ContextWindows(), answer_allowed({"max_tokens": 10**400})
    windows.learn(MODEL, Refusal(128_000), own=2_000, answer=allowed or 0)
    assert windows.of(MODEL) == ContextWindow(128_000, PROVIDER_FACTOR)
