"""Conversations and messages, by their ids and titles."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Response

from recollect.derive.topics.reading import TopicSegment
from recollect.errors import NotFound
from recollect.faces.http.once import ONCE, Once
from recollect.faces.http.scope import Scoped
from recollect.faces.present.results import Fingerprint, PageView, ResolvedView
from recollect.faces.rest.base import Limit, Paged, Several, Since, Until, calls, family
from recollect.faces.rest.bodies import (
    MessageWords,
    NewMessage,
    NewMessages,
    NewToolCall,
    NewToolCalls,
    NewWords,
    Rewordings,
)
from recollect.memory import ConversationRow
from recollect.record import Conversation, Message, Part, Thread, ToolCall

routes = family("conversations and messages")

Id = Annotated[str, Path(description="An id of 26 characters.")]
Ids = Annotated[list[str], Query(alias="id", min_length=1, max_length=1000, description="May be repeated.")]


@routes.get("/conversations", openapi_extra=calls("conversations", "conversation_page"))
def conversations(
    memory: Scoped,
    cursor: Paged,
    limit: Limit = 50,
    source: Several = None,
    title: str = "",
    since: Since = None,
    until: Until = None,
) -> PageView[ConversationRow]:
    """Conversations, the newest first."""
    page = memory.integration.conversation_page(
        source=source or (), title=title, since=since, until=until, limit=limit, after=cursor.after
    )
    return PageView(page.rows, cursor.following(page.next))


@routes.get("/conversations/{id}")
def conversation(memory: Scoped, id: Id) -> Thread:
    """A conversation with everything in it."""
    return memory.conversation(id)


@routes.get("/conversations/{id}/about")
def conversation_named(memory: Scoped, id: Id) -> Conversation:
    """A conversation without what is in it."""
    found = memory.integration.conversation_named(id)
    if found is None:
        raise NotFound(f"No conversation has the ID {id}.", hint="To see what there is: GET /api/v1/conversations")
    return found


@routes.get("/conversations/{id}/latest")
def latest(memory: Scoped, id: Id, limit: Limit = 20) -> PageView[Message]:
    """The newest messages that were said in a conversation, oldest first; none where it is not there."""
    return PageView(memory.latest(id, limit))


@routes.get("/conversations/{id}/segments")
def segments(memory: Scoped, id: Id) -> PageView[TopicSegment]:
    """A conversation as runs of turns about one thing, cut where it drifts."""
    return PageView(memory.knowledge.segments(id))


@routes.get("/resolve")
def resolve(
    memory: Scoped,
    name: Annotated[str, Query(description="An id, the end of one, or a part of a title.", examples=["7Q2K"])],
    deleted: Annotated[bool, Query(description="Also titles of conversations that were deleted softly.")] = False,
) -> ResolvedView:
    """What a person means by an id, the end of one, a source's id or a title: a guess, to be shown before anything is
    changed by it.
    """
    thread, message = memory.resolve(name, deleted=deleted)
    return ResolvedView(thread.conversation, message)


@routes.get("/messages", openapi_extra=calls("get_messages_by_ids", "messages"))
def get_messages_by_ids(
    memory: Scoped,
    ids: Ids,
    deleted: Annotated[bool, Query(description="Also the places of those that were deleted; no pieces then.")] = False,
) -> PageView[Message]:
    """Those messages, and pieces of long ones, that are there, in the order asked for."""
    found = memory.messages(ids) if deleted else memory.toolbox().get_messages_by_ids(ids)
    return PageView(found)


@routes.post("/messages", status_code=201)
def store_message(memory: Scoped, once: Once, message: NewMessage) -> Message:
    """Stores one message, durably; it is found from then on. Below `parent_id` it opens a branch."""
    given = message.model_dump(exclude={"parts", "id", "conversation_id"})
    begun = message.conversation_id or (None if message.parent_id else once.id("conversation"))
    return memory.store_message(
        **given, parts=_parts(message), id=message.id or once.id("message"), conversation_id=begun
    )


@routes.post("/messages/batch", status_code=201)
def store_messages(memory: Scoped, once: Once, several: NewMessages) -> PageView[Message]:
    """Stores several messages of one conversation in one transaction, in order: all of them, or none."""
    given = [
        _without_none(one.model_dump(exclude={"parts", "id"}))
        | {"parts": _parts(one)}
        | _without_none({"id": one.id or once.id("message", number)})
        for number, one in enumerate(several.messages)
    ]
    begun = several.conversation_id or (None if several.messages[0].parent_id else once.id("conversation"))
    stored = memory.store_messages(given, conversation_id=begun, title=several.title)
    return PageView(stored)


@routes.patch("/messages/batch", dependencies=[ONCE])
def update_messages(memory: Scoped, several: Rewordings) -> PageView[Message]:
    """Gives several messages new wordings in one transaction: all of them, or none; the old ones are kept."""
    reworded = memory.integration.update_messages(one.model_dump() for one in several.messages)
    return PageView(reworded)


@routes.get("/messages/fingerprint")
def fingerprint(memory: Scoped, ids: Ids) -> Fingerprint:
    """What stays the same as long as nothing that these ids name was reworded, deleted or forgotten."""
    return Fingerprint(memory.integration.fingerprint(ids))


@routes.get("/messages/{id}")
def get_message_by_id(memory: Scoped, id: Id) -> Message:
    """A message, or the piece of a long one."""
    return memory.toolbox().get_message_by_id(id)


@routes.patch("/messages/{id}", dependencies=[ONCE])
def update_message(memory: Scoped, id: Id, words: NewWords) -> Message:
    """Gives a message a new wording; the old ones are kept."""
    return memory.update_message(id, words.content)


@routes.delete("/messages/{id}", status_code=204, openapi_extra=calls("delete"), dependencies=[ONCE])
def delete_message(memory: Scoped, id: Id) -> Response:
    """Deletes a message softly: no search or count shows it, the record keeps it."""
    memory.delete(id)
    return Response(status_code=204)


@routes.post("/messages/{id}/restore", status_code=204, openapi_extra=calls("restore"), dependencies=[ONCE])
def restore_message(memory: Scoped, id: Id) -> Response:
    """Takes the soft deletion of a message back."""
    memory.restore(id)
    return Response(status_code=204)


@routes.get("/messages/{id}/chunks")
def get_message_with_chunks(memory: Scoped, id: Id) -> PageView[Message]:
    """A long message as its pieces, in order; a short one as it is."""
    return PageView(memory.toolbox().get_message_with_chunks(id))


@routes.get("/messages/{id}/thread")
def get_conversation_thread(
    memory: Scoped, id: Id, depth: Annotated[int, Query(ge=0, le=1000, description="Before and after it.")] = 5
) -> PageView[Message]:
    """What was said around a message; of a conversation's id its beginning."""
    return PageView(memory.toolbox().get_conversation_thread(id, depth))


