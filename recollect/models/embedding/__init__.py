"""Text to vectors: packaged static vectors and MiniLM, or an embedder of your own.

`open_embedder` gives an embedder by its name; the port that all of them keep is `Embedder`.
"""

from recollect.models.embedding.base import (
    QUALITY_TOKENS,
    TOKEN_SCALE,
    Embedder,
    TokenEmbedder,
    TokenVectors,
    is_remote,
)
from recollect.models.embedding.choose import CachedEmbedder, open_embedder
from recollect.models.embedding.tokenizer import count_tokens

__all__ = [
    "QUALITY_TOKENS",
    "TOKEN_SCALE",
    "CachedEmbedder",
    "Embedder",
    "TokenEmbedder",
    "TokenVectors",
    "count_tokens",
    "is_remote",
    "open_embedder",
]
