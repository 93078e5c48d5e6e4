"""Finding records page by page. A page begins after the last record of the one before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, LiteralString

import neo4j

from recollect.engines.codec import page_begin, page_end
from recollect.engines.neo4j.put import LABELS, key, readable
from recollect.errors import InvalidInput
from recollect.record import (
    REPORTS,
    Chunk,
    Conversation,
    Document,
    Message,
    Namespace,
    Node,
    NodeId,
    ToolCall,
    Turn,
    from_microseconds,
    to_microseconds,
)
from recollect.store.results import Counts, Lost, Page, R, Where

# All records of a namespace stand in one index, ordered by id; those of the other kinds are passed over.
BY_ID = """
MATCH (n:Node) USING INDEX n:Node(namespace, id) WHERE n.namespace = $ns AND n.id > $id
WITH n ORDER BY n.namespace, n.id
WHERE $label IN labels(n)
  AND ($kinds IS NULL OR n.kind IN $kinds)
  AND coalesce($since IS NULL OR coalesce(n.timestamp, n.valid_from) >= $since, false)
  AND coalesce($until IS NULL OR coalesce(n.timestamp, n.valid_from) < $until, false)
  AND ($states IS NULL OR n.state IN $states)
  AND ($current IS NULL OR coalesce(n.valid_from, $current) <= $current
    AND $current < coalesce(n.valid_to, 9223372036854775807))
  AND ($deleted IS NULL OR coalesce(n.deleted, n.erased, false) = $deleted)
WITH n LIMIT $limit
OPTIONAL MATCH (m:Message&Node {namespace: $ns, id: n.result_message_id})
RETURN properties(n) AS node, 0 AS time, m.content AS result ORDER BY n.id
"""


def _chosen(found: str) -> str:
    """The statement of what an index leads to. One for each index: one for them all takes half a minute to plan."""
    return f"""
{found}
WITH n, coalesce(n.updated, n.created, n.timestamp, n.valid_from) AS latest,
    coalesce(n.created, n.updated, n.timestamp, n.valid_from) AS earliest
WHERE ($kinds IS NULL OR n.kind IN $kinds)
  AND ($sources IS NULL OR n.source IN $sources)
  AND ($title = '' OR coalesce(n.folded CONTAINS $title, false))
  AND ($keys IS NULL OR n.key IN $keys)
  AND ($states IS NULL OR n.state IN $states)
  AND ($conversation IS NULL OR n.conversation_id = $conversation)
  AND ($current IS NULL OR coalesce(n.valid_from, $current) <= $current
    AND $current < coalesce(n.valid_to, 9223372036854775807))
  AND ($since IS NULL OR coalesce(latest >= $since, false))
  AND ($until IS NULL OR coalesce(earliest < $until, false))
  AND (NOT $pinned OR coalesce(n.body CONTAINS '"pinned":true', false))
  AND ($attributes IS NULL
    OR coalesce(split(split(split(n.body, '"attribute":"')[1], '"')[0], ' of ')[0] IN $attributes, false))
  AND ($deleted IS NULL OR coalesce(n.deleted, n.erased, false) = $deleted)
