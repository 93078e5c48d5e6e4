"""`search` and `fetch`, in the exact shape that ChatGPT asks for: an index of what is found, and a text by its id.

https://developers.openai.com/api/docs/mcp: one argument each, and one text that is the JSON of the answer. What stands
in it besides id, title, url and text is for models that read more: how long a text is, when and by whom it was said.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from recollect.answer.tools.base import About
from recollect.answer.tools.messages import plain
from recollect.answer.tools.output import count
from recollect.errors import NotFound
from recollect.faces.mcp.tools.base import (
    NAMESPACE,
    TEXT,
    TEXT_OR_NONE,
    WHOLE,
    YES,
    ServerCall,
    ServerReply,
    id_in,
    many,
    part,
    part_in,
    part_of,
    recalled,
    record,
    title_of,
    tool,
    transcript,
)
from recollect.record import iso
from recollect.record.nodes import MessageChunk
from recollect.search.results.result import Hit

if TYPE_CHECKING:
    from recollect.record import Document, Message
    from recollect.search.results.result import DerivedHit, DocumentHit, SearchResults

_RESULTS, _DERIVED = 10, 3
_AROUND = 1  # messages before and after the one that is fetched
_FOUND = {"id": TEXT, "title": TEXT, "url": TEXT}
_SHOWN = {"text": TEXT, "tokens": WHOLE, "role": TEXT, "date": TEXT_OR_NONE, "chunks": many(TEXT)}


@tool(
    "Search conversations",
    "Use this first, whenever earlier conversations may hold what is asked: what the user said, decided, planned or "
    "was told, in any chat of any assistant. It gives the messages that fit best, each with an excerpt and its length "
    "in tokens; then call fetch with the id of what is worth reading. The query is plain words, and may hold filters: "
    'since:2025-03 until:2025-06 role:user source:claude "exact phrase" -word.',
    output=record(
        {"results": many(record(_FOUND, _SHOWN))},
        {**NAMESPACE, "derived": many(record({"text": TEXT})), "near": YES, "notes": many(TEXT)},
    ),
    query="which database did we choose for the job queue",
)
def search(
    call: ServerCall, query: Annotated[str, About("What to look for, in plain words, as it may have been said.")]
) -> ServerReply:
    """The index of what is found."""
    namespace = str(call.memory.namespace)
    found = call.memory.search(query, limit=_RESULTS, group_by="message")
    results = [_result(call, hit) if isinstance(hit, Hit) else _document(call, hit) for hit in found.with_documents]
    return ServerReply.of(
        {
            "results": results,
            "derived": [_derived(call, hit) for hit in found.derived[:_DERIVED]],
            "near": found.close,
            "notes": list(_notes(found)),
            "namespace": namespace,
        }
    )


@tool(
    "Read what was found",
    "Use this to read in full what search names: pass its id. Of a message it gives the whole text with the messages "
    "right before and after it, of a conversation its transcript, of a document its text. A long text comes in parts: "
    "call fetch again with the id that `next` gives.",
    output=record(
        {**_FOUND, "text": TEXT, "metadata": {"type": "object"}}, {**NAMESPACE, "next": TEXT_OR_NONE, "tokens": WHOLE}
    ),
    id="01JB3D9Q0Z5X8RV6M2T7KWYN4C",
)
def fetch(
    call: ServerCall, id: Annotated[str, About("The id of a message, conversation or document, as search gives it.")]
) -> ServerReply:
    """A text by its id, from where it is wanted on."""
    own, start = part_in(id_in(plain(id)))
    found = _opened(call, own)
    text, rest = part_of(found.pop("whole"), start)
    namespace = str(call.memory.namespace)
    return ServerReply.of(
        {
            **found,
            "text": recalled(text, "fetch", namespace),
            "tokens": count(text),
            "next": None if rest is None else part(own, rest),
            "namespace": namespace,
        }
    )


def _result(call: ServerCall, hit: Hit) -> dict[str, Any]:
    """A message that was found; of a long one the chunk, and where several match all of them."""
    best, conversation = hit.best, hit.conversation
    message = best.message
    chunks = {"chunks": list(best.chunk_ids)} if len(best.chunk_ids) > 1 else {}
    return chunks | {
        "id": best.chunk_id or message.id,
        "title": title_of(conversation.title, best.snippet.text),
        "url": call.links.message(message.id, conversation.id),
        "text": recalled(best.snippet.text, "search", str(call.memory.namespace)),
        "tokens": message.tokens,
        "role": message.role.value,
        "speaker": message.speaker,
        "date": iso(message.timestamp),
        "source": conversation.source,
        "conversation_id": conversation.id,
    }


def _document(call: ServerCall, hit: DocumentHit) -> dict[str, Any]:
    document = hit.document
    return {
        "id": part(document.id, hit.start),
        "title": hit.cited,
        "url": call.links.document(document.id),
        "text": recalled(hit.snippet.text, "search", str(call.memory.namespace)),
        "tokens": count(hit.text),
        "role": "document",
        "date": iso(document.created),
        "source": document.source,
    }


def _derived(call: ServerCall, hit: DerivedHit) -> dict[str, Any]:
    """A fact or a summary that answers: nobody's words, with the messages that prove it."""
    return {
        "kind": hit.kind,
        "text": recalled(hit.text, "search", str(call.memory.namespace)),
        "since": iso(hit.since),
        "until": iso(hit.until),
        "messages": [message.id for message in hit.messages[:_DERIVED]],
    }


