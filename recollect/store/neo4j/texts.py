"""The texts of passages, cut out of what they were made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import neo4j
import orjson

from recollect.record import NodeId
from recollect.store.neo4j import search_queries
from recollect.store.passages import Owner, PassageText


def passage_texts(tx: neo4j.ManagedTransaction, space: int, numbers: Sequence[int]) -> list[PassageText]:
    """In the order asked for; those that are gone are left out."""
    wanted = [int(number) for number in numbers]
    found = {
        record["number"]: _passage_text(record) for record in tx.run(search_queries.TEXTS, space=space, numbers=wanted)
    }
    return [found[number] for number in wanted if number in found]


def without_quality(tx: neo4j.ManagedTransaction, space: int, limit: int) -> list[int]:
    """Numbers of said passages that have no quality vectors yet, newest first."""
    return [record["number"] for record in tx.run(search_queries.WITHOUT_QUALITY, space=space, limit=limit)]


def _passage_text(record: Any) -> PassageText:
    owner, owner_id, part = Owner(record["owner"]), NodeId(record["owner_id"]), record["part"]
    text = record["text"] or ""
    if part >= 0:
        text = orjson.loads(text)[part].get("text", "") if text else ""
    return PassageText(
        number=record["number"],
        owner=owner,
        owner_id=owner_id,
        message_id=owner_id if owner is Owner.MESSAGE else record["message_id"],
        conversation_id=owner_id if owner is Owner.CONVERSATION else record["conversation_id"],
        active=record["active"],
        part=part,
        start=record["start"],
        text=text[record["start"] : record["end"]],
    )
