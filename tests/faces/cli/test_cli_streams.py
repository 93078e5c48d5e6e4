"""The command line as other programs run it: pipes, locales, closed pipes, terminals."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faces.terminal import COMMAND, on_a_terminal

pytestmark = pytest.mark.slow


@pytest.fixture
def environment(home: Path, sample_store: Path) -> dict[str, str]:
    return {**os.environ, "RECOLLECT_STORE": str(sample_store)}


def started(arguments: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *arguments], env=environment, capture_output=True, check=False)


@pytest.mark.parametrize("locale", [{"PYTHONIOENCODING": "cp1252"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
def test_output_is_utf_8_whatever_the_locale(environment: dict[str, str], locale: dict[str, str]) -> None:
    ran = started(["show", "Typography for Mara's tea shop", "--color", "always"], environment | locale)
    title = started(["list", "--limit", "500"], environment | locale)
    assert ran.returncode in (0, 1)
    assert title.returncode == 0
    assert "é" in title.stdout.decode("utf-8")


def test_a_reader_that_goes_away_ends_it_silently(environment: dict[str, str]) -> None:
    process = subprocess.Popen(
        [*COMMAND, "export", "-"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=30), complaint) == (0, b"")


@pytest.mark.skipif(os.name != "posix", reason="closes streams by a shell")
@pytest.mark.parametrize("closed", [">&-", "<&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_no_harm(environment: dict[str, str], closed: str) -> None:
    line = " ".join([shlex.join(COMMAND), "list -n 500", closed])
    ran = subprocess.run(["sh", "-c", line], env=environment, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [["list", "--json"], ["export", "-"], ["stats"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_output_that_does_not_fit_is_one_line(
    environment: dict[str, str], arguments: list[str], unbuffered: str
) -> None:
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            [*COMMAND, *arguments],
            env=environment | {"PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (ran.returncode, ran.stderr) == (2, b"Standard output: No space left on device.\n")


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_standard_output_by_its_name_gets_the_dump_and_nothing_else(environment: dict[str, str]) -> None:
    ran = started(["export", "/proc/self/fd/1"], environment)
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[-1].startswith(b'{"conversations":119')
    assert ran.stderr.startswith(b"Exported 119 records")
    refused = started(["export", "/proc/self/fd/1", "--json"], environment)
    assert refused.returncode == 2
    assert b"cannot be combined with an export to standard output" in refused.stdout


def test_a_pipe_gets_no_colour_no_wrapping_and_plain_signs(environment: dict[str, str]) -> None:
    out = started(["search", "nginx reverse proxy"], environment).stdout.decode()
    assert "\033" not in out
    assert "▸" not in out
    assert "\n   > ChatGPT" in out
    assert max(map(len, out.splitlines())) > 200


def test_a_query_comes_through_a_pipe(environment: dict[str, str]) -> None:
    ran = subprocess.run(
        [*COMMAND, "search", "-"], env=environment, input=b"nginx reverse proxy", capture_output=True, check=True
    )
    assert b"[nginx] [reverse] [proxy]" in ran.stdout


def test_a_shell_gets_its_completions(environment: dict[str, str]) -> None:
    assert started(["sea"], environment | {"_RECOLLECT_COMPLETE": "bash"}).stdout.split() == [b"search"]


def test_a_terminal_gets_styles_and_lines_that_fit(environment: dict[str, str]) -> None:
    out = on_a_terminal(["search", "nginx reverse proxy"], environment | {"TERM": "xterm"})
    assert "\033[1;4mnginx\033[0m" in out
    assert "▸" in out
    plain = on_a_terminal(["search", "nginx reverse proxy"], environment | {"TERM": "xterm", "NO_COLOR": "1"})
    assert "\033" not in plain
    assert max(map(len, plain.splitlines())) <= 80


def test_a_dumb_terminal_gets_no_styles(environment: dict[str, str]) -> None:
    assert "\033" not in on_a_terminal(["search", "JWT"], environment | {"TERM": "dumb"})


def test_a_long_conversation_goes_through_the_pager(environment: dict[str, str], tmp_path: Path) -> None:
    pager = tmp_path / "pager.py"
    pager.write_text("import sys\nprint('PAGED', len(sys.stdin.read().splitlines()))\n")
    terminal = environment | {"TERM": "xterm", "PAGER": f"{sys.executable} {pager}"}
    assert on_a_terminal(["show", "Full Stack App Planning"], terminal).startswith("PAGED ")
    assert "PAGED" not in on_a_terminal(["show", "Full Stack App Planning", "--no-pager"], terminal)
