"""Search as tools have it [4]: a hit for each message, piece of one or tool call, with what it costs to load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.answer.tools.opening import calls_of_results
from recollect.record import Chunk, Kind, NodeId, Role, ToolCall
from recollect.search.results.result import MOST_DOCUMENTS, DocumentHit, MessageHit, SearchResults, behind_first
from recollect.store import View

#: What is searched: what was said, and the tool output where that is wanted.
SAID, WITH_TOOL_CALLS = ("said",), ("said", "tool")

MESSAGE, TOOL_CALL, DOCUMENT = "message", "tool_call", "document"


@dataclass(frozen=True, slots=True)
class FoundText:
    """A text that was found. `id` opens it: that of a message, of a piece of one (`is_chunk`), or of a tool call.

    `tokens` is what the text of this id costs. `chunk_ids` are all pieces of the message that matched, best first.
    """

    id: NodeId
    snippet: str
    timestamp: datetime | None
    score: float
    type: str  # message, tool_call, document
    role: str
    tokens: int
    message_id: NodeId
    conversation_id: NodeId
    title: str = ""
    speaker: str | None = None
    is_chunk: bool = False
    chunk_index: int | None = None
    chunk_parent_id: NodeId | None = None
    active: bool = True
    chunk_ids: tuple[NodeId, ...] = ()


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
