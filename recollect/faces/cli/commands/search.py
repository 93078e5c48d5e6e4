"""`recollect search`: what is remembered of it, typed; the messages, shown."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.faces.cli.parser import Command, Option, Words, one_of, whole
from recollect.faces.cli.terminal.options import BEFORE, SINCE, SOURCE, UNTIL, period
from recollect.faces.cli.terminal.session import Session
from recollect.memory.settings import MOST_RESULTS

if TYPE_CHECKING:
    from recollect.search.query.request import GroupBy, Mode, Sort
    from recollect.search.results.result import SearchResults

_ROLES = ("user", "assistant", "system", "tool")
_KINDS = ("attachment", "artifact", "reasoning", "tool", "context", "subagent", "document", "all")
_GROUPS = ("conversation", "message")
_MODES = ("auto", "instant", "quality")
_SORTS = ("relevance", "newest")


def search(
    session: Session,
    query: list[str],
    source: list[str],
    role: list[str],
    kind: list[str],
    since: str | None = None,
    until: str | None = None,
    before: str | None = None,
    in_: str | None = None,
    literal: bool = False,
    sort: Sort = "relevance",
    limit: int | None = None,
    group_by: GroupBy = "conversation",
    mode: Mode = "auto",
    full: bool = False,
    why: bool = False,
    open_: int | None = None,
    offset: int = 0,
) -> int:
    """Find messages by meaning, words and time.

    The query may hold filters: source:claude since:2025-03 before:2025-06 role:user in:"a title" kind:tool. Put
    "double quotes" around words that belong together, within single quotes for the shell; -word leaves out messages
    with that word. `-` alone reads the query from standard input. Afterwards `recollect show 1` opens the first result.
    """
    asked = Asked(
        query=_words(query),
        source=tuple(source),
        role=tuple(role),
        kind=tuple(kind),
        since=since,
        until=until,
        before=before,
        conversation=in_,
        literal=literal,
    )
    period(since, until, before)  # what is wrong with them is told in the words of the options
    found = session.existing_memory().search(
        asked.query,
        limit=limit or session.settings.limit,
        group_by=group_by,
        mode=mode,
        sort=sort,
        offset=offset,
        **asked.filters(),
    )
    session.state.remember_search(found)
    if open_ is not None:
        from recollect.faces.cli.commands.show import show

        return show(session, [str(open_)])
    _print(session, asked, found, by_message=group_by == "message", full=full, why=why)
    return 0 if found or found.documents else 1


@dataclass(frozen=True)
class Asked:
    """The query with the filters that stand beside it."""

    query: str
    source: tuple[str, ...] = ()
    role: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    before: str | None = None
    conversation: str | None = None
    literal: bool = False

    def filters(self) -> dict[str, Any]:
        """As the façade takes them."""
        return {name: value for name, value in asdict(self).items() if name != "query"}

    def as_typed(self) -> str:
        """The filters as options: "--source claude"."""
        from recollect.faces.cli.terminal.typed import typed

        several = [f"--{name} {typed(value)}" for name in ("source", "role", "kind") for value in getattr(self, name)]
        named = {"since": self.since, "until": self.until, "before": self.before, "in": self.conversation}
        given = [f"--{name} {typed(value)}" for name, value in named.items() if value]
        return " ".join([*several, *given, *(["--literal"] if self.literal else [])])


def _print(session: Session, asked: Asked, found: SearchResults, *, by_message: bool, full: bool, why: bool) -> None:
    if session.json:
        session.out.document(found.to_json())
    elif found or found.documents:
        from recollect.faces.cli.views.hits import print_hits

        print_hits(found, session.out, by_message=by_message, full=full, why=why)
    else:
        from recollect.faces.cli.views.hits import print_notes

        _print_nothing(session, asked, found)
        print_notes(found, session.out)


def _print_nothing(session: Session, asked: Asked, found: SearchResults) -> None:
    """Says where nothing was found, and what another way of asking would find."""
    from recollect.faces.cli.views.waiting import told_empty

    out = session.out
    if told_empty(session):
        return
    if found.total:
        out.line(f"No further results: there are {found.total}.")
        return
    out.line(f"Nothing found in {_searched(session, asked)}.")
    meant = found.suggestion or found.corrected
    if meant and (count := _count(session, Asked(meant), asked.filters())):
        out.line(f"Did you mean: {meant} ({count})")
    plain = _without_operators(asked.query)
    if (asked.as_typed() or plain != asked.query) and plain and (count := _count(session, Asked(plain), {})):
        out.line(f"  without {asked.as_typed() or 'the filters'}: {count}")


def _searched(session: Session, asked: Asked) -> str:
    """As in "402 Claude conversations"."""
    from recollect.faces.present.names import source_label
    from recollect.faces.present.times import number

    stats = session.memory().upkeep.stats()
    by_source = stats.by_source
    if len(asked.source) == 1:
        name = asked.source[0].lower()
        label = source_label(name)
        return number(by_source.get(name, 0), f"{label} conversation")
    conversations = number(sum(by_source.values()), "conversation")
    return f"{conversations} and {number(stats.documents, 'document')}" if stats.documents else conversations


def _count(session: Session, asked: Asked, filters: dict[str, Any]) -> str:
    """How much another search finds, in words; empty for nothing."""
    from recollect.faces.present.times import matches

    found = session.memory().search(asked.query, limit=1, facets=True, **filters)
    return matches(found) if found.total else ""


def _without_operators(query: str) -> str:
    from recollect.search.query.syntax import parse_query

    return parse_query(query).text


def _words(query: list[str]) -> str:
    """The query as one text. Words that the shell kept together are no phrase: nobody asked for one."""
    text = sys.stdin.read() if query == ["-"] else " ".join(query)
    if not text.strip():
        raise InvalidInput("There is nothing to search for.", hint='Give words: recollect search "sourdough hydration"')
    return text.strip()


COMMAND = Command(
    search,
    (
        "recollect search that sourdough hydration trick",
        'recollect search "rate limit" --source claude --since 2025-03 --role user',
        "recollect search 'source:chatgpt since:2024 \"exact phrase\" -word'",
        "pbpaste | recollect search -",
    ),
    (
        SOURCE,
        Option(("--role",), "Only what this role said: user or assistant.", "ROLE", several=True, values=_ROLES),
        Option(
            ("--kind",),
            f"Search this kind: {', '.join(_KINDS)}.",
            "KIND",
            several=True,
            values=_KINDS,
        ),
        SINCE,
        UNTIL,
        BEFORE,
        Option(("--in",), "Only in this conversation, or all with this in the title.", "TITLE|ID", name="in_"),
        Option(("--literal",), "The exact words in this order: no similar words, no meaning.", default=False),
        Option(("--sort",), "relevance or newest.", "ORDER", default="relevance", read=one_of(*_SORTS), values=_SORTS),
        Option(("--limit", "-n"), "How many results; 10 unless configured.", "N", read=whole(1, MOST_RESULTS)),
        Option(
            ("--offset",), "Further results: the number that the last ones end with.", "N", default=0, read=whole(0)
        ),
        Option(
            ("--group-by",),
            "conversation, or message: one result for each message.",
            "WHAT",
            default="conversation",
            read=one_of(*_GROUPS),
            values=_GROUPS,
        ),
        Option(
            ("--mode",),
            "instant, quality, or auto: quality once it is built.",
            "MODE",
            default="auto",
            read=one_of(*_MODES),
            values=_MODES,
        ),
        Option(("--full",), "Every result with its messages, not only the first three.", default=False),
        Option(("--why",), "Say for each message why it was found.", default=False),
        Option(("--open",), "Show the Nth result at once.", "N", name="open_", read=whole(1)),
    ),
    Words("QUERY", "query", required=True, several=True, dashes=True),
)