WITH n, CASE WHEN n:Turn THEN n.position ELSE coalesce(latest, -9223372036854775808) END AS time
WHERE CASE WHEN $newest THEN time < $time OR time = $time AND n.id < $id ELSE n.id > $id END
WITH n, time ORDER BY CASE WHEN $newest THEN NULL ELSE n.id END, time DESC, n.id DESC LIMIT $limit
OPTIONAL MATCH (m:Message&Node {{namespace: $ns, id: n.result_message_id}})
RETURN properties(n) AS node, time, m.content AS result
ORDER BY CASE WHEN $newest THEN NULL ELSE n.id END, time DESC, n.id DESC
"""


CONVERSATIONS = _chosen("MATCH (n:Conversation) WHERE n.namespace = $ns AND n.id IS NOT NULL")
DOCUMENTS = _chosen("MATCH (n:Document) WHERE n.namespace = $ns AND n.id IS NOT NULL")
MESSAGES = _chosen("MATCH (n:Message) WHERE n.namespace = $ns AND n.conversation_id IS NOT NULL AND n.position >= 0")
MESSAGES_OF = _chosen(
    "MATCH (n:Message) WHERE n.namespace = $ns AND n.conversation_id = $conversation AND n.position >= 0"
)
CALLS = _chosen("MATCH (n:ToolCall) WHERE n.namespace = $ns AND n.conversation_id IS NOT NULL")
CALLS_OF = _chosen("MATCH (n:ToolCall) WHERE n.namespace = $ns AND n.conversation_id = $conversation")
TURNS = _chosen("MATCH (n:Turn) WHERE n.namespace = $ns AND n.conversation_id IS NOT NULL AND n.position >= 0")
TURNS_OF = _chosen("MATCH (n:Turn) WHERE n.namespace = $ns AND n.conversation_id = $conversation AND n.position >= 0")
DERIVED = _chosen("MATCH (n:Derived) WHERE n.namespace = $ns AND n.short_key IS NOT NULL")
DERIVED_OF = _chosen("MATCH (n:Derived) WHERE n.namespace = $ns AND n.conversation_id = $conversation")
DERIVED_OF_KIND = _chosen("UNWIND $kinds AS kind MATCH (n:Derived) WHERE n.namespace = $ns AND n.kind = kind")
DERIVED_WITH = _chosen(
    "UNWIND $short_keys AS short_key MATCH (n:Derived) WHERE n.namespace = $ns AND n.short_key = short_key"
)
_STATEMENTS: Mapping[type[Any], tuple[str, str]] = {  # of all, and of a conversation
    Conversation: (CONVERSATIONS, CONVERSATIONS),
    Document: (DOCUMENTS, DOCUMENTS),
    Message: (MESSAGES, MESSAGES_OF),
    ToolCall: (CALLS, CALLS_OF),
    Turn: (TURNS, TURNS_OF),
    Node: (DERIVED, DERIVED_OF),
}


def find(
    tx: neo4j.Transaction,
    ns: Namespace,
    kind: type[R],
    where: Where,
    after: str | None,
    limit: int,
    lost: Lost | None = None,
) -> Page[R]:
    """A page of records; damaged ones are left out where `lost` counts them. Raises InvalidInput for an order that they
    have not, or a cursor that no page gave.
    """
    newest = where.order == "newest"
    if kind is Chunk and newest:
        raise InvalidInput("Chunks have no time.")
    time, begin = page_begin(after, newest)
    whole = kind is Chunk or (kind in (Message, ToolCall, Turn) and where.conversation is None and not newest)
    found = list(
        tx.run(
            BY_ID if whole else _statement(kind, where),
            ns=ns,
            label=LABELS[kind],
            id=begin,
            time=time,
            newest=newest,
            sources=list(where.sources) or None,
            title=where.title.casefold(),
            conversation=where.conversation,
            kinds=list(where.kinds) or None,
            keys=list(where.keys) or None,
            short_keys=list({key(one) for one in where.keys}),
            states=list(where.states) or None,
            since=where.since,
            until=where.until,
            current=where.current,
            attributes=list(where.attributes) or None,
            pinned=where.pinned,
            deleted=where.deleted,
            limit=limit + 1,
        )
    )
    items = readable(kind, [_filled(kind, r) for r in found[:limit]], lost)
    if len(found) <= limit or limit < 1:
        return Page(items)
    last = found[limit - 1]
    return Page(items, page_end((last["node"]["id"], last["time"]), newest))


def _statement(kind: type[Any], where: Where) -> str:
    of_all, of_one = _STATEMENTS[kind]
    if where.conversation is not None:
        return of_one
    if kind is Node:
        return DERIVED_WITH if where.keys else DERIVED_OF_KIND if where.kinds else DERIVED
    return of_all


def _filled(kind: type[Any], found: neo4j.Record) -> Any:
    """The properties of a node; of a tool call with the result that is a message of its own."""
    node = found["node"]
    return {**node, "result": node["result"] or found["result"] or ""} if kind is ToolCall else node


# What is in a namespace, counted by reading it. What is deleted or erased does not count.

# $ids: some conversations, or NULL for all.
COUNT_CONVERSATIONS = """
MATCH (c:Conversation) WHERE c.namespace = $ns AND c.id IS NOT NULL AND NOT c.deleted AND ($ids IS NULL OR c.id IN $ids)
RETURN c.source AS source, count(*) AS number ORDER BY number DESC, source
"""


def _counted(found: LiteralString) -> LiteralString:
    """The statement that counts messages, by kind."""
    return f"""
{found} AND NOT m.deleted
RETURN m.kind AS kind, count(*) AS number, sum(CASE WHEN m.active THEN 1 ELSE 0 END) AS active,
    sum(coalesce(m.attachments, 0)) AS attachments, min(m.timestamp) AS first, max(m.timestamp) AS last ORDER BY kind
