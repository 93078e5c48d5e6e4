"""Tools for facts [3]: what is held true, with when it holds and the messages that prove it; and storing one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from recollect.answer.tools.base import tool
from recollect.answer.tools.desk import ToolOutput, begin_of
from recollect.answer.tools.results import ShownFact, ShownFacts, shown_fact
from recollect.answer.tools.schema import About
from recollect.record import utc_now
from recollect.search.query.times import read_moment

if TYPE_CHECKING:
    from recollect.derive.facts.fact import Fact

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
    desk.last(f"Stored: {_line(fact)}" + (f" It takes the place of: {old}" if old else ""))
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
        if not desk.add_entry(_line(fact), first=not place):
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


def _line(fact: Fact) -> str:
    told = [fact.entity, fact.attribute, fact.when(lambda moment: f"{moment:%Y-%m-%d}")]
    told += [f"confidence {fact.confidence:.2g}", "pinned" if fact.pinned else ""]
    proofs = _proofs(fact)
    proved = f" (said in {', '.join(proofs)})" if proofs else ""
    return f"[{fact.id}] {_words(fact)} · {', '.join(part for part in told if part)}{proved}"
