"""A cross-encoder in a folder of this machine: ONNX with tokenizer.json, or a sentence-transformers folder.

Nothing is ever downloaded. Question and text are put before the model as the tokenizer puts a pair together; of a text
that is too long the end is left out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Encoding

from recollect.errors import ModelError
from recollect.models.embedding.encoder import load_session
from recollect.models.embedding.folder import identity, model_in, sentence_transformer, tokenizer_in
from recollect.models.rerank.base import Reranker
from recollect.runtime.processes import cores

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
