"""The shape of mem0's `Memory`, for those who move: the same calls, arguments and results.

    from recollect.frameworks.mem0 import Memory

    m = Memory(recollect.open())
    m.add("I am allergic to nuts", user_id="alice")
    m.search("what may she not eat?", filters={"user_id": "alice"})

A memory is a message, kept as it was said, in the namespace of its user, or else of its agent or run; no model
rewrites it. Facts are drawn from it in the background, and are found by `m.of(user_id="alice").facts()`. Scores lie
between 0 and 1, and are comparable within one search.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any

import recollect.memory
from recollect.errors import InvalidInput, NotFound
from recollect.frameworks.records import USER, below, place, plain, synced
from recollect.memory.async_memory import AsyncMemory
from recollect.memory.removal import Removal
from recollect.record import Conversation, Message, NodeId, Version, iso, stable_id
from recollect.store import Where
from recollect.store.transfer import every
from recollect.text.clean import clean_title

_SCOPES = ("user_id", "agent_id", "run_id")
_OWN = (*_SCOPES, "role", "actor_id", "expiration_date")
_KEY = "mem0"
#: What the namespaces of users, agents and runs are named after.
_KINDS = {"user_id": USER, "agent_id": "agent", "run_id": "run"}
_MOST, _ALL = 1000, 1_000_000_000
_UNSET: Any = object()

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda own, wanted: own == wanted,
    "ne": lambda own, wanted: own != wanted,
    "in": lambda own, wanted: own in wanted,
    "nin": lambda own, wanted: own not in wanted,
    "gt": lambda own, wanted: own > wanted,
    "gte": lambda own, wanted: own >= wanted,
    "lt": lambda own, wanted: own < wanted,
    "lte": lambda own, wanted: own <= wanted,
    "contains": lambda own, wanted: wanted in own,
    "icontains": lambda own, wanted: str(wanted).casefold() in str(own).casefold(),
}


class Mem0Memory:
    """Memories of users, agents and runs, in namespaces below that of a `recollect.Memory`. Those that 0.2.0 kept
    together are moved there when it is opened.
    """

    def __init__(self, memory: recollect.memory.Memory | AsyncMemory) -> None:
        self._base = synced(memory)
        with self._base.handle.space.view() as view:
            before = [c.id for c in every(view, Conversation, Where(title=_KEY)) if not c.erased]
        for conversation_id in before:
            self._move(conversation_id)

    def of(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> recollect.memory.Memory:
        """The memory of a user, or else of an agent or a run, with all that Recollect does: facts, search, context.
        Raises InvalidInput where none is named.
        """
        return self._of(_scope({"user_id": user_id, "agent_id": agent_id, "run_id": run_id}))

    def add(
        self,
        messages: str | dict[str, Any] | list[dict[str, Any]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        timestamp: datetime | None = None,
        expiration_date: Any = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Keeps messages, each as it was said; one of the three ids is needed. `infer`, `memory_type` and `prompt` are
        taken and not used. Raises InvalidInput.
        """
        scope = _scope({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        said = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        made = []
        for message in [said] if isinstance(said, dict) else said:
            role = message.get("role", "user")
            if role in ("system", "developer") or not message.get("content"):  # instructions, and calls of tools
                continue
            own = {**(metadata or {}), **scope, "role": role}
            own |= {"actor_id": message["name"]} if message.get("name") else {}
            own |= {"expiration_date": str(expiration_date)} if expiration_date is not None else {}
            made.append(
                {
                    "content": message["content"],
                    "role": role,
                    "speaker": message.get("name"),
                    "timestamp": timestamp,
                    "metadata": {_KEY: own},
                }
            )
        conversation_id = stable_id("conversation", _KEY, *(scope.get(name) for name in _SCOPES))
        stored = self._of(scope).store_messages(made, conversation_id=conversation_id, title=_title(scope))
        return {
            "results": [{"id": one.id, "memory": one.content, "event": "ADD", "role": one.role.value} for one in stored]
        }

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """A memory; None where there is none of this id."""
        _, found = self._found(memory_id)
        return _item(found) if found is not None else None

    def get_all(
        self, *, filters: dict[str, Any] | None = None, top_k: int = 20, show_expired: bool = False, **others: Any
    ) -> dict[str, Any]:
        """The memories that pass the filters, newest first."""
        passes = self._filter(filters, show_expired, others)
        found = [
            message
            for memory in self._within(filters or {})
            for message in self._all(memory, filters or {})
            if passes(message)
        ]
        found.sort(key=lambda message: str(iso(message.timestamp)), reverse=True)
        return {"results": [_item(message) for message in found[:top_k]]}

    def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: dict[str, Any] | None = None,
        threshold: float = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: Any = None,
        show_expired: bool = False,
        **others: Any,
    ) -> dict[str, Any]:
        """The memories that answer and pass the filters, best first; with `explain`, why. `rerank` and
        `reference_date` are taken and not used: Recollect ranks again by itself, and reads times in the query.
        """
        passes = self._filter(filters, show_expired, others)
        words = plain(query)
        if not words:
            raise InvalidInput("There is nothing to search for.", hint="Give some words.")
        narrowed = _narrowed(filters or {})
        results: list[dict[str, Any]] = []
        for memory in self._within(filters or {}):
            offset: int | None = 0
            wanted = len(results) + top_k
            while offset is not None and len(results) < wanted:  # the filters may pass none of a page
                hits = memory.search(words, group_by="message", limit=_MOST, offset=offset, conversation=narrowed)
                offset = hits.next
                for hit in hits:
                    score = max(hit.score, 0.0) / (1 + max(hit.score, 0.0))
                    # The same words in another scope, or with other metadata, are a memory of their own.
                    same = [hit.best.message, *memory.messages(hit.best.copies)]
                    for message in filter(passes, same) if score >= threshold else ():
                        item = memory.integration.masked(_item(message)) | {"score": round(score, 4)}
                        results.append(item | ({"score_details": hit.best.why.to_json()} if explain else {}))
        results.sort(key=lambda item: -item["score"])
        return {"results": results[:top_k]}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: dict[str, Any] | None = None,
        expiration_date: Any = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Gives a memory another text or metadata; the earlier text is kept. Raises InvalidInput."""
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is _UNSET:
            raise InvalidInput("At least one of text, metadata or expiration_date is needed.")
        memory, message = self._needed(memory_id)
        own = dict(message.metadata[_KEY])
        own |= {name: value for name, value in (metadata or {}).items() if name not in (*_SCOPES, "actor_id")}
        if expiration_date is not _UNSET:
            own["expiration_date"] = None if expiration_date is None else str(expiration_date)
        memory.handle.ingest.edit(
            message.id,
            message.content if text is None else text,
            Version("", memory.handle.clock()),
            {**message.metadata, _KEY: own},
        )
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Deletes a memory softly: the record keeps it. Raises InvalidInput."""
        memory, message = self._needed(memory_id)
        memory.delete(message.id)
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Deletes the memories of a user, agent or run softly. Raises InvalidInput where none is named."""
        scope = _scope({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        exact = {name: {"eq": value} for name, value in scope.items()}  # a star is a name here
        for memory in self._within(scope):
            memory.delete(*(m.id for m in self._all(memory, scope) if _passes(_own(m), exact)))
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """What became of a memory, oldest first."""
        _, message = self._found(memory_id, deleted=True)
        if message is None:
            return []
        texts = [version.content for version in message.versions] + [message.content]
        times = [message.timestamp, *(version.replaced_at for version in message.versions)]
        changes: list[tuple[str, str | None, str | None, datetime | None]] = [("ADD", None, texts[0], times[0])]
        changes += [("UPDATE", *pair) for pair in zip(texts, texts[1:], times[1:], strict=False)]
        changes += [("DELETE", texts[-1], None, None)] if message.deleted else []
        return [
            {
                "id": stable_id("history", message.id, number),
                "memory_id": message.id,
                "old_memory": old,
                "new_memory": new,
                "event": event,
                "created_at": iso(when),
                "updated_at": iso(when),
                "is_deleted": event == "DELETE",
            }
            for number, (event, old, new, when) in enumerate(changes)
        ]

    def reset(self) -> None:
        """Deletes all memories softly."""
        for memory in self._within({}):
            memory.delete(*(message.id for message in self._all(memory, {})))

    def _filter(
        self, filters: dict[str, Any] | None, show_expired: bool, others: Mapping[str, Any]
    ) -> Callable[[Message], bool]:
        if wrong := sorted({*others} & {*_SCOPES}):
            raise InvalidInput(f"{wrong[0]} is no argument here.", hint=f'Use filters={{"{wrong[0]}": …}}.')
        if not any(name in (filters or {}) for name in _SCOPES):
            raise InvalidInput("Filters need one of user_id, agent_id and run_id.", hint='filters={"user_id": "alice"}')
        _check(filters or {})
        today = self._base.handle.clock().astimezone(UTC).date()

        def passes(message: Message) -> bool:
            own = _own(message)
            return own is not None and (show_expired or not _expired(own, today)) and _passes(own, filters or {})

        return passes

    def _of(self, scope: Mapping[str, str]) -> recollect.memory.Memory:
        """The memory of the user of a scope, or else of its agent or run."""
        name = next(name for name in _SCOPES if name in scope)
        return self._base.beside(place(self._base, _KINDS[name], scope[name]))

    def _within(self, filters: Mapping[str, Any]) -> Iterator[recollect.memory.Memory]:
        """The memories that may hold what passes the filters."""
        user = filters.get("user_id")
        if isinstance(user, str) and user.strip() and "*" not in user:
            yield self._of({"user_id": user})
        else:
            yield from below(self._base, *_KINDS.values())

    def _move(self, conversation_id: NodeId) -> None:
        """Moves the memories of a scope to where they belong, if that is what the conversation is."""
        try:
            messages = self._base.conversation(conversation_id).messages
        except NotFound:  # another has moved it
            return
        own = next((message.metadata[_KEY] for message in messages if _KEY in message.metadata), None)
        if own is not None:
            Removal(self._base.handle).move([conversation_id], to=self._of(own).namespace)

    def _all(self, memory: recollect.memory.Memory, filters: Mapping[str, Any]) -> Iterator[Message]:
        """All memories of the scopes that may pass."""
        for row in memory.conversations(title=_narrowed(filters), limit=_ALL):
            for message in memory.conversation(row.conversation.id).messages:
                if not message.deleted and _KEY in message.metadata:
                    yield message

    def _found(
        self, memory_id: str, *, deleted: bool = False
    ) -> tuple[recollect.memory.Memory, Message] | tuple[None, None]:
        for memory in self._within({}):
            for message in memory.messages([memory_id]):
                if _KEY in message.metadata and (deleted or not message.deleted):
                    return memory, message
        return None, None

    def _needed(self, memory_id: str) -> tuple[recollect.memory.Memory, Message]:
        memory, message = self._found(memory_id)
        if memory is None or message is None:
            raise InvalidInput(f"Memory with id {memory_id} not found.")
        return memory, message


def _scope(named: Mapping[str, str | None]) -> dict[str, str]:
    scope = {name: value for name, value in named.items() if value is not None and value.strip()}
    if not scope:
        raise InvalidInput("At least one of user_id, agent_id and run_id is needed.")
    return scope


def _title(scope: Mapping[str, str]) -> str:
    """The title of a scope's conversation, by whose parts `_narrowed` finds it."""
    return _KEY + "".join(f" {name}={scope[name]};" for name in _SCOPES if name in scope)


def _narrowed(filters: Mapping[str, Any]) -> str:
    """What stands in the titles of all scopes that may pass."""
    values = ((name, value) for name in _SCOPES if isinstance(value := filters.get(name), str))
    named = next((clean_title(f"{name}={value};") for name, value in values), "")
    return named if named and len(named) < 80 and "*" not in named else _KEY


def _own(message: Message) -> Mapping[str, Any] | None:
    return message.metadata.get(_KEY)


def _expired(own: Mapping[str, Any], today: date) -> bool:
    until = own.get("expiration_date")
    return bool(until) and str(until)[:10] < today.isoformat()


def _check(filters: Mapping[str, Any]) -> None:
    """Raises InvalidInput for a filter without an operator, which would let everybody's memories pass."""
    for name, wanted in filters.items():
        if name in ("AND", "OR", "NOT"):
            for one in wanted:
                _check(one)
        elif isinstance(wanted, Mapping) and not wanted:
            raise InvalidInput(f"The filter {name} is empty.", hint='Use a value, or "*" for any.')


def _passes(own: Mapping[str, Any] | None, filters: Mapping[str, Any]) -> bool:
    """Whether what is kept with a memory passes the filters of mem0."""
    if own is None:
        return False
    for name, wanted in filters.items():
        if name in ("AND", "OR", "NOT"):
            each = [_passes(own, one) for one in wanted]
            if not {"AND": all(each), "OR": any(each), "NOT": not any(each)}[name]:
                return False
        elif isinstance(wanted, Mapping):
            if not all(_compared(own.get(name), operator, value) for operator, value in wanted.items()):
                return False
        elif wanted == "*":
            if name not in own:
                return False
        elif own.get(name) != wanted:
            return False
    return True


def _compared(own: Any, operator: str, wanted: Any) -> bool:
    if operator not in _OPERATORS:
        raise InvalidInput(f"There is no operator {operator!r} in filters.", hint=f"Use {', '.join(_OPERATORS)}.")
    try:
        return _OPERATORS[operator](own, wanted)
    except TypeError:  # a field that is not there, or of another kind
        return False


def _item(message: Message) -> dict[str, Any]:
    own = message.metadata[_KEY]
    changed = message.versions[-1].replaced_at if message.versions else None
    item: dict[str, Any] = {
        "id": NodeId(message.id),
        "memory": message.content,
        "hash": hashlib.md5(message.content.encode(), usedforsecurity=False).hexdigest(),
        "created_at": iso(message.timestamp),
        "updated_at": iso(changed or message.timestamp),
        "score": None,
    }
    item |= {name: own[name] for name in _OWN if own.get(name) is not None}
    others = {name: value for name, value in own.items() if name not in _OWN}
    return item | ({"metadata": others} if others else {})


#: The name that mem0 has for it.
Memory = Mem0Memory