def _notes(found: SearchResults) -> Iterator[str]:
    """What a model should know of the results."""
    if not found.searched:
        yield "This memory has no messages. Its user can fill it: recollect import PATH"
    elif not len(found) and not found.documents and found.derived:
        yield "No message matches, but what was derived of some does."
    elif not len(found) and not found.documents:
        yield "Nothing matches. Try other words, or fewer, or no filters."
    elif not found.close:
        yield "Nothing near the question was found; these are the nearest."
    if found.next is not None:
        yield f"These are the best of {found.total:,} messages. Narrow the query to see others."
    if found.corrected:
        yield f"Searched for: {found.corrected}"
    yield from found.notes


def _opened(call: ServerCall, id: str) -> dict[str, Any]:
    """What an id names, with its whole text. Raises NotFound."""
    try:
        return _message(call, call.memory.toolbox().get_message_by_id(id))
    except NotFound as unknown:
        try:
            return _whole_document(call, call.memory.document(id))
        except NotFound:
            pass
        try:
            thread, message = call.memory.resolve(id)
        except NotFound:
            raise unknown from None
    if message is not None:
        return _message(call, call.memory.toolbox().get_message_by_id(message.id))
    shown = [one for one in thread.messages if one.active and not (one.deleted or one.erased)]
    conversation = thread.conversation
    return {
        "id": conversation.id,
        "title": title_of(conversation.title),
        "url": call.links.conversation(conversation.id),
        "whole": transcript(shown),
        "metadata": {
            "type": "conversation",
            "source": conversation.source,
            "date": iso(conversation.created),
            "messages": len(shown),
        },
    }


def _message(call: ServerCall, message: Message) -> dict[str, Any]:
    """A message, with what stands around it: an answer is seldom understood without its question."""
    conversation = call.memory.integration.conversation_named(message.conversation_id)
    run = (
        [message]
        if isinstance(message, MessageChunk)
        else call.memory.toolbox().get_conversation_thread(message.id, _AROUND)
    )
    return {
        "id": message.id,
        "title": title_of(conversation.title if conversation else "", message.content),
        "url": call.links.message(
            message.chunk_parent_id if isinstance(message, MessageChunk) else message.id, message.conversation_id
        ),
        "whole": transcript(run),
        "metadata": {
            "type": "message",
            "role": message.role.value,
            "speaker": message.speaker,
            "date": iso(message.timestamp),
            "source": conversation.source if conversation else None,
            "conversation_id": message.conversation_id,
            "chunk_of": message.chunk_parent_id if isinstance(message, MessageChunk) else None,
        },
    }


def _whole_document(call: ServerCall, document: Document) -> dict[str, Any]:
    return {
        "id": document.id,
        "title": document.title,
        "url": call.links.document(document.id),
        "whole": document.content,
        "metadata": {"type": "document", "source": document.source, "date": iso(document.created)},
    }
