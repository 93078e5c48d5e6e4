"""Erasing: the words of what is named go from every table. What stays is a tombstone, which an import respects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from recollect.engines.sqlite import segments
from recollect.engines.sqlite.deaths import OwnerKey, kill
from recollect.engines.sqlite.put import ids_json
from recollect.errors import NotFound
from recollect.record import NodeId
from recollect.store.passages import Owner
from recollect.store.results import Erased

FIND = """
SELECT id, 3, num, erased FROM conversation WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
UNION ALL SELECT id, 0, num, erased FROM message WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
UNION ALL SELECT id, 2, num, erased FROM document WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
UNION ALL SELECT id, 4, num, erased FROM node WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
"""
MESSAGES_IN = "SELECT num FROM message WHERE conversation IN (SELECT value FROM json_each(?)) AND NOT erased"
NODES_OF = """
SELECT n.num FROM conversation c CROSS JOIN node n ON n.ns = c.ns AND n.conversation_id = c.id
WHERE c.num IN (SELECT value FROM json_each(?)) AND NOT n.erased
"""
CALLS_OF = """
SELECT t.num FROM message m CROSS JOIN tool_call t ON t.ns = m.ns AND t.message_id = m.id
WHERE m.num IN (SELECT value FROM json_each(?))
"""
CALLS_IN = "SELECT num FROM tool_call WHERE conversation IN (SELECT value FROM json_each(?))"
IDS = """
SELECT id FROM conversation WHERE num IN (SELECT value FROM json_each(?1))
UNION ALL SELECT id FROM message WHERE num IN (SELECT value FROM json_each(?2))
UNION ALL SELECT id FROM document WHERE num IN (SELECT value FROM json_each(?3))
UNION ALL SELECT id FROM node WHERE num IN (SELECT value FROM json_each(?4))
UNION ALL SELECT id FROM tool_call WHERE num IN (SELECT value FROM json_each(?5))
"""
TURNS_IN = "SELECT id FROM turn WHERE conversation IN (SELECT value FROM json_each(?))"
CHUNKS_OF = "SELECT k.id FROM json_each(?2) w CROSS JOIN chunk k ON k.ns = ?1 AND k.parent_id = w.value"
SPEAKERS = """
SELECT DISTINCT speaker FROM message WHERE num IN (SELECT value FROM json_each(?)) AND speaker IS NOT NULL
"""
STRIP_MESSAGES = """
UPDATE message SET content = '', parts = NULL, metadata = NULL, versions = NULL, speaker = NULL, model = NULL,
    timestamp = NULL, tokens = 0, deleted = 1, erased = 1 WHERE num IN (SELECT value FROM json_each(?))
"""
STRIP_CONVERSATIONS = """
UPDATE conversation SET title = '', metadata = NULL, created = NULL, updated = NULL, deleted = 1, erased = 1
WHERE num IN (SELECT value FROM json_each(?))
"""
STRIP_DOCUMENTS = """
UPDATE document SET title = '', content = '', versions = NULL, metadata = NULL, created = NULL, erased = 1,
    revision = revision + 1
WHERE num IN (SELECT value FROM json_each(?))
"""
STRIP_NODES = """
UPDATE node SET key = '', text = '', body = NULL, valid_from = NULL, valid_to = NULL, score = 0, erased = 1,
    revision = revision + 1
WHERE num IN (SELECT value FROM json_each(?))
"""
RAISE_REVISIONS = """
UPDATE conversation SET revision = revision + 1, digest = NULL WHERE num IN (SELECT value FROM json_each(?1)
    UNION SELECT conversation FROM message WHERE num IN (SELECT value FROM json_each(?2)))
"""
# What a turn says in words of its own, where a message of it is gone.
STRIP_TURNS = """
UPDATE turn SET resolved_query = NULL, entities = NULL, source_chunk_ids = NULL
WHERE (resolved_query IS NOT NULL OR entities IS NOT NULL OR source_chunk_ids IS NOT NULL)
  AND conversation IN (SELECT conversation FROM message WHERE num IN (SELECT value FROM json_each(?1)))
  AND (query_id IN (SELECT value FROM json_each(?2))
    OR EXISTS (SELECT 1 FROM json_each(response_ids) r WHERE r.value IN (SELECT value FROM json_each(?2))))
