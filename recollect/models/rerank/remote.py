"""A re-ranker on a server, in either usual form. Never used unless configured: question and texts go to that server,
without the secrets that they hold.

Cohere, Jina, vLLM, Infinity and llama.cpp take `documents` and answer `results` with a `relevance_score` each; Text
Embeddings Inference takes `texts` and answers a list with a `score` each. Which one a server speaks it says itself.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from recollect.errors import ModelError
from recollect.models.embedding.endpoint import Endpoint
from recollect.text.secrets import without_secrets

#: Texts of one request: what Text Embeddings Inference takes unless it is told otherwise.
_BATCH = 32
_ATTEMPTS, _MOST_BYTES = 2, 4_000_000
_OTHER_FORM = "`texts`", "'texts'", '"texts"', " texts"
_HINT = "Check the setting reranker and that the server is running, or set it to none."
_REMEDIES = {
    400: "The model may take shorter texts; the server's words say which.",
    401: "Set RECOLLECT_RERANKER_KEY to a key of this server.",
    403: "The key may not use this model.",
    404: "Check the address in the setting reranker; it usually ends in /rerank. The model stands before an @.",
    413: "The model may take shorter texts; the server's words say which.",
    429: "The account's quota is used up or its rate is limited: wait, or set reranker to none.",
}


class RemoteReranker:
    """The scores of a model behind an address. Safe to use from several threads."""

    def __init__(
        self,
        url: str,
        model: str = "",
        *,
        key: str | None = None,
        longest: float = 5.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Asks nothing yet. `url` is the address of the call, to which /rerank is added where it is missing; `longest`
        are the seconds that an answer may take. Raises InvalidInput for an address that is none.
        """
        address = url.rstrip("/")
        self.name = f"{model}@{address}" if model else address
        self._model, self._of_texts = model, False
        self._endpoint = Endpoint(
            address if address.endswith("/rerank") else f"{address}/rerank",
            key,
            timeout=longest,
            longest=longest,
            most_bytes=_MOST_BYTES,
            sleep=lambda seconds: sleep(min(seconds, 1.0)),  # somebody waits for the results
            attempts=_ATTEMPTS,
            remedies=_REMEDIES,
            hint=_HINT,
        )

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """The server's number for each text. Raises ModelError."""
        scores: list[float] = []
        for at in range(0, len(texts), _BATCH):
            batch = [_sendable(text) for text in texts[at : at + _BATCH]]
            scores += read_scores(self._ask(_sendable(question), batch), len(batch))
        return scores

    def _ask(self, question: str, texts: list[str]) -> Any:
        if not self._of_texts:
            body = {"query": question, "documents": texts, "top_n": len(texts)}
            try:
                return self._endpoint.post_any({"model": self._model, **body} if self._model else body)
            except ModelError as problem:
                if not any(word in problem.message for word in _OTHER_FORM):
                    raise
        answer = self._endpoint.post_any({"query": question, "texts": texts, "raw_scores": True, "truncate": True})
        self._of_texts = True
        return answer


def read_scores(answer: Any, count: int) -> list[float]:
    """The scores of so many texts, in their order, from an answer in either form. Raises ModelError for nonsense."""
    rows: Any = answer.get("results", answer.get("data")) if isinstance(answer, dict) else answer
    try:
        found = {int(row["index"]): float(row.get("relevance_score", row.get("score"))) for row in rows}
        scores = [found[number] for number in range(count)]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ModelError(
            "The re-ranker's server returned no score for some of the texts.", hint="Check that its model re-ranks."
        ) from error
    if not all(map(math.isfinite, scores)):
        raise ModelError("The re-ranker's server returned scores that are not valid numbers.")
    return scores


def _sendable(text: str) -> str:
    """A text without secrets and halves of surrogate pairs; servers refuse blank ones."""
    return without_secrets(text).encode("utf-8", "replace").decode() if text.strip() else "."
