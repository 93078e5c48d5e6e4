"""Options that several commands have, and what they mean."""

from __future__ import annotations

import sys
from datetime import datetime

from recollect.errors import InvalidInput
from recollect.faces.cli.parser import Option, one_of, whole

_MODES = ("auto", "instant", "quality")

SOURCE = Option(("--source",), "Only this source: chatgpt, claude, codex …", "NAME", several=True, values="sources")
SINCE = Option(("--since", "--after"), 'From this date on: 2025, 2025-03, "last week" …', "WHEN")
UNTIL = Option(("--until",), "Up to and including this date.", "WHEN")
BEFORE = Option(("--before",), "Before this date.", "WHEN")

#: The times that a list, a search or an answer can be narrowed to; and the same with its source.
TIMES = (SINCE, UNTIL, BEFORE)
FILTERS = (SOURCE, *TIMES)
IN = Option(("--in",), "Search only this conversation.", "TITLE|ID", name="in_")
MODE = Option(
    ("--mode",),
    "instant, quality, or auto: quality once it is built.",
    "MODE",
    default="auto",
    read=one_of(*_MODES),
    values=_MODES,
)
MODEL = Option(("--model",), "The model that answers: anthropic:…, openai:…, none.", "SPEC")
YES = Option(("--yes", "-y"), "Do not ask.", default=False)

NO_BACKGROUND = Option(("--no-background",), "Do not start the background worker.", default=False)


def period(since: str | None, until: str | None, before: str | None) -> tuple[datetime | None, datetime | None]:
    """The times that --since, --until and --before mean. Raises InvalidInput, also where nothing lies between them."""
    if since is None and until is None and before is None:
        return None, None
    from recollect.record import utc_now
    from recollect.search.query.request import read_period

    return read_period(since, until, before, utc_now(), prefix="--")


def limit(default: int, words: str = "How many are listed.", most: int | None = None) -> Option:
    """The option of how many are shown."""
    return Option(("--limit", "-n"), words, "N", default=default, read=whole(1, most))


def words_of(text: list[str], otherwise: tuple[str, str] | None = None) -> str:
    """The words of a command as one text, from standard input for "-". Raises InvalidInput with `otherwise`, a message
    and a hint, where there are none.
    """
    words = (sys.stdin.read() if text == ["-"] else " ".join(text)).strip()
    if otherwise is not None and not words:
        raise InvalidInput(otherwise[0], hint=otherwise[1])
    return words