"""
REMOVE_TURNS = "DELETE FROM turn WHERE conversation IN (SELECT value FROM json_each(?))"
REMOVE_CALLS = "DELETE FROM tool_call WHERE num IN (SELECT value FROM json_each(?))"
REMOVE_CHUNKS = "DELETE FROM chunk WHERE ns = ?1 AND parent_id IN (SELECT value FROM json_each(?2))"
REMOVE_EDGES_FROM = "DELETE FROM edge WHERE ns = ?1 AND source_id IN (SELECT value FROM json_each(?2))"
REMOVE_EDGES_TO = """
DELETE FROM edge INDEXED BY edge_inward WHERE ns = ?1 AND target_id IN (SELECT value FROM json_each(?2))
"""
REMOVE_TASKS = "DELETE FROM task WHERE ns = ?1 AND subject IN (SELECT value FROM json_each(?2))"
# They may repeat what is erased; which of them do, nobody knows.
DROP_ANSWERS = "UPDATE task SET answer = NULL WHERE ns = ? AND answer IS NOT NULL"
REMOVE_SPEAKER = """
DELETE FROM speaker WHERE ns = ?1 AND name = ?2
  AND NOT EXISTS (SELECT 1 FROM message WHERE ns = ?1 AND speaker = ?2 AND NOT deleted)
"""
REMOVE_SPEAKERS = """
DELETE FROM speaker WHERE ns = ?1
  AND NOT EXISTS (SELECT 1 FROM message m WHERE m.ns = ?1 AND m.speaker = speaker.name AND NOT m.deleted)
