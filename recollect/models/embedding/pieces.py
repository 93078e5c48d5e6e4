"""Long texts for transformers of bounded length: consecutive pieces of token ids, and who they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from tokenizers import Tokenizer

from recollect.models.embedding.tokenizer import encode_batch, encode_in_slices


@dataclass(frozen=True, slots=True)
class TokenPiece:
    """Consecutive tokens of a text, without special ones. `start` counts the text's tokens before it."""

    owner: int
    start: int
    ids: list[int]


def cut_pieces(tokenizer: Tokenizer, texts: Sequence[str], size: int, limit: int | None = None) -> Iterator[TokenPiece]:
    """The texts' tokens in pieces of at most `size`, in reading order; none for a text without tokens.

    With `limit`, pieces that begin after so many tokens of a text are left out.
    """
    owner, start, waiting = 0, 0, list[int]()
    for number, ids in _slices(tokenizer, texts):
        if number != owner:
            yield from _cut(owner, start, waiting, size, limit)
            owner, start, waiting = number, 0, []
        waiting.extend(ids)
        whole = len(waiting) // size * size
        if whole:
            yield from _cut(owner, start, waiting[:whole], size, limit)
            start, waiting = start + whole, waiting[whole:]
    yield from _cut(owner, start, waiting, size, limit)


def _slices(tokenizer: Tokenizer, texts: Sequence[str]) -> Iterator[tuple[int, list[int]]]:
    for owners, ids in encode_in_slices(partial(encode_batch, tokenizer), texts):
        yield from zip(owners, ids, strict=True)


def _cut(owner: int, start: int, ids: list[int], size: int, limit: int | None) -> Iterator[TokenPiece]:
    for at in range(0, len(ids), size):
        if limit is None or start + at < limit:
            yield TokenPiece(owner, start + at, ids[at : at + size])
