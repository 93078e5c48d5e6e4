"""A cross-encoder in a folder of this machine: ONNX with tokenizer.json, or a sentence-transformers folder.

Nothing is ever downloaded. Question and text are put before the model as the tokenizer puts a pair together; of a text
that is too long the end is left out.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Encoding

from recollect.errors import ModelError
from recollect.models.embedding.encoder import identity, load_session, model_in, sentence_transformer, tokenizer_in
from recollect.models.embedding.remote import Endpoint
from recollect.models.rerank.base import Reranker
from recollect.runtime.processes import cores
from recollect.text.secrets import without_secrets

_DEFAULT_LENGTH, _LONGEST = 512, 1_024  # tokens of a pair; more would make each search slow
_QUESTION = 300  # characters a question may take of a pair's room, for each 128 tokens of it


def open_folder(path: str | Path) -> Reranker:
    """The cross-encoder in a folder. Raises ModelError where there is none that can be used here, saying what is
    missing.
    """
    folder, model = model_in(path, "cross-encoder", "config.json")
    return SentenceTransformersReranker(folder) if model is None else OnnxReranker(folder, model)


class OnnxReranker:
    """A cross-encoder in ONNX. Safe to use from several threads."""

    def __init__(self, folder: Path, model: Path, threads: int | None = None) -> None:
        """Loads the model. `threads`: pairs at once, None for all cores. Raises ModelError where it cannot be used."""
        self._tokenizer = tokenizer_in(folder)
        self.name = identity(folder, model)
        self._length = _length(folder)
        self._tokenizer.enable_truncation(self._length, strategy="only_second")
        self._cores = threads or cores()
        self._session, self._integers = load_session(model)
        self._output = _wanted_output(folder, [each.name for each in self._session.get_outputs()])
        self.score("a", ["b"])  # says now what it cannot do

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """The model's number for each text. Raises ModelError."""
        if not texts:
            return []
        question = _encodable(question)[: _QUESTION * self._length // 128]
        try:
            pairs = self._tokenizer.encode_batch([(question, _encodable(text)) for text in texts])
        except Exception as error:  # the library raises bare Exceptions, as for a question that fills the pair
            raise ModelError(f"The re-ranker cannot read the texts: {error}") from error
        if self._cores == 1 or len(pairs) == 1:
            return [self._of_pair(pair) for pair in pairs]
        with ThreadPoolExecutor(min(self._cores, len(pairs))) as workers:
            return list(workers.map(self._of_pair, pairs))

    def _of_pair(self, pair: Encoding) -> float:
        given = {"input_ids": pair.ids, "attention_mask": pair.attention_mask, "token_type_ids": pair.type_ids}
        feed = {name: np.array([given[name]], integer) for name, integer in self._integers.items()}
        try:
            (found,) = self._session.run([self._output], feed)
        except Exception as error:  # the library's own classes, which differ between its versions
            raise ModelError(f"The re-ranker failed: {error}") from error
        return one_score(np.asarray(found, np.float64).ravel())


class SentenceTransformersReranker:
    """A cross-encoder run by the sentence-transformers library, where that is installed."""

    def __init__(self, folder: Path) -> None:
        """Loads the model. Raises ModelError when the library is missing or refuses the folder."""
        self._model = sentence_transformer(folder, "CrossEncoder")
        self.name = identity(folder, next(folder.glob("*.safetensors"), folder / "config.json"))

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """The model's number for each text. Raises ModelError."""
        if not texts:
            return []
        try:
            found = self._model.predict([(question, text) for text in texts], show_progress_bar=False)
        except Exception as error:
            raise ModelError(f"The re-ranker failed: {error}") from error
        rows = np.asarray(found, np.float64).reshape(len(texts), -1)
        return [one_score(row) for row in rows]


def one_score(labels: Any) -> float:
    """The number that a model's answer (k,) means: the only one, or how far yes is above no. Raises ModelError."""
    if not np.isfinite(labels).all():
        raise ModelError("The re-ranker returned scores that are not valid numbers.")
    if len(labels) == 1:
        return float(labels[0])
    if len(labels) == 2:
        return float(labels[1] - labels[0])
    raise ModelError(
        f"The re-ranker returns {len(labels)} numbers for a pair; one is needed, or two for no and yes.",
        hint="Choose a cross-encoder that was trained for ranking.",
    )


def _wanted_output(folder: Path, outputs: Sequence[str]) -> str:
    if "logits" in outputs:
        return "logits"
    if len(outputs) == 1 and outputs[0] not in ("last_hidden_state", "token_embeddings", "sentence_embedding"):
        return outputs[0]
    raise ModelError(
        f"The model in {folder} outputs {', '.join(outputs)}, and no logits: it is no cross-encoder.",
        hint="An embedding model is set as the embedder.",
    )


def _length(folder: Path) -> int:
    """The most tokens of a pair."""
    path = folder / "tokenizer_config.json"
    if not path.is_file():
        return _DEFAULT_LENGTH
    try:
        length = json.loads(path.read_text(encoding="utf-8")).get("model_max_length")
    except (OSError, ValueError, AttributeError) as error:
        raise ModelError(f"{path} is not readable JSON: {error}.") from error
    usable = isinstance(length, int | float) and length >= 32
    return int(min(length, _LONGEST)) if usable else _DEFAULT_LENGTH


def _encodable(text: str) -> str:
    """The text without halves of surrogate pairs, as broken exports hold them."""
    return text.encode("utf-8", "replace").decode()


# A re-ranker on a server, in either usual form. Never used unless configured: question and texts go to that server,
# without the secrets that they hold.

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
