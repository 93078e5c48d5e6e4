"""Full and snippet [4]: a line for each message that is not shown itself, best first, as far as the budget goes."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.context.forms.base import FormBlock, IndexRequest, headed, in_blocks, listed
from recollect.context.result import ContextPart
from recollect.context.snippets import first
from recollect.search.recalling import Recalled
from recollect.store import View


def snippet(asked: IndexRequest, view: View) -> ContextPart | None:
    """A line each."""
    left = asked.left[: asked.may_take()]
    if not left:
        return None
    return in_blocks([lines_of(asked, len(left))], asked.room)


def lines_of(asked: IndexRequest, most: int) -> list[FormBlock]:
    """The lines of the best, below their heading."""
    left = asked.left[:most]
    return _lines(asked, left, asked.snippets(left))


def simple(asked: IndexRequest) -> ContextPart | None:
    """The same of what is at hand already: how messages begin, without looking at anything more [4]."""
    left = asked.left[: asked.may_take()]
    if not left:
        return None
    return in_blocks([_lines(asked, left, [first(one, asked.config.snippet_length) for one in left])], asked.room)


def _lines(asked: IndexRequest, left: Sequence[Recalled], snippets: Sequence[str]) -> list[FormBlock]:
    lines = [FormBlock((listed(one, words),), (one.id,)) for one, words in zip(left, snippets, strict=True)]
    return headed(f"Historical Matches (retrieve with {asked.tools.message}):", lines)
