"""Tools that search [4]: the index of what is found, with what each costs, or the texts themselves at once."""

from __future__ import annotations

from typing import Annotated

from recollect.answer.tools.base import tool
from recollect.answer.tools.desk import ToolOutput, day_of
from recollect.answer.tools.entries import put_in_full
from recollect.answer.tools.finding import FoundText, texts_to_load
from recollect.answer.tools.results import MOST_OF_TITLE, ShownMessages, ShownResults, shown_result
from recollect.answer.tools.schema import About

Query = Annotated[
    str,
    About(
        "What to look for, in plain words, as it may have been said. Filters may stand in it: "
        'since:2025-03 until:2025-06 role:user source:claude "exact phrase" -word.'
    ),
]
_MOST_RESULTS, _MOST_LOADED = 50, 20
_MOST_CHUNKS = 4  # further ones that a line names
_NOTHING = "Nothing was found. Try other words, or fewer; or a period."


@tool(
    "Use this first, whenever the answer may lie in earlier conversations: it searches all of them, tool results too, "
    "and gives an index: ids with snippets and tokens. Then load what you need by id, or see what was said around it.",
    query="which database did we choose for the job queue",
    limit=10,
)
def vector_search(
    desk: ToolOutput,
    query: Query,
    limit: Annotated[int, About("How many results.", 1, _MOST_RESULTS)] = 10,
    offset: Annotated[int, About("How many results to leave out: to see further ones.", 0)] = 0,
) -> ShownResults:
    """The index of what is found."""
    found = desk.calls.vector_search(query, limit + 1, offset)
    if not found:
        desk.last("No more results." if offset else _NOTHING)
        return ShownResults(results=[])
    for place, one in enumerate(found[:limit]):
        if not desk.add_entry(_line(one), first=not place):
            found, limit = found[: place + 1], place
            break
    more = len(found) > limit
    if more:
        desk.last(f"More results: vector_search(query, offset={offset + limit})")
    desk.last(
        "In full: get_messages_by_ids(ids), of a tool_call get_tool_call(id). Around one: get_conversation_thread(id)."
    )
    shown = [shown_result(one, desk.mark) for one in found[:limit]]
    return ShownResults(results=shown, next_offset=offset + limit if more else None)


@tool(
    "Use this to search and read at once, when a few full texts are enough to answer: the best results come whole, "
    "of long ones the chunk that fits. To see more results for fewer tokens use vector_search.",
    query="Luna's dose of prednisolone",
    auto_limit=5,
)
def search_and_retrieve(
    desk: ToolOutput,
    query: Query,
    auto_limit: Annotated[int, About("How many texts to load.", 1, _MOST_LOADED)] = 5,
) -> ShownMessages:
    """The texts of what is found."""
    found = desk.calls.vector_search(query, auto_limit)
    if not found:
        desk.last(_NOTHING)
        return ShownMessages(messages=[])
    texts = desk.calls.get_messages_by_ids(texts_to_load(found, auto_limit))
    shown, left = put_in_full(desk, texts)
    if left:
        desk.last("Found too, not loaded for want of room:")
        desk.last("\n".join(f"[{message.id}] {message.tokens:,} tokens" for message in left[:4]))
    return ShownMessages(messages=shown, left=[message.id for message in left] or None)


SEARCH_TOOLS = (vector_search, search_and_retrieve)


def _line(one: FoundText) -> str:
    who = one.role + (f" {one.speaker}" if one.speaker else "")
    told = [one.type if one.type != "message" else who, day_of(one.timestamp), f"{one.tokens:,} tokens"]
    if one.is_chunk:
        told.append(f"chunk {one.chunk_index} of {one.chunk_parent_id}")
    if also := one.chunk_ids[1:]:
        more = f" and {len(also) - _MOST_CHUNKS} more" if len(also) > _MOST_CHUNKS else ""
        told.append(f"also its chunks {', '.join(also[:_MOST_CHUNKS])}{more}")
    if one.title:
        told.append(f'in "{one.title[:MOST_OF_TITLE]}"')
    if not one.active:
        told.append("on another branch")
    return f"[{one.id}] {', '.join(part for part in told if part)}: {one.snippet}"
