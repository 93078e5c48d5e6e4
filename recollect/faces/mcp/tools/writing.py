"""`remember` and `forget`: what is stored, and what goes for good, shown before it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

from recollect.answer.tools.base import About
from recollect.answer.tools.messages import plain
from recollect.answer.tools.output import begin_of
from recollect.errors import NotAllowed, NotFound
from recollect.faces.mcp.tools.base import (
    NAMESPACE,
    TEXT,
    WHOLE,
    YES,
    ServerCall,
    ServerReply,
    id_in,
    many,
    record,
    tool,
)
from recollect.memory.recording import Recording
from recollect.record import RoleName

if TYPE_CHECKING:
    from recollect.derive.facts.fact import Fact
    from recollect.ingest.forget import Forgotten

_KINDS = ("conversations", "messages", "documents", "facts")
_MOST = 50
_TITLE = 60  # characters of a title that nobody gave


def check_recording() -> None:
    """Raises NotAllowed while recording is paused: models remember nothing then."""
    if not Recording.own().is_on():
        raise NotAllowed("Nothing was remembered: recording is paused.", hint="The user resumes it: recollect resume")


@tool(
    "Remember",
    "Use this when the user asks to remember something, and when something was said that will matter in later "
    "conversations: a decision with its reason, a preference, an agreement, where a piece of work was left. Write it "
    "so that it is clear without this conversation: names and dates instead of 'it' and 'tomorrow'. It is kept and "
    "found from then on, by every client of this memory.",
    output=record({"id": TEXT}, {"conversation_id": TEXT, "url": TEXT, **NAMESPACE}),
    writes=True,
    text="Ana keeps the spare key of the flat in Porto.",
    said_by="user",
)
def remember(
    call: ServerCall,
    text: Annotated[str, About("What to remember, in full sentences.")],
    title: Annotated[str, About("A title of some words, under which it is listed.")] = "",
    said_by: Annotated[
        str, About("Whose statement it is: the user's, or the assistant's own.", choices=("user", "assistant"))
    ] = "user",
    always: Annotated[
        bool, About("True for what the user wants of every answer from now on. It is kept once the user confirms it.")
    ] = False,
) -> ServerReply:
    """Stores a message in a conversation of its own, or offers a rule, unless recording is paused."""
    check_recording()
    if always:
        return _offered(call, text)
    via = {"via": "mcp"} | ({"client": call.client} if call.client else {})
    message = call.memory.store_message(
        text, cast("RoleName", said_by), title=title or begin_of(text, _TITLE), metadata=via
    )
    namespace = str(call.memory.namespace)
    return ServerReply(
        f"Remembered in {namespace}, as {message.id}.",
        {
            "id": message.id,
            "conversation_id": message.conversation_id,
            "url": call.links.message(message.id, message.conversation_id),
            "namespace": namespace,
        },
    )


def _offered(call: ServerCall, text: str) -> ServerReply:
    """A model may have been told to say so by what it read: only the user makes a rule."""
    from recollect.faces.present.names import short

    namespace = str(call.memory.namespace)
    rule = call.memory.knowledge.add_rule(text, confirmed=False, said_by=call.client or "assistant")
    if rule.current:
        return ServerReply(f"This is a rule in {namespace} already.", {"id": rule.id, "namespace": namespace})
    confirm = f"recollect facts pin {short(rule.id)}"
    return ServerReply(
        f"Offered as a rule in {namespace}. Tell the user that no answer follows it before they confirm it, on the "
        f"page of facts or in a shell: {confirm}",
        {"id": rule.id, "namespace": namespace},
    )


@tool(
    "Forget for good",
    "Use this only when the user asks to forget or remove something that is remembered. Called without `confirm` it "
    "removes nothing and tells what would go; show that to the user, and call it again with `confirm` true once they "
    "agree. It removes messages, conversations, documents or facts with everything derived from them, and cannot be "
    "undone.",
    output=record(
        {"removed": YES, "conversations": WHOLE, "messages": WHOLE, "documents": WHOLE, "facts": WHOLE},
        {**NAMESPACE, "titles": many(TEXT)},
    ),
    removes=True,
    what=["01JB3D9Q0Z5X8RV6M2T7KWYN4C"],
)
def forget(
    call: ServerCall,
    what: Annotated[list[str], About("The ids of what is to go, as search and the other tools give them.", 1, _MOST)],
    confirm: Annotated[bool, About("True once the user has agreed to what would go.")] = False,
) -> ServerReply:
    """Shows what would go, or removes it."""
    names = list(dict.fromkeys(id_in(plain(name)) for name in what))
    facts = _facts(call, names)
    rest = [name for name in names if name not in facts]
    found = call.memory.forget(*rest, dry_run=not confirm) if rest else None
    if confirm:
        for fact in facts.values():
            call.memory.knowledge.forget_fact(fact.id)
    structured = _counted(found, facts) | {"removed": confirm, "namespace": str(call.memory.namespace)}
    return ServerReply(_told(structured, confirm=confirm), structured)


def _facts(call: ServerCall, names: list[str]) -> dict[str, Fact]:
    """The facts among what is named: they are looked for only where nothing else has that name."""
    said = {message.id for message in call.memory.messages(names)}
    left = [name for name in names if name not in said and call.memory.integration.conversation_named(name) is None]
    known: dict[str, Fact] = {fact.id: fact for fact in call.memory.facts(include_past=True)} if left else {}
    return {name: known[name] for name in left if name in known}


def _counted(found: Forgotten | None, facts: dict[str, Fact]) -> dict[str, Any]:
    titles = [*(found.titles if found else ()), *(fact.content for fact in facts.values())]
    return {
        "conversations": found.conversations if found else 0,
        "messages": found.messages if found else 0,
        "documents": found.documents if found else 0,
        "facts": len(facts),
        "titles": titles,
    }


def _told(counted: dict[str, Any], *, confirm: bool) -> str:
    numbers = ", ".join(
        f"{counted[kind]:,} {kind.removesuffix('s') if counted[kind] == 1 else kind}"
        for kind in _KINDS
        if counted[kind]
    )
    if not numbers:
        raise NotFound("Nothing of this is in the memory, or it was forgotten before.")
    if confirm:
        return f"Removed for good from {counted['namespace']}: {numbers}."
    titles = "".join(f"\n- {title}" for title in counted["titles"])
    return (
        f"Nothing was removed. This would remove for good from {counted['namespace']}: {numbers}.{titles}\n"
        "Ask the user; to remove it call forget again with confirm=true."
    )
