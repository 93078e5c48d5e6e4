"""Runs a transformer in ONNX over pieces of token ids, each by itself, a core a piece.

Batches are no faster on a processor, and in a quantised model the texts of a batch would colour each other: its scales
are those of the whole batch. By itself a text has the same vector, always.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from recollect.errors import ModelError
from recollect.models.embedding.base import Vectors
from recollect.models.embedding.pieces import TokenPiece
from recollect.runtime.processes import cores

#: Pieces under way or waiting to be taken, for each core.
_AHEAD = 8
_KNOWN_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """What the model says of a piece of t tokens, special ones included: float32 (d,) of it whole, (t, d) of each."""

    piece: TokenPiece
    outputs: dict[str, Vectors]


class Encoder:
    """A loaded ONNX model with its tokenizer. Safe to use from several threads.

    Each piece is wrapped in the special tokens that the tokenizer puts around a text; `prefix` holds the leading ones.
    """

    def __init__(self, model: Path, tokenizer: Tokenizer, threads: int | None = None) -> None:
        """Loads the model. `threads`: pieces at once, None for all cores. Raises ModelError where it cannot be used."""
        self._cores = threads or cores()
        self._session, self._integers = load_session(model)
        self.outputs = {each.name: len(each.shape) for each in self._session.get_outputs()}
        self.prefix, self._suffix = _special_tokens(tokenizer)

    @property
    def specials(self) -> int:
        """How many special tokens each piece gets."""
        return len(self.prefix) + len(self._suffix)

    def run(self, pieces: Iterable[TokenPiece], outputs: Sequence[str]) -> Iterator[Encoded]:
        """The wanted outputs for each piece, in order. Raises ModelError."""
        names = list(outputs)
        if self._cores == 1:
            yield from (self._answer(piece, names) for piece in pieces)
            return
        with ThreadPoolExecutor(self._cores) as workers:
            waiting: deque[Future[Encoded]] = deque()
            for piece in pieces:
                waiting.append(workers.submit(self._answer, piece, names))
                if len(waiting) >= _AHEAD * self._cores:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _answer(self, piece: TokenPiece, outputs: list[str]) -> Encoded:
        ids = np.array([[*self.prefix, *piece.ids, *self._suffix]], np.int64)
        values = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        feed = {name: values[name].astype(integer) for name, integer in self._integers.items()}
        try:
            answers = self._session.run(outputs, feed)
        except Exception as error:
            raise ModelError(f"The embedding model failed: {error}") from error
        return Encoded(piece, {name: np.asarray(a[0], np.float32) for name, a in zip(outputs, answers, strict=True)})


def load_session(model: Path) -> tuple[Any, dict[str, Any]]:
    """A session of an ONNX model that reads tokens, a core a call, and its inputs with the types that they take.

    Raises ModelError where it cannot be used.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read by its import, which otherwise begins to collect
    try:
        import onnxruntime
    except ImportError as error:
        raise ModelError("onnxruntime is not installed.", hint="Run: pip install onnxruntime") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    # Without it sums of int8 overflow on processors without VNNI, and vectors differ between machines.
    options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's own classes, which differ between its versions
        raise ModelError(f"{model.name} is not a model that onnxruntime can load: {error}") from error
    integers = {each.name: np.int32 if "int32" in each.type else np.int64 for each in session.get_inputs()}
    if unknown := set(integers) - _KNOWN_INPUTS:
        raise ModelError(
            f"{model.name} needs unsupported inputs: {', '.join(sorted(unknown))}.",
            hint="Choose a text encoder of the BERT family.",
        )
    return session, integers


def _special_tokens(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """What the tokenizer puts before and after a text, seen on a one-letter text."""
    bare = tokenizer.encode("a", add_special_tokens=False).ids
    wrapped = tokenizer.encode("a").ids
    for at in range(len(wrapped) - len(bare) + 1):
        if wrapped[at : at + len(bare)] == bare:
            return wrapped[:at], wrapped[at + len(bare) :]
    return [], []
