"""The texts of passages, cut out of what they were made from, and their token vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import neo4j
import numpy as np
import orjson

from recollect.record import Namespace, NodeId
from recollect.store.passages import Owner, PassageText, TokenRows

TEXTS = """
UNWIND $numbers AS number MATCH (p:Passage {space: $space, number: number})
MATCH (o:Node {namespace: $ns, id: p.owner_id})
OPTIONAL MATCH (m:Message&Node {namespace: $ns, id: o.message_id})
RETURN number, p.owner AS owner, p.owner_id AS owner_id, p.part AS part, p.start AS start, p.end AS end,
    o.message_id AS message_id, o.conversation_id AS conversation_id, coalesce(m.active, o.active, true) AS active,
    CASE WHEN p.part >= 0 THEN o.parts
         WHEN p.owner = 1 THEN o.name + ': ' + o.arguments + '\n' + o.result
         WHEN p.owner = 3 THEN o.title
         WHEN p.owner = 4 THEN o.text
         ELSE o.content END AS text
"""
DOCUMENTS_OF = """
UNWIND $numbers AS number MATCH (p:Passage {space: $space, number: number})
MATCH (d:Document&Node {namespace: $ns, id: p.owner_id})
RETURN number, d.id AS id, d.source AS source
"""
TOKENS = """
UNWIND $numbers AS number MATCH (q:Quality {space: $space, number: number})
RETURN number, q.pieces AS pieces, q.tokens AS tokens
"""
UNEMBEDDED = """
MATCH (p:Passage) WHERE p.space = $space AND p.bare > 0
RETURN p.number AS number ORDER BY p.space DESC, p.bare DESC LIMIT $limit
"""

_TOKEN_WIDTH = 128


def passage_texts(
    tx: neo4j.Transaction, ns: Namespace, space: int, numbers: Sequence[int], tokens: bool
) -> list[PassageText]:
    """In the order asked for; those that are gone are left out."""
    wanted = [int(number) for number in numbers]
    rows: dict[int, TokenRows] = {}
    if tokens:
        for r in tx.run(TOKENS, space=space, numbers=wanted):
            vectors = np.frombuffer(r["tokens"], np.int8).reshape(-1, _TOKEN_WIDTH)
            rows[r["number"]] = TokenRows(np.frombuffer(r["pieces"], np.uint16), vectors)
    found = {r["number"]: r for r in tx.run(TEXTS, ns=ns, space=space, numbers=wanted)}
    return [_text(found[number], rows) for number in wanted if number in found]


def documents_of(
    tx: neo4j.Transaction, ns: Namespace, space: int, passages: Sequence[int]
) -> dict[int, tuple[NodeId, str]]:
    """The documents that passages are chunks of."""
    found = tx.run(DOCUMENTS_OF, ns=ns, space=space, numbers=[int(number) for number in passages])
    return {r["number"]: (NodeId(r["id"]), r["source"]) for r in found}


def unembedded(tx: neo4j.Transaction, space: int, limit: int) -> list[int]:
    """Numbers of said passages that have no quality vectors yet, newest first."""
    return [r["number"] for r in tx.run(UNEMBEDDED, space=space, limit=limit)]


def _text(r: neo4j.Record, rows: Mapping[int, TokenRows]) -> PassageText:
    owner, owner_id, part = Owner(r["owner"]), NodeId(r["owner_id"]), r["part"]
    text = r["text"] or ""
    if part >= 0:
        parts = orjson.loads(text) if text else []
        text = parts[part].get("text", "") if part < len(parts) else ""
    of_conversation = {Owner.CONVERSATION: owner_id, Owner.NODE: None}
    return PassageText(
        number=r["number"],
        owner=owner,
        owner_id=owner_id,
        message_id=owner_id if owner is Owner.MESSAGE else r["message_id"],
        conversation_id=of_conversation.get(owner, r["conversation_id"]),
        active=r["active"],
        part=part,
        start=r["start"],
        text=text[r["start"] : r["end"]],
        tokens=rows.get(r["number"]),
    )
