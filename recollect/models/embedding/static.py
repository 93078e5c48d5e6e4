"""The default embedder: a packaged table of static token vectors; a text is the mean of its tokens' rows.

Needs no neural network at run time, hence some ten thousand texts a second. How the table was made from
MiniLM: tools/build_models.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recollect.models.embedding.base import Vectors, packaged_array, unit_rows
from recollect.models.embedding.tokenizer import UNKNOWN, encode_in_slices, packaged_pieces
from recollect.text.sentences import Sentences

_TOKENS = np.dtype(np.uint16)

#: Tokens whose sum float32 holds exactly: a scale has 11 significant bits, a row 7.
_EXACT = 32
#: Tokens whose rows are gathered at once: 1 MiB of float32, which stays in the processor's cache.
_BLOCK = 1_024
#: Texts whose sentences are held at once, each a row of 1 KiB.
_TEXTS = 256


class StaticEmbedder:
    """Static vectors of 256 dimensions. The table is loaded once a process, at the first text."""

    name = "static-reg-int8@1"
    dimensions = 256

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit rows, float32 (n, 256); zeros for a text of no known token. Raises ModelError for a damaged table."""
        return unit_rows(self._sums(texts))  # the sum points where the mean points

    def embed_with_runs(self, texts: Sequence[Sentences]) -> tuple[Vectors, Vectors]:
        """Unit rows (n, 256) of the texts and (m, 256) of all their runs, each sentence being looked at once.

        What `embed` gives for the whole text and for the joined sentences, up to rounding. Raises ModelError.
        """
        whole = np.zeros((len(texts), self.dimensions), np.float32)
        runs = np.zeros((sum(len(text.runs) for text in texts), self.dimensions), np.float32)
        done = 0
        for first in range(0, len(texts), _TEXTS):
            some = texts[first : first + _TEXTS]
            sums = self._sums([part for text in some for part in (*text.parts, *text.scraps)])
            starts = _starts([len(text.parts) + len(text.scraps) for text in some])
            whole[first : first + len(some)] = np.add.reduceat(sums, starts, axis=0)
            ranges = [
                at + edge for at, text in zip(starts.tolist(), some, strict=True) for run in text.runs for edge in run
            ]
            if ranges:
                padded = np.concatenate([sums, np.zeros((1, self.dimensions), np.float32)])
                found = np.add.reduceat(padded, ranges, axis=0)[::2]  # every second one is what lies between two runs
                runs[done : done + len(found)] = found
                done += len(found)
        return unit_rows(whole), unit_rows(runs)

    def _sums(self, texts: Sequence[str]) -> Vectors:
        sums = np.zeros((len(texts), self.dimensions), np.float32)
        for owners, pieces in encode_in_slices(packaged_pieces().packed, texts):
            _add_rows(sums, owners, pieces)
        return sums


@lru_cache(maxsize=1)
def _table() -> tuple[NDArray[np.int8], Vectors]:
    """Rows (30522, 256) as int8 and their scales (30522,). The rows are mapped: a question needs few of them, and
    dequantising all would cost 31 MB and a slow start.
    """
    rows = packaged_array("static-reg-int8.npy", mapped=True)
    scales = packaged_array("static-reg-scales.npy").astype(np.float32).reshape(-1)
    scales[UNKNOWN] = 0  # what cannot be spelled means nothing; else all of it would mean the same
    return rows, scales


def _starts(counts: Sequence[int]) -> NDArray[np.intp]:
    """Where each group begins, given how many there are in each."""
    return np.cumsum([0, *counts[:-1]], dtype=np.intp)


def _add_rows(sums: Vectors, owners: Sequence[int], pieces: Sequence[bytes]) -> None:
    """Adds to each owner's row the rows of its tokens."""
    counts = np.fromiter(map(len, pieces), np.intp, len(pieces)) // _TOKENS.itemsize
    filled = np.flatnonzero(counts)
    if not len(filled):
        return
    parts = _sum_runs(np.frombuffer(b"".join(pieces), _TOKENS), counts[filled])
    unique, first = np.unique(np.asarray(owners)[filled], return_index=True)
    sums[unique] += parts if len(unique) == len(parts) else np.add.reduceat(parts, first, axis=0)


def _sum_runs(tokens: NDArray[np.uint16], counts: NDArray[np.intp]) -> Vectors:
    """The sum of the rows of each run of tokens: run i holds `counts[i]` (at least one) consecutive tokens.

    Runs of one length are summed together: short ones, which are exact in any order, as products of matrices, long ones
    pairwise, three times as slowly.
    """
    rows, scales = _table()
    starts = np.cumsum(counts) - counts
    parts = np.empty((len(counts), rows.shape[1]), np.float32)
    by_length = np.argsort(counts, kind="stable")
    for low, high in _blocks(counts[by_length]):
        runs = by_length[low:high]
        block = tokens[starts[runs][:, None] + np.arange(counts[runs[0]])]
        length = block.shape[1]
        if length <= _EXACT:
            parts[runs] = np.matmul(scales[block][:, None, :], rows[block].astype(np.float32))[:, 0]
        else:
            scaled = (rows[block] * scales[block][:, :, None]).reshape(-1, rows.shape[1])
            parts[runs] = np.add.reduceat(scaled, range(0, len(scaled), length), axis=0)
    return parts


def _blocks(counts: NDArray[np.intp]) -> Iterator[tuple[int, int]]:
    """Ranges of ascending counts that are equal, of about _BLOCK tokens together, at least one run each."""
    ends = [*(np.flatnonzero(np.diff(counts)) + 1).tolist(), len(counts)]
    low = 0
    for end in ends:
        most = max(1, _BLOCK // int(counts[low]))
        while low < end:
            high = min(low + most, end)
            yield low, high
            low = high
