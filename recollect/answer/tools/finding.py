"""Search as tools have it [4]: a hit for each message, piece of one or tool call, with what it costs to load."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from recollect.answer.tools.base import About, FoundText, tool
from recollect.answer.tools.opening import calls_of_results
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
from recollect.record import Chunk, Kind, NodeId, Role, ToolCall, utc_now
from recollect.search.query.request import read_moment
from recollect.search.results.result import MOST_DOCUMENTS, DocumentHit, MessageHit, SearchResults, behind_first
from recollect.store import View

if TYPE_CHECKING:
    from recollect.derive.facts.fact import Fact


#: What is searched: what was said, and the tool output where that is wanted.
SAID, WITH_TOOL_CALLS = ("said",), ("said", "tool")

MESSAGE, TOOL_CALL, DOCUMENT = "message", "tool_call", "document"


def found_texts(view: View, results: SearchResults) -> list[FoundText]:
    """The hits of a search that was grouped by message."""
    hits = [(hit.conversation.title, message) for hit in results for message in hit.messages]
    results_of = calls_of_results(view, [h.message.id for _, h in hits if h.message.kind is Kind.TOOL])
    pieces = _chunks(view, [hit for _, hit in hits])
    said = [_found(title, hit, pieces, results_of) for title, hit in hits]
    chunks = view.get(Chunk, [hit.document.id for hit in results.documents]) if results.documents else []
    return behind_first(said, [_of_document(hit, chunks) for hit in results.documents[:MOST_DOCUMENTS]])


def texts_to_load(found: Sequence[FoundText], most: int) -> list[NodeId]:
    """The ids of so many texts: of each result the message or its best piece, then the further pieces that matched."""
    own = [one.id if one.is_chunk else one.message_id for one in found]
    return [*own, *(piece for one in found for piece in one.chunk_ids[1:])][:most]


def _of_document(hit: DocumentHit, chunks: Sequence[Chunk]) -> FoundText:
    own = [chunk for chunk in chunks if chunk.parent_id == hit.document.id]
    piece = next((chunk for chunk in own if chunk.start <= hit.at < chunk.end), None) if len(own) > 1 else None
    return FoundText(
        id=piece.id if piece else hit.document.id,
        snippet=" ".join(hit.snippet.text.split()),
        timestamp=hit.document.created,
        score=hit.score,
        type=DOCUMENT,
        role=Role.TOOL.value,
        tokens=piece.tokens if piece else sum(chunk.tokens for chunk in own),
        message_id=hit.document.id,
        conversation_id=NodeId(""),
        title=hit.cited,
        is_chunk=piece is not None,
        chunk_index=piece.index if piece else None,
        chunk_parent_id=hit.document.id if piece else None,
        chunk_ids=(piece.id,) if piece else (),
    )


def _found(title: str, hit: MessageHit, pieces: dict[NodeId, Chunk], results_of: dict[NodeId, ToolCall]) -> FoundText:
    message = hit.message
    result_of = results_of.get(message.id)
    call = hit.tool_call_id or (result_of.id if result_of else None)
    chunk = pieces.get(hit.chunk_id) if hit.chunk_id else None
    return FoundText(
        id=chunk.id if chunk else call or message.id,
        snippet=" ".join(hit.snippet.text.split()),
        timestamp=message.timestamp,
        score=hit.score,
        type=TOOL_CALL if call else MESSAGE,
        role=message.role.value,
        tokens=chunk.tokens if chunk else message.tokens,
        message_id=message.id,
        conversation_id=message.conversation_id,
        title=title,
        speaker=message.speaker,
        is_chunk=chunk is not None,
        chunk_index=chunk.index if chunk else None,
        chunk_parent_id=chunk.parent_id if chunk else None,
        active=message.active,
        chunk_ids=hit.chunk_ids,
    )


def _chunks(view: View, hits: Sequence[MessageHit]) -> dict[NodeId, Chunk]:
    owners = [hit.message.id for hit in hits if hit.chunk_id]
    return {chunk.id: chunk for chunk in view.get(Chunk, owners)} if owners else {}


# Tools that search [4]: the index of what is found, with what each costs, or the texts themselves at once.

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