@routes.get("/messages/{id}/tool-calls")
def get_tool_calls_by_message(memory: Scoped, id: Id) -> PageView[ToolCall]:
    """The tool calls of a message with their results, in order."""
    return PageView(memory.toolbox().get_tool_calls_by_message(id))


@routes.post("/messages/{id}/tool-calls", status_code=201)
def store_tool_call(memory: Scoped, once: Once, id: Id, call: NewToolCall) -> ToolCall:
    """Stores a tool call with its result below a message, as a message of kind `tool`."""
    given = call.model_dump(exclude={"id"})
    return memory.store_tool_call(**given, message_id=id, id=call.id or once.id("call"))


@routes.post("/messages/{id}/tool-calls/batch", status_code=201)
def store_tool_calls(memory: Scoped, once: Once, id: Id, several: NewToolCalls) -> PageView[ToolCall]:
    """Stores the tool calls of one message in one transaction, in order."""
    given = [
        call.model_dump(exclude={"id"}) | _without_none({"id": call.id or once.id("call", number)})
        for number, call in enumerate(several.calls)
    ]
    return PageView(memory.integration.store_tool_calls(given, id))


@routes.get("/tool-calls")
def tool_calls(memory: Scoped, ids: Ids) -> PageView[ToolCall]:
    """Those tool calls that are there, with their results, in the order asked for."""
    return PageView(memory.integration.tool_calls(ids))


@routes.get("/tool-calls/{id}")
def get_tool_call(memory: Scoped, id: Id) -> ToolCall:
    """A tool call with its result, by its own id, that of its result, or of a piece of that."""
    return memory.toolbox().get_tool_call(id)


def _parts(message: MessageWords) -> tuple[Part, ...]:
    return tuple(Part(part.kind, part.name, part.text, part.metadata) for part in message.parts)


def _without_none(given: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in given.items() if value is not None}