"""


COUNT_MESSAGES = _counted(
    "MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id IS NOT NULL AND m.position >= 0"
)
COUNT_MESSAGES_OF = _counted(
    "UNWIND $ids AS id MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id = id AND m.position >= 0"
)
COUNT_REST = """
RETURN
  COUNT { MATCH (t:ToolCall) WHERE t.namespace = $ns AND t.conversation_id IS NOT NULL
    AND ($ids IS NULL OR t.conversation_id IN $ids)
    AND NOT EXISTS { MATCH (t)-[:CALLED_BY]->(m) WHERE m.deleted } } AS tool_calls,
  COUNT { MATCH (t:Turn) WHERE t.namespace = $ns AND t.conversation_id IS NOT NULL AND t.position >= 0
    AND ($ids IS NULL OR t.conversation_id IN $ids)
    AND NOT EXISTS { MATCH (t)-[:HAS_QUERY]->(m) WHERE m.deleted } } AS turns,
  COUNT { MATCH (d:Document) WHERE d.namespace = $ns AND d.id IS NOT NULL AND NOT d.erased
    AND d.source <> $reports } AS documents,
  COUNT { MATCH (k:Chunk) WHERE k.namespace = $ns AND k.parent_id IS NOT NULL } AS chunks,
  COUNT { MATCH (p:Passage) WHERE p.space = $space AND p.number > 0 AND p.partition <> 3 } AS passages,
  COUNT { MATCH (p:Passage) WHERE p.space = $space AND p.number > 0 AND p.partition = 0 } AS said,
  COUNT { MATCH (q:Quality) WHERE q.space = $space AND q.number > 0 AND q.partition = 0 } AS quality
"""
COUNT_DERIVED = """
MATCH (d:Derived) WHERE d.namespace = $ns AND d.short_key IS NOT NULL AND NOT d.erased
  AND (d.state = 'live' OR d.state = 'superseded' AND d.kind = 'fact')
RETURN CASE d.state WHEN 'live' THEN d.kind ELSE 'past' END AS kind, count(*) AS number ORDER BY kind
"""
COUNT_TASKS = """
MATCH (t:Task) WHERE t.namespace = $ns AND t.state IS NOT NULL
RETURN CASE WHEN t.state = 'leased' AND t.ready <= $now THEN 'due' ELSE t.state END AS state, count(*) AS number
ORDER BY state
"""


def counts(tx: neo4j.Transaction, ns: Namespace, space: int, of: Sequence[NodeId] | None, now: datetime) -> Counts:
    """What is in the namespace, or in some of its conversations (documents, nodes, passages, tasks: always all)."""
    chosen = {"ns": ns, "space": space, "ids": None if of is None else list(dict.fromkeys(of))}
    by_source: dict[str, int] = {r["source"]: r["number"] for r in tx.run(COUNT_CONVERSATIONS, chosen)}
    by_kind = list(tx.run(COUNT_MESSAGES if of is None else COUNT_MESSAGES_OF, chosen))
    rest = tx.run(COUNT_REST, chosen, reports=REPORTS).single(strict=True)
    times = [r[edge] for r in by_kind for edge in ("first", "last") if r[edge] is not None]
    return Counts(
        conversations=sum(by_source.values()),
        messages=sum(r["number"] for r in by_kind),
        active=sum(r["active"] for r in by_kind),
        by_kind={r["kind"]: r["number"] for r in by_kind},
        by_source=by_source,
        by_node={r["kind"]: r["number"] for r in tx.run(COUNT_DERIVED, ns=ns)},
        tool_calls=rest["tool_calls"],
        attachments=sum(r["attachments"] for r in by_kind),
        documents=rest["documents"],
        turns=rest["turns"],
        chunks=rest["chunks"],
        passages=rest["passages"],
        said_passages=rest["said"],
        quality=rest["quality"],
        tasks={r["state"]: r["number"] for r in tx.run(COUNT_TASKS, ns=ns, now=to_microseconds(now))},
        first=from_microseconds(min(times, default=None)),
        last=from_microseconds(max(times, default=None)),
    )
