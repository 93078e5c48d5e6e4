"""The port of the embedders: texts in, unit vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from recollect.errors import ModelError
from recollect.text.sentences import Sentences

Vectors = NDArray[np.float32]

#: What an int8 value of a token vector stands for: a row times this scale is a unit vector, up to rounding.
TOKEN_SCALE = 1 / 127

#: How many token vectors of a long text are kept unless told otherwise: 128 KiB at 128 dimensions.
MAX_TOKENS = 1024


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their likeness. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """The identity that is stored with the vectors, such as "static-reg-int8@1": other name, other vectors."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit row a text, float32 (n, dimensions); a row of zeros for a text without any token.

        A long text counts whole, never cut silently. Raises ModelError where the model is missing or fails.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """The tokens of one text for late interaction, in reading order, without [CLS] and [SEP].

    `ids`: uint16 (t,), numbers of word pieces. `vectors`: int8 (t, 128), unit rows divided by TOKEN_SCALE.
    """

    ids: NDArray[np.uint16]
    vectors: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.ids)

    def unit(self) -> Vectors:
        """The vectors as float32 (t, 128) of about unit length."""
        return self.vectors * np.float32(TOKEN_SCALE)


def is_remote(embedder: Embedder) -> bool:
    """Whether an embedder asks a server, so that its vectors are waited for: its `is_remote`, if it has that."""
    return bool(getattr(embedder, "is_remote", False))


class TokenEmbedder(Embedder, Protocol):
    """An embedder that can also tell a vector for each token."""

    def token_embed(self, texts: Sequence[str], *, max_tokens: int = MAX_TOKENS) -> list[TokenVectors]:
        """The vectors of the first `max_tokens` tokens of each text. Raises ModelError."""
        ...

    def embed_with_tokens(
        self, texts: Sequence[str], *, max_tokens: int = MAX_TOKENS
    ) -> tuple[Vectors, list[TokenVectors]]:
        """Unit rows and token vectors in one pass, both of the first `max_tokens` tokens. Raises ModelError."""
        ...


#: How many tokens of a passage the quality mode looks at: one piece of MiniLM. More lowers its figures (RANKING.md 1);
#: the rest of a long passage is found by its words and runs of sentences.
QUALITY_TOKENS = 254


def unit_rows(rows: Vectors) -> Vectors:
    """The rows of (n, d) scaled to length one; rows of zeros stay zeros."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    scaled: Vectors = rows / lengths
    return scaled


# Vectors of texts and of runs of their sentences together: an embedder that sums over tokens needs each only once.


@runtime_checkable
class RunEmbedder(Protocol):
    """An embedder that makes both in one pass."""

    def embed_with_runs(self, texts: Sequence[Sentences]) -> tuple[Vectors, Vectors]:
        """As the function of that name does."""
        ...


def embed_with_runs(embedder: Embedder, texts: Sequence[Sentences]) -> tuple[Vectors, Vectors]:
    """Unit rows (n, d) of the texts and (m, d) of all their runs in order; in one pass where the embedder can.

    Raises ModelError.
    """
    if isinstance(embedder, RunEmbedder):
        return embedder.embed_with_runs(texts)
    runs = [" ".join(text.parts[first:end]) for text in texts for first, end in text.runs]
    return embedder.embed([text.text for text in texts]), embedder.embed(runs)


# The files of the models that come with the package.

_DATA = Path(__file__).parent / "data"


def packaged(name: str) -> Path:
    """The path of a packaged model file. Raises ModelError when the installation has lost it."""
    path = _DATA / name
    if not path.is_file():
        raise ModelError(f"The packaged model file {name} is missing.", hint="Reinstall recollect.")
    return path


def packaged_array(name: str, *, mapped: bool = False) -> NDArray[Any]:
    """A packaged array; `mapped`, it is read where it is looked at. Raises ModelError."""
    path = packaged(name)
    try:
        return np.asarray(np.load(path, mmap_mode="r" if mapped else None))
    except (OSError, ValueError, EOFError) as error:
        raise damaged(path) from error


def damaged(path: Path) -> ModelError:
    """What is to be raised for a packaged file that cannot be read."""
    return ModelError(f"The packaged model file {path.name} is damaged.", hint="Reinstall recollect.")


def reads_latin_alone(embedder_name: str) -> bool:
    """Whether it is a packaged model: these have read hardly anything but Latin letters."""
    return embedder_name.startswith(("static-", "minilm-"))
