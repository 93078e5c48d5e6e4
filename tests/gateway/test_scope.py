"""Whose memory a request is about: what is said first counts, and nobody shares one unasked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from recollect.errors import InvalidInput, NotAllowed
from recollect.gateway.scope import RequestScope, read_scope, without_ours
from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES

HELLO: list[Any] = [{"role": "user", "content": "Hello"}]
AGENT = "You are Claude Code.\n<env>\nWorking directory: /home/mia/my app\nIs directory a git repo: Yes\n</env>"


def asked(
    headers: dict[str, str] | None = None, *, address: str = "", own: str = "", within: Sequence[str] = (), **body: Any
) -> RequestScope:
    body = body if "input" in body else {"messages": HELLO, **body}
    wire = MESSAGES if "system" in body else RESPONSES if "input" in body else COMPLETIONS
    return read_scope(headers or {}, body, wire.read(body), address=address, own=own, within=within)


def test_who_tells_nothing_is_given_nothing() -> None:
    found = asked()
    assert (found.namespace, found.why, found.recalls, found.stores) == ("apart", "apart", False, True)


def test_what_is_told_first_counts() -> None:
    everything: dict[str, Any] = {"user": "mia", "metadata": {"recollect_namespace": "m"}, "system": AGENT}
    assert asked({"x-recollect-namespace": "h"}, address="a", own="o", **everything).why == "header"
    assert asked(address="a", own="o", user="mia").namespace == "a"
    assert asked(own="o", metadata={"recollect_namespace": "m"}).namespace == "m"
    assert asked(own="o", user="mia").namespace == "user/mia"
    assert asked(own="o", system=AGENT).namespace == "o"
    assert asked({"x-recollect-conversation": "c"}, system=AGENT).why == "project"
    assert asked({"x-recollect-conversation": "c"}).why == "conversation"


@pytest.mark.parametrize("told", [{"x-recollect-conversation": "main"}, {"session_id": "1"}], ids=["name", "session"])
def test_a_conversation_of_a_name_is_the_clients_own(told: dict[str, str]) -> None:
    """Nobody is put together with another who happens to use the same name: keys tell clients apart."""
    keys = [{}, {"authorization": "Bearer a"}, {"authorization": "Bearer b"}, {"x-api-key": "a"}, {"api-key": "a"}]
    found = [asked({**told, **key}) for key in keys]
    assert {one.why for one in found} == {"conversation"}
    assert len({one.namespace for one in found}) == len(keys)
    assert found[1].namespace == asked({**told, **keys[1]}).namespace
    shared = [asked({**told, **key, "x-recollect-namespace": "acme"}) for key in keys]
    assert {(one.namespace, one.conversation) for one in shared} == {("acme", found[0].conversation)}


def test_users_and_folders_of_like_names_are_told_apart() -> None:
    assert asked(user="mia kay").namespace != asked(user="mia-kay").namespace == "user/mia-kay"
    one, other = asked(system=AGENT), asked(system=AGENT.replace("mia", "ana"))
    assert one.namespace.startswith("project/my-app~")
    assert one.namespace != other.namespace.replace("ana", "mia")
    codex = [{"role": "user", "content": [{"type": "input_text", "text": "<environment_context>\n<cwd>/w/x</cwd>"}]}]
    assert asked(input=codex).namespace.startswith("project/x~")


def test_nobody_can_choose_the_namespace_of_another() -> None:
    own = asked(user="Anna Smith").namespace
    for user in ("Anna-Smith", "Anna-Smith-h1g7e6", "Anna/Smith", "anna smith", " Anna Smith", "Anna Smith\n", own[5:]):
        for named in ({"user": user}, {"safety_identifier": user}, {"metadata": {"user_id": user}}):
            assert asked(**named).namespace != own
    project = asked(system=AGENT).namespace
    assert asked(user=project.partition("/")[2]).namespace not in (project, own)
    assert asked(user="x" * 5_000, within=["acme/" + "y" * 100]).namespace.count("/") == 3


@pytest.mark.parametrize(
    "user_id",
    [
        "user_0a_account_7f-1_session_b3f2c1d0-aaaa-bbbb-cccc-0123456789ab",
        '{"device_id": "d", "session_id": "b3f2c1d0-aaaa-bbbb-cccc-0123456789ab"}',
    ],
)
def test_the_user_of_a_coding_agent_names_its_session(user_id: str) -> None:
    found = asked(system=AGENT, metadata={"user_id": user_id})
    assert found.why == "project"
    assert found.conversation == asked({"session_id": "b3f2c1d0-aaaa-bbbb-cccc-0123456789ab"}).conversation
    assert asked(system="", metadata={"user_id": "mia"}).namespace == "user/mia"


def test_what_is_ours_does_not_go_on() -> None:
    body = {"messages": HELLO, "metadata": {"recollect_store": "no", "own": "x"}}
    assert without_ours(body)["metadata"] == {"own": "x"}
    assert "metadata" not in without_ours({"messages": HELLO, "metadata": {"recollect_store": "no"}})
    assert not asked(metadata={"recollect_store": "no"}).stores
    assert not asked(metadata={"recollect_store": False}).stores
    assert not asked(metadata={"recollect_store": 0}).stores
    assert asked(metadata={"recollect_store": ""}).stores
    plain = {"messages": HELLO}
    assert without_ours(plain) is plain


def test_what_cannot_be_used_is_said() -> None:
    with pytest.raises(InvalidInput, match="not a namespace"):
        asked({"x-recollect-namespace": "a b"})
    for name in (".", "acme/..", "../acme", "acme/./rex"):
        with pytest.raises(InvalidInput, match="not a namespace"):
            asked({"x-recollect-namespace": name})
        with pytest.raises(InvalidInput, match="not a namespace"):
            asked(address=name)
    for name in (" ", "a\0b", "c" * 5_000):
        with pytest.raises(InvalidInput, match="x-recollect-conversation cannot be"):
            asked({"x-recollect-conversation": name})
        with pytest.raises(InvalidInput, match="x-recollect-conversation cannot be"):
            asked(metadata={"recollect_conversation": name})
    assert {asked(user=name).namespace.count("/") for name in ("..", ".", "...", "../x")} == {1}
    with pytest.raises(InvalidInput, match="number of tokens"):
        asked({"x-recollect-budget": "lots"})
    with pytest.raises(InvalidInput, match="number of tokens"):
        asked({"x-recollect-window": "9" * 5_000})
    for never in ({"headers": {"x-recollect-store": "never"}}, {"metadata": {"recollect_store": "nope"}}):
        with pytest.raises(InvalidInput, match="neither yes nor no"):
            asked(**never)


def test_a_namespace_in_any_script() -> None:
    sent = "übung/名".encode().decode("latin-1")
    assert asked({"x-recollect-namespace": sent}).namespace == "übung/名"


def test_who_may_reach_some_namespaces_is_kept_within_them() -> None:
    for named in ({"x-recollect-namespace": "acme/rex"}, {"x-recollect-namespace": " beta"}):
        assert asked(named, within=["acme", "beta"]).namespace == named["x-recollect-namespace"].strip()
    for outside in ("acme-2", "acm", "beta", "default"):
        with pytest.raises(NotAllowed, match=outside):
            asked({"x-recollect-namespace": outside}, within=["acme"])
        with pytest.raises(NotAllowed, match=outside):
            asked(address=outside, within=["acme"])
        with pytest.raises(NotAllowed, match=outside):
            asked(metadata={"recollect_namespace": outside}, within=["acme"])
    assert asked(user="mia", within=["acme", "beta"]).namespace == "acme/user/mia"
    assert asked(own="acme", within=["acme"]).namespace == "acme"
    assert asked(system=AGENT, within=["acme"]).namespace.startswith("acme/project/")
    assert asked(within=["acme"]).namespace == "acme/apart"
