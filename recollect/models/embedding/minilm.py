"""The quality mode: all-MiniLM-L6-v2, quantised to int8, for message vectors and for late interaction.

The projection of token vectors to 128 dimensions is a PCA that costs no quality (RANKING.md 1, LI).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from recollect.models.embedding.base import MAX_TOKENS, TOKEN_SCALE, TokenVectors, Vectors, unit_rows
from recollect.models.embedding.encoder import Encoded, Encoder
from recollect.models.embedding.packaged import packaged, packaged_array
from recollect.models.embedding.pieces import cut_pieces
from recollect.models.embedding.tokenizer import packaged_tokenizer

#: Word pieces that the model sees at once, beside [CLS] and [SEP].
PIECE = 254

_SENTENCES, _TOKENS = "sentence_embedding", "token_embeddings"
_Parts = list[tuple[int, TokenVectors]]


class MiniLM:
    """Vectors of 384 dimensions, token vectors of 128. A long text is the mean of its pieces of 254 tokens.

    A text has the same vectors whatever other texts are embedded beside it.
    """

    name = "minilm-int8@1"
    dimensions = 384

    def __init__(self, threads: int | None = None) -> None:
        """Loads the model, in about 0.2 s. `threads`: texts at once, None for all cores. Raises ModelError."""
        self._tokenizer = packaged_tokenizer()
        self._encoder = Encoder(packaged("minilm-int8.onnx"), self._tokenizer, threads)
        self._projection = packaged_array("li-pca384.npy").astype(np.float32)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit rows, float32 (n, 384); zeros for a text without tokens. Raises ModelError."""
        sums = np.zeros((len(texts), self.dimensions), np.float32)
        for answer in self._answers(texts, [_SENTENCES]):
            sums[answer.piece.owner] += answer.outputs[_SENTENCES]
        return unit_rows(sums)

    def token_embed(self, texts: Sequence[str], *, max_tokens: int = MAX_TOKENS) -> list[TokenVectors]:
        """The vectors of the first `max_tokens` tokens of each text. Raises ModelError."""
        parts: dict[int, _Parts] = defaultdict(list)
        for answer in self._answers(texts, [_TOKENS], limit=max_tokens):
            self._add_tokens(parts, answer, max_tokens)
        return [_joined(parts[number]) for number in range(len(texts))]

    def embed_with_tokens(
        self, texts: Sequence[str], *, max_tokens: int = MAX_TOKENS
    ) -> tuple[Vectors, list[TokenVectors]]:
        """Vectors and token vectors in one pass, both of the first `max_tokens` tokens. Raises ModelError."""
        sums = np.zeros((len(texts), self.dimensions), np.float32)
        parts: dict[int, _Parts] = defaultdict(list)
        for answer in self._answers(texts, [_SENTENCES, _TOKENS], limit=max_tokens):
            sums[answer.piece.owner] += answer.outputs[_SENTENCES]
            self._add_tokens(parts, answer, max_tokens)
        return unit_rows(sums), [_joined(parts[number]) for number in range(len(texts))]

    def _answers(self, texts: Sequence[str], outputs: Sequence[str], limit: int | None = None) -> Iterator[Encoded]:
        return self._encoder.run(cut_pieces(self._tokenizer, texts, PIECE, limit), outputs)

    def _add_tokens(self, parts: dict[int, _Parts], answer: Encoded, max_tokens: int) -> None:
        """Projects and quantises the tokens of a piece that begins before `max_tokens`."""
        piece, first = answer.piece, len(self._encoder.prefix)
        kept = min(len(piece.ids), max_tokens - piece.start)
        if kept > 0:
            vectors = unit_rows(self._project(answer.outputs[_TOKENS][first : first + kept]))
            parts[piece.owner].append((piece.start, _quantised(piece.ids[:kept], vectors)))

    def _project(self, states: Vectors) -> Vectors:
        """Token states (t, 384) to (t, 128).

        Multiplied four rows at a time: larger products wake the threads of numpy's BLAS, which then spin on the cores
        that the model wants, and halve its speed.
        """
        padded = np.pad(states, ((0, -len(states) % 4), (0, 0)))
        projected = (padded.reshape(-1, 4, states.shape[1]) @ self._projection).reshape(len(padded), -1)
        return projected[: len(states)]


def _quantised(ids: Sequence[int], vectors: Vectors) -> TokenVectors:
    return TokenVectors(np.array(ids, np.uint16), np.rint(vectors / TOKEN_SCALE).astype(np.int8))


def _joined(parts: _Parts) -> TokenVectors:
    """The parts of one text in reading order, as one."""
    if len(parts) == 1:
        return parts[0][1]
    ordered = [vectors for _, vectors in sorted(parts, key=lambda part: part[0])]
    ids = [np.zeros(0, np.uint16), *(vectors.ids for vectors in ordered)]
    rows = [np.zeros((0, 128), np.int8), *(vectors.vectors for vectors in ordered)]
    return TokenVectors(np.concatenate(ids), np.concatenate(rows))