"""
GENERATIONS = "SELECT num, state FROM generation WHERE ns = ?"
# Passages of an owner whose words lie in segments: those that live, and those that died there before.
IN_SEGMENTS = """
SELECT p.partition, p.num FROM passage p CROSS JOIN index_state s ON s.gen = p.gen AND s.partition = p.partition
WHERE p.gen = ?1 AND p.owner = ?2 AND p.owner_num = ?3 AND p.num <= s.sealed
UNION ALL SELECT partition, num FROM death WHERE gen = ?1 AND owner = ?2 AND owner_num = ?3 AND sealed
"""
DEAD_IN_SEGMENTS = "SELECT partition, num FROM death WHERE gen = ? AND sealed"
TO_SCRUB = "UPDATE about SET scrub = 1"


@dataclass(slots=True)
class _Named:
    """What is erased, by number."""

    conversations: list[int]
    messages: list[int]
    documents: list[int]
    nodes: list[int]
    calls: list[int]

    def keys(self) -> list[OwnerKey]:
        """As owners of passages."""
        lists = (self.messages, self.calls, self.documents, self.conversations, self.nodes)
        return [(int(kind), num) for kind, nums in zip(Owner, lists, strict=True) for num in nums]


def erase(connection: apsw.Connection, ns: int, ids: Sequence[NodeId]) -> Erased:
    """Strips messages, conversations with all in them, documents, nodes. Raises NotFound for an id of nothing."""
    named = _find(connection, ns, ids)
    passages = _out_of_the_index(connection, ns, named.keys())
    _strip(connection, ns, named)
    connection.execute(TO_SCRUB)
    return Erased(
        conversations=len(named.conversations),
        messages=len(named.messages),
        documents=len(named.documents),
        nodes=len(named.nodes),
        passages=passages,
    )


def purge(connection: apsw.Connection, ns: int) -> None:
    """Takes what died out of the segments, whose words are nowhere else, and drops the answers of tasks and the names
    of who speaks no longer.
    """
    generations: list[Any] = connection.execute(GENERATIONS, (ns,)).fetchall()
    for gen, _ in generations:
        sealed: dict[int, list[int]] = {}
        dead: list[Any] = connection.execute(DEAD_IN_SEGMENTS, (gen,)).fetchall()
        for partition, num in dead:
            sealed.setdefault(partition, []).append(num)
        for partition, numbers in sealed.items():
            segments.take_out(connection, gen, partition, numbers)
    connection.execute(DROP_ANSWERS, (ns,))
    connection.execute(REMOVE_SPEAKERS, (ns,))
    connection.execute(TO_SCRUB)


def _find(connection: apsw.Connection, ns: int, ids: Sequence[NodeId]) -> _Named:
    found: list[Any] = connection.execute(FIND, (ns, ids_json(dict.fromkeys(ids)))).fetchall()
    missing = set(ids) - {row[0] for row in found}
    if missing:
        raise NotFound(f"Nothing has the ID {', '.join(sorted(missing)[:3])}.")
    living = [(kind, num) for _, kind, num, erased in found if not erased]
    conversations = [num for kind, num in living if kind == Owner.CONVERSATION]
    within = ids_json(conversations)
    messages = _nums(living, Owner.MESSAGE, connection.execute(MESSAGES_IN, (within,)))
    calls = [*connection.execute(CALLS_OF, (ids_json(messages),)), *connection.execute(CALLS_IN, (within,))]
    return _Named(
        conversations=conversations,
        messages=messages,
        documents=_nums(living, Owner.DOCUMENT),
        nodes=_nums(living, Owner.NODE, connection.execute(NODES_OF, (within,))),
        calls=_nums([], Owner.TOOL_CALL, calls),
    )


def _nums(living: Sequence[OwnerKey], kind: Owner, more: Iterable[Any] = ()) -> list[int]:
    return list(dict.fromkeys([*(num for k, num in living if k == kind), *(row[0] for row in more)]))


def _out_of_the_index(connection: apsw.Connection, ns: int, keys: Sequence[OwnerKey]) -> int:
    """Removes passages in every generation, also from the segments. Returns how many search could find."""
    findable = 0
    generations: list[Any] = connection.execute(GENERATIONS, (ns,)).fetchall()
    for gen, state in generations:
        sealed: dict[int, list[int]] = {}
        inside: list[Any] = connection.executemany(IN_SEGMENTS, [(gen, *key) for key in keys]).fetchall()
        for partition, num in inside:
            sealed.setdefault(partition, []).append(num)
        killed = kill(connection, gen, keys)
        findable += killed if state == "live" else 0
        for partition, numbers in sealed.items():
            segments.take_out(connection, gen, partition, numbers)
    return findable


def _strip(connection: apsw.Connection, ns: int, named: _Named) -> None:
    conversations, messages = ids_json(named.conversations), ids_json(named.messages)
    documents, nodes, calls = ids_json(named.documents), ids_json(named.nodes), ids_json(named.calls)
    ids = [row[0] for row in connection.execute(IDS, (conversations, messages, documents, nodes, calls))]
    of_messages = ids_json(ids)
    speakers = connection.execute(SPEAKERS, (messages,)).fetchall()
    ids += [row[0] for row in connection.execute(TURNS_IN, (conversations,))]
    ids += [row[0] for row in connection.execute(CHUNKS_OF, (ns, of_messages))]
    gone = ids_json(ids)
    connection.execute(RAISE_REVISIONS, (conversations, messages))
    connection.execute(STRIP_TURNS, (messages, of_messages))
    connection.execute(REMOVE_TURNS, (conversations,))
    connection.execute(REMOVE_CALLS, (calls,))
    connection.execute(STRIP_MESSAGES, (messages,))
    connection.execute(STRIP_CONVERSATIONS, (conversations,))
    connection.execute(STRIP_DOCUMENTS, (documents,))
    connection.execute(STRIP_NODES, (nodes,))
    for statement in (REMOVE_CHUNKS, REMOVE_EDGES_FROM, REMOVE_EDGES_TO, REMOVE_TASKS):
        connection.execute(statement, (ns, gone))
    if ids:
        connection.execute(DROP_ANSWERS, (ns,))
    connection.executemany(REMOVE_SPEAKER, [(ns, name) for (name,) in speakers])
