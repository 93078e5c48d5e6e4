"""`recollect serve` as a process: what it says, what it answers, how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

import recollect
from tests.faces.conftest import CommandLine
from tests.watching.sessions import Session

pytestmark = pytest.mark.slow


@contextmanager
def served(home: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """The command on a free port, and what it says of itself."""
    command = [sys.executable, "-m", "recollect", "serve", "--port", "0", "--json", *words]
    environment = {**os.environ, "RECOLLECT_HOME": str(home), "RECOLLECT_BACKGROUND": "0"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=home
    )
    assert process.stdout is not None
    try:
        yield process, document(process.stdout)
    finally:
        process.kill()
        process.communicate()


def document(stream: IO[str]) -> dict[str, Any]:
    told = ""
    while not told.rstrip().endswith("}"):
        line = stream.readline()
        assert line, told
        told += line
    return dict(json.loads(told))


def sent(address: str, body: object = None, **headers: str) -> Any:
    raw = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, raw, {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_write_that_was_told_is_there_after_the_end(tmp_path: Path, number: int) -> None:
    with served(tmp_path, "--namespace", "acme/rex") as (process, told):
        assert told["namespace"] == "acme/rex"
        assert told["link"] == told["address"]
        made = sent(f"{told['address']}/api/v1/messages", {"content": "The spare key is with Ana."})
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    with recollect.open(tmp_path / "memory.db", namespace="acme/rex", background=False) as memory:
        assert memory.messages([made["id"]])[0].content == "The spare key is with Ana."
        assert memory.upkeep.check() == []


def test_a_token_of_a_namespace_is_made_and_kept(tmp_path: Path) -> None:
    given = "b" * 32
    with served(tmp_path, "--token", "acme/rex=", f"--token=beta={given}") as (_, told):
        made = (tmp_path / "state" / "serve.acme%2Frex.token").read_text()
        assert told["tokens"] == {"acme/rex": made, "beta": given}
        assert told["link"].partition("?token=")[2] == (tmp_path / "state" / "serve.token").read_text()
        for token, namespace in ((made, "acme/rex"), (given, "beta")):
            there = sent(f"{told['address']}/api/v1/namespaces", Authorization=f"Bearer {token}")
            assert there == {"namespaces": [namespace]}


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("acme", "does not say whose token it is"),
        ("acme=short", "32 to 200 letters"),
        ("a b=", "is not a namespace"),
        ("=" + "x" * 32, "is not a namespace"),
    ],
)
def test_a_token_that_means_nothing_is_refused(run: CommandLine, word: str, said: str) -> None:
    ran = run("serve", "--token", word)
    assert (ran.code, said in ran.err) == (2, True)


def test_a_token_is_asked_for_and_kept(tmp_path: Path) -> None:
    with served(tmp_path, "--token") as (_, told):
        token = told["link"].partition("?token=")[2]
        place = tmp_path / "state" / "serve.token"
        assert place.read_text() == token
        assert place.stat().st_mode & 0o777 == 0o600
        with pytest.raises(urllib.error.HTTPError) as caught:
            sent(f"{told['address']}/api/v1/stats")
        assert caught.value.code == 401
        assert sent(f"{told['address']}/api/v1/stats", Authorization=f"Bearer {token}")["messages"] == 0


def test_a_port_that_is_taken_is_said_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "recollect", "serve", "--port", str(port)],
            capture_output=True,
            text=True,
            env={**os.environ, "RECOLLECT_HOME": str(tmp_path), "RECOLLECT_BACKGROUND": "0"},
            timeout=60,
        )
    assert done.returncode == 2
    assert f"recollect serve --port {port + 1}" in done.stderr
    assert not (tmp_path / "memory.db").exists()


def test_every_address_of_the_machine_needs_a_name(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "recollect", "serve", "--host", "0.0.0.0"],
        capture_output=True,
        text=True,
        env={**os.environ, "RECOLLECT_HOME": str(tmp_path)},
        timeout=60,
    )
    assert (done.returncode, "--name" in done.stderr) == (2, True)


def test_it_follows_sessions_while_it_serves_and_ends_with_all_that_was_told(tmp_path: Path, home: Path) -> None:
    session = Session(home / ".claude" / "projects")
    session.says("Where are the bells set?")
    with served(tmp_path, "--watch") as (process, told):
        found = f"{told['address']}/api/v1/search?q=bells"
        until = time.monotonic() + 60
        while not sent(found)["results"]:
            assert time.monotonic() < until
            time.sleep(0.1)
        beside = subprocess.run(
            [sys.executable, "-m", "recollect", "watch"],
            capture_output=True,
            text=True,
            env={**os.environ, "RECOLLECT_HOME": str(tmp_path)},
            timeout=60,
        )
        assert (
            beside.returncode,
            f"Another process already follows sessions into this memory: {process.pid}." in beside.stderr,
        ) == (2, True)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        assert memory.upkeep.check() == []
