"""`recollect search`: what is remembered of it, typed; the messages, shown."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.errors import InvalidInput
from recollect.faces.cli.command import command
from recollect.faces.cli.options import SINCE, SOURCE, UNTIL
from recollect.faces.cli.session import Session

if TYPE_CHECKING:
    from recollect.search.result import SearchResults

_COUNTED = 100  # messages are counted so far when a search is tried in another way

QUERY = Annotated[list[str], typer.Argument(metavar="QUERY", hidden=True)]
ROLE = Annotated[
    list[str] | None, typer.Option(metavar="ROLE", help="Only what the user or the assistant said.", show_default=False)
]
KIND = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KIND", help="Not chat text: reasoning, tool, context, subagent, document, all.", show_default=False
    ),
]
IN = Annotated[
    str | None,
    typer.Option("--in", metavar="TITLE|ID", help="Only in conversations of that title, or id.", show_default=False),
]
LIMIT = Annotated[
    int | None,
    typer.Option("--limit", "-n", metavar="N", help="Results shown; 10 unless set otherwise.", show_default=False),
]
GROUP_BY = Annotated[
    str, typer.Option(metavar="WHAT", help="conversation, or message: one result a message, in order of rank.")
]
MODE = Annotated[
    str, typer.Option(metavar="MODE", help="instant, quality, or auto: quality where its vectors are made.")
]
WHY = Annotated[bool, typer.Option("--why", help="Say for each message why it is there.")]
OPEN = Annotated[int | None, typer.Option("--open", metavar="N", help="Show the Nth result.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    command(
        app,
        "search",
        (
            "recollect search that sourdough hydration trick",
            'recollect search "rate limit" --source claude --since 2025-03 --role user',
            "recollect search 'source:chatgpt since:2024 \"exact phrase\" -word'",
            "pbpaste | recollect search -",
        ),
    )(search)


def search(
    session: Session,
    query: QUERY,
    source: SOURCE = None,
    role: ROLE = None,
    kind: KIND = None,
    since: SINCE = None,
    until: UNTIL = None,
    in_: IN = None,
    limit: LIMIT = None,
    group_by: GROUP_BY = "conversation",
    mode: MODE = "auto",
    why: WHY = False,
    open_: OPEN = None,
) -> int:
    """Find messages by meaning, words and time.

    The query may hold filters: source:claude since:2025-03 role:user in:"a title" kind:tool "exact phrase" -word.
    `-` reads the query from standard input. Afterwards `recollect show 1` opens the first result.
    """
    asked = Asked(
        query=_words(query),
        source=tuple(source or ()),
        role=tuple(role or ()),
        kind=tuple(kind or ()),
        since=since,
        until=until,
        conversation=in_,
    )
    found = session.existing_memory().search(
        asked.query, limit=limit or session.settings.limit, group_by=group_by, mode=mode, **asked.filters()
    )
    session.state.remember_search(found)
    if open_ is not None:
        from recollect.faces.cli.show import show

        return show(session, [str(open_)])
    _print(session, asked, found, why=why)
    return 0 if found else 1


@dataclass(frozen=True, slots=True)
class Asked:
    """The query with the filters that stand beside it."""

    query: str
    source: tuple[str, ...] = ()
    role: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    conversation: str | None = None

    def filters(self) -> dict[str, Any]:
        """As the façade takes them."""
        return {name: value for name, value in asdict(self).items() if name != "query"}

    def as_typed(self) -> str:
        """The filters as options: "--source claude"."""
        from recollect.faces.cli.typed import typed

        several = [f"--{name} {typed(value)}" for name in ("source", "role", "kind") for value in getattr(self, name)]
        named = (("since", self.since), ("until", self.until), ("in", self.conversation))
        return " ".join([*several, *(f"--{name} {typed(value)}" for name, value in named if value)])


def _print(session: Session, asked: Asked, found: SearchResults, *, why: bool) -> None:
    if session.json:
        session.out.document(found.to_json())
    elif found:
        from recollect.faces.cli.hits import print_hits

        print_hits(found, session.out, why=why)
    else:
        from recollect.faces.cli.hits import print_notes

        _print_nothing(session, asked, found)
        print_notes(found, session.out)


def _print_nothing(session: Session, asked: Asked, found: SearchResults) -> None:
    """Says where nothing was found, and what another way of asking would find."""
    out = session.out
    out.line(f"Nothing in {_searched(session, asked)}.")
    if found.suggestion and (count := _count(session, Asked(found.suggestion), asked.filters())):
        out.line(f"  {found.suggestion}: {count} (did you mean?)")
    plain = _without_operators(asked.query)
    if (asked.as_typed() or plain != asked.query) and plain and (count := _count(session, Asked(plain), {})):
        out.line(f"  without {asked.as_typed() or 'the filters'}: {count}")


def _searched(session: Session, asked: Asked) -> str:
    """As in "402 Claude conversations"."""
    from recollect.faces.cli.names import source_label
    from recollect.faces.cli.times import number

    by_source = session.memory().stats().by_source
    if len(asked.source) == 1:
        name = asked.source[0].lower()
        label = source_label(name)
        return number(by_source.get(name, 0), f"{label} conversation")
    return number(sum(by_source.values()), "conversation")


def _count(session: Session, asked: Asked, filters: dict[str, Any]) -> str:
    """How many messages another search finds, in words; empty for none."""
    from recollect.faces.cli.times import number

    found = len(session.memory().search(asked.query, limit=_COUNTED, group_by="message", **filters))
    return f"{_COUNTED} messages or more" if found == _COUNTED else number(found, "message") if found else ""


def _without_operators(query: str) -> str:
    from recollect.search.syntax import parse_query

    return parse_query(query).text


def _words(query: list[str]) -> str:
    """The query as one text. Words that the shell kept together are no phrase: nobody asked for one."""
    text = sys.stdin.read() if query == ["-"] else " ".join(query)
    if not text.strip():
        raise InvalidInput("There is nothing to search for.", hint='Give words: recollect search "sourdough hydration"')
    return text.strip()
