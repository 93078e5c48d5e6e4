"""Reading in the embedded engine: what a turn of a conversation asks costs the same however long that has become."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import timedelta
from itertools import count
from pathlib import Path

import apsw

from recollect.engines.sqlite.engine import SQLiteStore
from recollect.engines.sqlite.find import find
from recollect.engines.sqlite.read import SQLiteRecords
from recollect.record import Edge, Node, NodeId, NodeKind
from recollect.store import Where
from tests.store.builders import DEFAULT, START, change_of, node_change, talk

TALK = talk("c0", "Where is the key?", "Below the mat.")
NEWEST = Where(kinds=("summary",), conversation=TALK.conversation.id, order="newest")


def node(number: int, kind: NodeKind) -> Node:
    return Node(
        NodeId(f"{kind.value} {number:05}"),
        kind,
        conversation_id=TALK.conversation.id,
        valid_from=START + timedelta(hours=number),
    )


def steps(
    place: Path, nodes: Sequence[Node], written: Sequence[Edge], read: Callable[[apsw.Connection], object]
) -> int:
    """The instructions that SQLite carries out to read, where a conversation has these nodes and edges."""
    with closing(SQLiteStore(place)) as store:
        store.space(DEFAULT).write(change_of(TALK))
        store.space(DEFAULT).write(node_change(*nodes, edges=written))
        with store.database.reading() as connection:
            done = count()
            connection.set_progress_handler(lambda: bool(next(done) < 0), 1)
            read(connection)
            connection.set_progress_handler(None)
            return next(done)


def test_the_newest_nodes_of_a_long_conversation_are_read_without_the_others(tmp_path: Path) -> None:
    def ten(connection: apsw.Connection) -> None:
        found = find(connection, 1, Node, NEWEST, None, 10).items
        assert [one.kind for one in found] == [NodeKind.SUMMARY] * 10
        assert found[0].valid_from == max(one.valid_from or START for one in nodes)

    cost = []
    for length in (20, 400):
        nodes = [node(number, kind) for number in range(length) for kind in (NodeKind.SUMMARY, NodeKind.SEGMENT)]
        cost.append(steps(tmp_path / f"{length}.db", nodes, (), ten))
    assert cost[1] < cost[0] + 100


def test_edges_that_no_field_says_are_looked_for_among_the_written_ones_alone(tmp_path: Path) -> None:
    covering = Edge(NodeId("segment 00000"), "COVERS", TALK.messages[0].id)

    def inward(*types: str) -> int:
        place = tmp_path / f"{'-'.join(types)}.db"
        of = [message.id for message in TALK.messages]

        def read(connection: apsw.Connection) -> None:
            assert covering in SQLiteRecords(connection, 1).edges(of, types, "in", 10)

        return steps(place, [node(0, NodeKind.SEGMENT)], [covering], read)

    assert inward("COVERS") < inward("COVERS", "REPLIES_TO") / 3
