"""Language models by name, as settings, the command line and `recollect.open` give them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from recollect.errors import InvalidInput
from recollect.model.base import LanguageModel
from recollect.model.prices import FILE, price
from recollect.model.streaming import missing

_CHOICES = "anthropic:model, openai:model, openai:model@http://localhost:11434/v1, none"


def open_model(spec: str, *, folder: Path | None = None) -> LanguageModel | None:
    """The language model of that name; None for "" and "none". Nothing is asked and no package is loaded yet.

    `anthropic:model` needs ANTHROPIC_API_KEY. `openai:model` asks OpenAI, or the server of OPENAI_BASE_URL;
    `openai:model@http://host/v1` that one. `folder` may hold a file of prices. Raises InvalidInput for another name,
    ModelNotReady without the package or a key.
    """
    provider, model, address = split_spec(spec)
    if not provider:
        return None
    if find_spec(provider) is None:
        raise missing(provider)
    own = folder / FILE if folder else None
    known = price(f"{provider}:{model}", own) if not address else price(f"{provider}:{model}@{address}", own)
    if provider == "anthropic":
        from recollect.model.anthropic import DEFAULT_BASE_URL, AnthropicModel

        return AnthropicModel(model, base_url=address or DEFAULT_BASE_URL, price=known)
    from recollect.model.openai import OpenAIModel

    return OpenAIModel(model, base_url=address or None, price=known)


def split_spec(spec: str) -> tuple[str, str, str]:
    """Provider, model and address of a name; three empty ones where no model is meant. Raises InvalidInput."""
    spec = spec.strip()
    if spec in ("", "none"):
        return "", "", ""
    provider, _, rest = spec.partition(":")
    model, at, address = rest.partition("@http")
    model = model.strip()
    if provider not in ("anthropic", "openai") or not model:
        raise InvalidInput(f"{spec!r} is not a language model.", hint=f"Choose one of: {_CHOICES}.")
    return provider, model, f"http{address.strip()}" if at else ""
