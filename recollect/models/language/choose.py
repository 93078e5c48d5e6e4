"""Language models by name, as settings, the command line and `recollect.open` give them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from recollect.errors import InvalidInput
from recollect.models.language.base import LanguageModel
from recollect.models.language.prices import FILE, price

_CHOICES = "anthropic:model, openai:model, openai:model@http://localhost:11434/v1, none"


def open_model(spec: str, *, prices: Path | None = None, check: bool = True) -> LanguageModel | None:
    """The language model of that name; None for "" and "none". Nothing is asked and no package is loaded yet.

    `anthropic:model` needs ANTHROPIC_API_KEY. `openai:model` asks OpenAI, or the server of OPENAI_BASE_URL;
    `openai:model@http://host/v1` that one. `prices` is a folder that may hold a table of prices. Raises InvalidInput
    for another name, and with `check` ModelNotReady without the package or a key; else the first request does.
    """
    provider, name, address = split_spec(spec)
    if not provider:
        return None
    from recollect.models.language.anthropic import AnthropicModel
    from recollect.models.language.openai import OpenAIModel

    model: AnthropicModel | OpenAIModel
    match provider:
        case "anthropic":
            model = AnthropicModel(name, base_url=address)
        case _:
            model = OpenAIModel(name, base_url=address)
    model.price = price(model.name, prices / FILE if prices else None)
    if check:
        model.check()
    return model


#: Which model is suggested where a key is found and none is chosen: the small one of its provider.
_OF_KEYS = (("ANTHROPIC_API_KEY", "anthropic:claude-haiku-5-5"), ("OPENAI_API_KEY", "openai:gpt-6-luna"))
_PROVIDERS = {
    "anthropic": "Anthropic",
    "api.anthropic.com": "Anthropic",
    "openai": "OpenAI",
    "api.openai.com": "OpenAI",
}


def suggested(environment: Mapping[str, str]) -> tuple[str, str]:
    """A model for the key that was found in the environment, and the key's variable; empty where there is none. Nothing
    is sent for it: a key is not a choice.

    Another server than OpenAI's own has other models: none is guessed there.
    """
    for variable, spec in _OF_KEYS:
        if environment.get(variable) and not (variable == "OPENAI_API_KEY" and environment.get("OPENAI_BASE_URL")):
            return spec, variable
    return "", ""


def destination(spec: str, environment: Mapping[str, str] | None = None) -> str:
    """Where what is asked of that model goes, as in "Anthropic (claude-haiku-5-5)". Raises InvalidInput."""
    provider, model, address = split_spec(spec)
    if provider == "openai":
        address = address or (os.environ if environment is None else environment).get("OPENAI_BASE_URL")
    host = urlsplit(address).netloc.rpartition("@")[2] if address else provider
    return f"{_PROVIDERS.get(host, host)} ({model})"


def split_spec(spec: str) -> tuple[str, str, str | None]:
    """Provider, model and address of a name; the first is empty where no model is meant. Raises InvalidInput."""
    spec = spec.strip()
    if spec in ("", "none"):
        return "", "", None
    provider, _, rest = spec.partition(":")
    model, at, address = rest.partition("@http")
    model = model.strip()
    if provider not in ("anthropic", "openai") or not model:
        raise InvalidInput(f"{spec!r} is not a language model.", hint=f"Choose one of: {_CHOICES}.")
    return provider, model, f"http{address.strip()}" if at else None
