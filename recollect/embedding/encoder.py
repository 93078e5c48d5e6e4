"""Runs a transformer in ONNX over pieces of token ids, in batches of like length."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from recollect.embedding.base import Vectors
from recollect.embedding.pieces import Piece
from recollect.errors import ModelError

#: Tokens of a batch, padding included. Larger ones were slower on 2 cores, smaller ones no faster.
_BATCH_TOKENS = 1_024
_KNOWN_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The answer of the model to some pieces: b of them, the longest of t tokens, special ones included.

    `outputs` by name, float32: (b, d) for sentences, (b, t, d) for tokens. `mask`: bool (b, t), false for padding.
    """

    pieces: Sequence[Piece]
    mask: NDArray[np.bool_]
    outputs: dict[str, Vectors]


class Encoder:
    """A loaded ONNX model with its tokenizer. Safe to use from several threads.

    Each piece is wrapped in the special tokens that the tokenizer puts around a text; `prefix` holds the leading ones.
    """

    def __init__(self, model: Path, tokenizer: Tokenizer, threads: int | None = None) -> None:
        """Loads the model. `threads`: None for all cores. Raises ModelError when it cannot be loaded or used."""
        try:
            import onnxruntime
        except ImportError as error:
            raise ModelError("onnxruntime is not installed.", hint="Run: pip install onnxruntime") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or _cores()
        try:
            self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library's own classes, which differ between its versions
            raise ModelError(f"{model.name} is not a model that onnxruntime can load: {error}") from error
        self._integers = {
            each.name: np.int32 if "int32" in each.type else np.int64 for each in self._session.get_inputs()
        }
        if unknown := set(self._integers) - _KNOWN_INPUTS:
            raise ModelError(
                f"{model.name} wants inputs that are not known here: {', '.join(sorted(unknown))}.",
                hint="Choose a text encoder of the BERT family.",
            )
        self.outputs = {each.name: len(each.shape) for each in self._session.get_outputs()}
        self.prefix, self._suffix = _special_tokens(tokenizer)

    @property
    def specials(self) -> int:
        """How many special tokens each piece gets."""
        return len(self.prefix) + len(self._suffix)

    def run(self, pieces: Sequence[Piece], outputs: Sequence[str]) -> Iterator[Batch]:
        """The wanted outputs for all pieces, batch by batch, shortest pieces first. Raises ModelError."""
        order = sorted(pieces, key=lambda piece: len(piece.ids))
        at = 0
        while at < len(order):
            end = self._batch_end(order, at)
            yield self._run_batch(order[at:end], outputs)
            at = end

    def _batch_end(self, order: Sequence[Piece], at: int) -> int:
        end = at + 1
        while end < len(order) and (end + 1 - at) * (len(order[end].ids) + self.specials) <= _BATCH_TOKENS:
            end += 1
        return end

    def _run_batch(self, pieces: Sequence[Piece], outputs: Sequence[str]) -> Batch:
        width = len(pieces[-1].ids) + self.specials
        ids = np.zeros((len(pieces), width), np.int64)
        mask = np.zeros((len(pieces), width), np.bool_)
        for row, piece in enumerate(pieces):
            wrapped = [*self.prefix, *piece.ids, *self._suffix]
            ids[row, : len(wrapped)] = wrapped
            mask[row, : len(wrapped)] = True
        values = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {name: values[name].astype(integer) for name, integer in self._integers.items()}
        try:
            answers = self._session.run(list(outputs), feed)
        except Exception as error:
            raise ModelError(f"The embedding model failed: {error}") from error
        return Batch(pieces, mask, {name: np.asarray(a, np.float32) for name, a in zip(outputs, answers, strict=True)})


def _special_tokens(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """What the tokenizer puts before and after a text, seen on a one-letter text."""
    bare = tokenizer.encode("a", add_special_tokens=False).ids
    wrapped = tokenizer.encode("a").ids
    for at in range(len(wrapped) - len(bare) + 1):
        if wrapped[at : at + len(bare)] == bare:
            return wrapped[:at], wrapped[at + len(bare) :]
    return [], []


def _cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
