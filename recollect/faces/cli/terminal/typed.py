"""Words as one types them: what a shell needs quoted is quoted."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping

from recollect.memory.settings import Settings


def typed(word: str) -> str:
    """A word that the shell passes on unchanged."""
    if os.name == "nt":
        from subprocess import list2cmdline

        return list2cmdline([word])
    return shlex.quote(word)


def memory_options(given: Mapping[str, object], settings: Settings) -> str:
    """The options of a run that say which memory is meant, as they were given; a server without its password."""
    words: list[str] = []
    if given.get("store") is not None:
        address = not isinstance(settings.store, os.PathLike)
        words += ["--store", typed(str(settings.store if address else given["store"]))]
    if given.get("namespace") is not None:
        words += ["--namespace", typed(settings.namespace)]
    return " ".join(words)
