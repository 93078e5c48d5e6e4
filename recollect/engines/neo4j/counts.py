"""What is in a namespace, counted by reading it. What is deleted or erased does not count."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import neo4j

from recollect.record import REPORTS, Namespace, NodeId, from_microseconds, to_microseconds
from recollect.store.results import Counts

# $ids: some conversations, or NULL for all.
CONVERSATIONS = """
MATCH (c:Conversation) WHERE c.namespace = $ns AND c.id IS NOT NULL AND NOT c.deleted AND ($ids IS NULL OR c.id IN $ids)
RETURN c.source AS source, count(*) AS number ORDER BY number DESC, source
"""
MESSAGES = """
MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id IS NOT NULL AND m.position >= 0 AND NOT m.deleted
  AND ($ids IS NULL OR m.conversation_id IN $ids)
RETURN m.kind AS kind, count(*) AS number, sum(CASE WHEN m.active THEN 1 ELSE 0 END) AS active,
    sum(coalesce(m.attachments, 0)) AS attachments, min(m.timestamp) AS first, max(m.timestamp) AS last ORDER BY kind
"""
MESSAGES_OF = """
UNWIND $ids AS id
MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id = id AND m.position >= 0 AND NOT m.deleted
RETURN m.kind AS kind, count(*) AS number, sum(CASE WHEN m.active THEN 1 ELSE 0 END) AS active,
    sum(coalesce(m.attachments, 0)) AS attachments, min(m.timestamp) AS first, max(m.timestamp) AS last ORDER BY kind
"""
REST = """
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
DERIVED = """
MATCH (d:Derived) WHERE d.namespace = $ns AND d.short_key IS NOT NULL AND NOT d.erased
  AND (d.state = 'live' OR d.state = 'superseded' AND d.kind = 'fact')
RETURN CASE d.state WHEN 'live' THEN d.kind ELSE 'past' END AS kind, count(*) AS number ORDER BY kind
"""
TASKS = """
MATCH (t:Task) WHERE t.namespace = $ns AND t.state IS NOT NULL
RETURN CASE WHEN t.state = 'leased' AND t.ready <= $now THEN 'due' ELSE t.state END AS state, count(*) AS number
ORDER BY state
"""


def counts(tx: neo4j.Transaction, ns: Namespace, space: int, of: Sequence[NodeId] | None, now: datetime) -> Counts:
    """What is in the namespace, or in some of its conversations (documents, nodes, passages, tasks: always all)."""
    chosen = {"ns": ns, "space": space, "ids": None if of is None else list(dict.fromkeys(of))}
    by_source: dict[str, int] = {r["source"]: r["number"] for r in tx.run(CONVERSATIONS, chosen)}
    by_kind = list(tx.run(MESSAGES if of is None else MESSAGES_OF, chosen))
    rest = tx.run(REST, chosen, reports=REPORTS).single(strict=True)
    times = [r[edge] for r in by_kind for edge in ("first", "last") if r[edge] is not None]
    return Counts(
        conversations=sum(by_source.values()),
        messages=sum(r["number"] for r in by_kind),
        active=sum(r["active"] for r in by_kind),
        by_kind={r["kind"]: r["number"] for r in by_kind},
        by_source=by_source,
        by_node={r["kind"]: r["number"] for r in tx.run(DERIVED, ns=ns)},
        tool_calls=rest["tool_calls"],
        attachments=sum(r["attachments"] for r in by_kind),
        documents=rest["documents"],
        turns=rest["turns"],
        chunks=rest["chunks"],
        passages=rest["passages"],
        said_passages=rest["said"],
        quality=rest["quality"],
        tasks={r["state"]: r["number"] for r in tx.run(TASKS, ns=ns, now=to_microseconds(now))},
        first=from_microseconds(min(times, default=None)),
        last=from_microseconds(max(times, default=None)),
    )
