from __future__ import annotations

from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.record import (
    Chunk,
    Conversation,
    Document,
    Edge,
    Kind,
    Message,
    Node,
    NodeId,
    NodeKind,
    Origin,
    Part,
    PartKind,
    Role,
    Thread,
    ToolCall,
    Turn,
    Version,
)
from recollect.record.wire import digest, dumps, from_wire, thread_from_wire, thread_to_wire, to_wire
from tests.properties import examples

text = st.text(max_size=12)
number = st.integers(min_value=0, max_value=2**40)
node_id = st.text("0123456789ABCDEFGHJKMNPQRSTVWXYZ", min_size=1, max_size=4).map(NodeId)
moment = st.datetimes(datetime(1971, 1, 1), datetime(2199, 12, 31), timezones=st.just(UTC))
json_value = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=4,
)
metadata = st.dictionaries(text, json_value, max_size=3).map(MappingProxyType)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def several(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(strategy, max_size=3).map(tuple)


parts = st.builds(Part, st.sampled_from(PartKind), text, text, metadata)
versions = st.builds(Version, text, moment)
conversations = st.builds(
    Conversation, node_id, text.filter(bool), maybe(text.filter(bool)), text, maybe(moment), maybe(moment),
    maybe(node_id), metadata, st.booleans(), st.booleans(),
)  # fmt: skip
chunks = st.builds(Chunk, node_id, node_id, number, number, number, number, st.integers(-1, 5))
documents = st.builds(
    Document, node_id, text.filter(bool), text, text, maybe(text.filter(bool)), maybe(moment), metadata,
    several(versions), st.booleans(),
)  # fmt: skip
edges = st.builds(Edge, node_id, text.filter(bool), node_id, metadata, text)
nodes = st.builds(
    Node, node_id, st.sampled_from(NodeKind), text, text, text.filter(bool), maybe(node_id), maybe(moment),
    maybe(moment), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(Origin), text, metadata,
    st.booleans(),
)  # fmt: skip


def messages(owner: st.SearchStrategy[NodeId]) -> st.SearchStrategy[Message]:
    return st.builds(
        Message, node_id, owner, st.sampled_from(Role), text, st.sampled_from(Kind), maybe(text.filter(bool)),
        maybe(moment), maybe(node_id), maybe(text.filter(bool)), number, st.booleans(), maybe(text.filter(bool)),
        number, several(parts), metadata, several(versions), st.booleans(), st.booleans(),
    )  # fmt: skip


def tool_calls(owner: st.SearchStrategy[NodeId]) -> st.SearchStrategy[ToolCall]:
    return st.builds(
        ToolCall, node_id, node_id, owner, text, text, text, maybe(node_id), maybe(moment), number, metadata
    )


def turns(owner: st.SearchStrategy[NodeId]) -> st.SearchStrategy[Turn]:
    return st.builds(
        Turn, node_id, owner, number, node_id, several(node_id), maybe(text.filter(bool)), several(text),
        several(node_id),
    )  # fmt: skip


@st.composite
def threads(draw: st.DrawFn) -> Thread:
    conversation = draw(conversations)
    owner = st.just(conversation.id)
    return Thread(
        conversation,
        draw(several(messages(owner))),
        draw(several(tool_calls(owner))),
        draw(several(turns(owner))),
        draw(several(chunks)),
    )


records = st.one_of(
    parts, versions, conversations, chunks, documents, edges, nodes,
    messages(node_id), tool_calls(node_id), turns(node_id),
)  # fmt: skip


@given(records)
def test_every_record_comes_back_from_its_line(record: Any) -> None:
    assert from_wire(type(record), orjson.loads(dumps(to_wire(record)))) == record


@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.too_slow])
@given(threads())
def test_a_conversation_comes_back_with_everything_in_it(thread: Thread) -> None:
    read = thread_from_wire(orjson.loads(dumps(thread_to_wire(thread))))
    assert read == thread
    assert digest(read) == digest(thread)


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.too_slow])
@given(threads(), threads())
def test_digests_are_equal_for_equal_content_alone(one: Thread, other: Thread) -> None:
    assert (digest(one) == digest(other)) == (one == other)


def test_what_is_empty_takes_no_room() -> None:
    message = Message(NodeId("m"), NodeId("c"), Role.USER, "Hello")
    assert to_wire(message) == {"id": "m", "conversation_id": "c", "role": "user", "content": "Hello"}


@pytest.mark.parametrize(
    ("plain", "reason"),
    [
        ({"conversation_id": "c", "role": "user"}, "id"),
        ({"id": None, "conversation_id": "c", "role": "user"}, "id is NoneType"),
        ({"id": "m", "conversation_id": "c", "role": "user", "content": None}, "content is NoneType"),
        ({"id": "m", "conversation_id": "c", "role": "wizard"}, "wizard"),
        ({"id": "m", "conversation_id": "c", "role": "user", "position": "first"}, "position is str"),
        ({"id": "m", "conversation_id": "c", "role": "user", "metadata": [1]}, "metadata is list"),
        ({"id": "m", "conversation_id": "c", "role": "user", "timestamp": 10**18}, "a time"),
        ({"id": "m", "conversation_id": "c", "role": "user", "timestamp": "soon"}, "a time"),
        ({"id": "m", "conversation_id": "c", "role": "user", "parts": [{"kind": "asset", "text": 7}]}, "text is int"),
    ],
)
def test_what_is_no_record_is_refused(plain: dict[str, Any], reason: str) -> None:
    with pytest.raises((KeyError, TypeError, ValueError), match=reason):
        from_wire(Message, plain)


def test_a_list_of_ids_holds_ids() -> None:
    with pytest.raises(TypeError, match="response_ids"):
        from_wire(Turn, {"id": "t", "conversation_id": "c", "position": 0, "query_id": "m", "response_ids": [None]})
