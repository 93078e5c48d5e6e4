"""Embedders by name, as settings and the command line give them."""

from __future__ import annotations

import os

from recollect.errors import InvalidInput
from recollect.models.embedding.base import Embedder

SERVED = "openai:"  #: how the names of embedders begin that ask a server
_CHOICES = "static, minilm, folder:/path/to/a/model, openai:model-name"


def open_embedder(spec: str = "static") -> Embedder:
    """The embedder of that name, with its model loaded where it has one.

    `static` (the default) and `minilm` come with the package. `folder:/path` is a model on this machine.
    `openai:model` asks an OpenAI-compatible server: OPENAI_BASE_URL (default: OpenAI's) and OPENAI_API_KEY.
    Raises InvalidInput for another name, ModelError where the model cannot be used.
    """
    kind, _, rest = spec.strip().partition(":")
    match kind, rest.strip():
        case "static", "":
            from recollect.models.embedding.static import StaticEmbedder

            return StaticEmbedder()
        case "minilm", "":
            from recollect.models.embedding.minilm import MiniLM

            return MiniLM()
        case "folder", path if path:
            from recollect.models.embedding.folder import open_folder

            return open_folder(path)
        case "openai", model if model:
            from recollect.models.embedding.remote import DEFAULT_BASE_URL, OpenAIEmbeddings

            return OpenAIEmbeddings(model, base_url=os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL)
    raise InvalidInput(f"{spec!r} is not an embedder.", hint=f"Choose one of: {_CHOICES}.")
