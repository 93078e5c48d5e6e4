"""`recollect context --last`: what was in a prompt, and that it never is again."""

from __future__ import annotations

import recollect
from tests.faces.conftest import CommandLine


def test_what_a_request_was_given_is_shown_and_can_be_kept_out(run: CommandLine) -> None:
    run("remember", "The spare key is under the third pot.")
    assert "Nothing was given yet" in run("context", "--last").out
    with recollect.open(background=False) as memory:
        memory.store_fact("The user's boat is called Heron.", entity="user")
        fact = memory.facts()[0].id
        context = memory.prepare_context("Where is the spare key?")
        memory.integration.record_request("mcp", context.parts, text="Where is the spare key?")
    told = run("context", "--last")
    assert '"Where is the spare key?"' in told.out
    assert "message: The spare key is under the third pot." in told.out
    (request,) = run("context", "--last", "3", "--json").document["requests"]
    items = [item for part in request["parts"] for item in part["items"]]
    message = next(item["id"] for item in items if item["kind"] == "message")
    assert fact in [item["id"] for item in items]
    assert all(item["used"] for item in items)

    assert "recollect restore" in run("context", "--never", message).out
    assert "third pot" not in run("context", "Where is the spare key?").out
    assert "recollect facts undo" in run("context", "--never", fact[-8:]).out
    assert "Heron" not in run("context", "What is the boat called?").out
    assert "(not used again)" in run("context", "--last").out
    run("restore", message)
    assert "third pot" in run("context", "Where is the spare key?").out
    assert run("context", "--never", "nothing of the kind").code != 0
    assert run("context", "--last", "of", "all").code == 2
    assert run("context").code == 2
