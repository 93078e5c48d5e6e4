"""Full and snippet [4]: a line for each message that is not shown itself, best first, as far as the budget goes."""

from __future__ import annotations

from recollect.context.forms.base import Block, IndexRequest, headed, in_blocks, listed
from recollect.context.result import Part
from recollect.context.snippets import first
from recollect.store import View

HEADING = "Historical Matches (retrieve with get_message_by_id):"


def snippet(asked: IndexRequest, view: View) -> Part | None:
    """A line each."""
    left = asked.left[: asked.may_take()]
    if not left:
        return None
    return in_blocks([lines_of(asked, len(left))], asked.room)


def lines_of(asked: IndexRequest, most: int) -> list[Block]:
    """The lines of the best, below their heading."""
    left = asked.left[:most]
    lines = zip(left, asked.snippets(left), strict=True)
    return headed(HEADING, [Block((listed(one, words),), (one.id,)) for one, words in lines])


def simple(asked: IndexRequest) -> Part | None:
    """The same of what is at hand already: how messages begin, without looking at anything more [4]."""
    left = asked.left[: asked.may_take()]
    if not left:
        return None
    lines = [Block((listed(one, first(one, asked.config.snippet_length)),), (one.id,)) for one in left]
    return in_blocks([headed(HEADING, lines)], asked.room)
