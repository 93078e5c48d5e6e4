"""The tokens of a server: made once, each kept in a file that only its owner reads."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from urllib.parse import quote

from recollect.errors import StoreError


def kept_token(state: Path, namespace: str = "") -> str:
    """The server's token in the state folder, or that of a namespace; made where there is none. Raises StoreError."""
    place = state / (f"serve.{quote(namespace, safe='')}.token" if namespace else "serve.token")
    try:
        state.mkdir(parents=True, exist_ok=True)
        try:
            made = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            place.chmod(0o600)
        else:
            with os.fdopen(made, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(32))
        token = place.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"The token cannot be kept at {place}: {error}.", hint="Remove the file.") from error
    if len(token) < 32:
        raise StoreError(f"{place} does not hold a token of 32 characters or more.", hint="Remove the file.")
    return token
