"""Tools that search [4]: the index of what is found, with what each costs, the texts themselves at once, and facts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from recollect.answer.tools.base import About, FoundText, tool
from recollect.answer.tools.calls import texts_to_load
from recollect.answer.tools.output import (
    MOST_OF_TITLE,
    ShownFact,
    ShownFacts,
    ShownMessages,
    ShownResults,
    ToolOutput,
    begin_of,
    day_of,
    put_in_full,
    shown_fact,
    shown_result,
)
from recollect.record import utc_now
from recollect.search.query.request import read_moment

if TYPE_CHECKING:
    from recollect.derive.facts.fact import Fact


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
        if not desk.add_entry(_result_line(one), first=not place):
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


def _result_line(one: FoundText) -> str:
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


# Tools for facts [3]: what is held true, with when it holds and the messages that prove it; and storing one.

_MOST = 100
_PROOFS = 2  # messages that are named as proofs of a fact
_CATEGORIES = ("", "semantic", "episodic", "procedural", "prospective", "working")


@tool(
    "Use this to remember a statement that will matter later: a decision, a preference, a value, an agreement. "
    "One statement a call, in words that are clear without the conversation. Messages are stored by themselves.",
    writes=True,
    content="Luna takes 5 mg of prednisolone a day.",
    concept="dose of prednisolone",
    entity="Luna",
    value="5 mg a day",
)
def store_fact(
    desk: ToolOutput,
    content: Annotated[str, About("The statement, as one sentence.")],
    concept: Annotated[str, About("What of it: home, job, deadline, dose of prednisolone …")] = "",
    entity: Annotated[str, About("Whom or what it is about; left out, the user.")] = "",
    value: Annotated[str, About("The value alone: Porto, 5 mg a day.")] = "",
    category: Annotated[str, About("What kind of fact it is.", choices=_CATEGORIES)] = "",
    since: Annotated[str, About("When it began, if told: 2025, 2025-03, 2025-03-14, last spring.")] = "",
    until: Annotated[str, About("When it ended or will end, if told; of a plan its day.")] = "",
    ended: Annotated[bool, About("Whether it no longer holds.")] = False,
) -> ShownFact:
    """Stores a fact."""
    now = utc_now()
    fact = desk.calls.store_fact(
        content,
        concept,
        entity=entity,
        value=value,
        category=category,
        said_by="assistant",
        since=_moment("since", since, now),
        until=_moment("until", until, now, end=True),
        ended=ended,
    )
    old = begin_of(fact.history[0].content) if fact.history else None
    desk.last(f"Stored: {_fact_line(fact)}" + (f" It takes the place of: {old}" if old else ""))
    return _shown(desk, fact, replaced=old)


@tool(
    "Use this for what is known of somebody or something: values, preferences, decisions, each with when it holds and "
    "the ids of the messages that prove it. For what was said in words, use vector_search.",
    query="Luna's medication",
    limit=10,
)
def search_facts(
    desk: ToolOutput,
    query: Annotated[str, About("Whom or what, and what of them.")],
    limit: Annotated[int, About("How many facts.", 1, _MOST)] = 10,
) -> ShownFacts:
    """Facts for a question."""
    found = desk.calls.search_facts(query, limit)
    if not found:
        desk.last("No fact has to do with this. Try vector_search(query).")
    shown = _entries(desk, found)
    left = len(found) - len(shown)
    if left:
        desk.last(f"Found too, for want of room not shown: {left}. Ask for less at once.")
    return ShownFacts(facts=shown, left=left or None)


@tool(
    "Use this for an overview of all that is held true, the newest first; `offset` goes on.",
    limit=50,
)
def get_all_facts(
    desk: ToolOutput,
    limit: Annotated[int, About("How many facts.", 1, _MOST)] = 50,
    offset: Annotated[int, About("How many to leave out: to go on where the last answer ended.", 0, 1e9)] = 0,
) -> ShownFacts:
    """All facts."""
    facts = desk.calls.get_all_facts(limit + 1, offset)
    if not facts:
        desk.last("There are no more facts." if offset else "No facts are known yet. Try vector_search(query).")
    shown = _entries(desk, facts[:limit])
    more = offset + len(shown) if len(shown) < len(facts) else None
    if more is not None:
        desk.last(f"For more: get_all_facts(offset={more})")
    return ShownFacts(facts=shown, next_offset=more)


FACT_TOOLS = (store_fact, search_facts, get_all_facts)


def _entries(desk: ToolOutput, facts: Sequence[Fact]) -> list[ShownFact]:
    """Puts facts down while there is room, one at least; returns those."""
    for place, fact in enumerate(facts):
        if not desk.add_entry(_fact_line(fact), first=not place):
            return [_shown(desk, one) for one in facts[:place]]
    return [_shown(desk, fact) for fact in facts]


def _shown(desk: ToolOutput, fact: Fact, replaced: str | None = None) -> ShownFact:
    return shown_fact(fact, _words(fact), _proofs(fact), desk.mark, replaced=replaced)


def _words(fact: Fact) -> str:
    return begin_of(fact.content, 400)


def _proofs(fact: Fact) -> list[str]:
    return [proof.message_id for proof in fact.proofs[:_PROOFS]]


def _moment(name: str, told: str, now: datetime, *, end: bool = False) -> datetime | None:
    """Raises InvalidInput for what is no time."""
    return read_moment(name, told, now, end=end) if told.strip() else None


def _fact_line(fact: Fact) -> str:
    told = [fact.entity, fact.attribute, fact.when(lambda moment: f"{moment:%Y-%m-%d}")]
    told += [f"confidence {fact.confidence:.2g}", "pinned" if fact.pinned else ""]
    proofs = _proofs(fact)
    proved = f" (said in {', '.join(proofs)})" if proofs else ""
    return f"[{fact.id}] {_words(fact)} · {', '.join(part for part in told if part)}{proved}"
