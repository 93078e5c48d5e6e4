"""Everything that is printed on a terminal fits, and lines end between words."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.faces.terminal import on_a_terminal

pytestmark = pytest.mark.slow

COMMANDS = {
    "ask": ["ask", "why did we choose postgres and not redis for jobs?"],
    "research": ["research", "compare the job queue with the deployment", "--rounds", "1"],
    "facts": ["facts", "--history"],
    "graph": ["graph", "Tidepool"],
    "graph-path": ["graph", "Tidepool", "Postgres"],
    "topics": ["topics"],
    "timeline": ["timeline"],
    "timeline-month": ["timeline", "2025-05"],
    "context": ["context", "Which queue do we use for jobs?", "--budget", "1200"],
    "stats": ["stats"],
    "secrets": ["secrets"],
    "summaries": ["summaries", "-n", "3"],
    "tasks": ["tasks"],
    "forget": ["forget", "--all", "--dry-run"],
    "entities": ["entities"],
    "import": ["import"],
    "list": ["list", "-n", "20"],
    "show": ["show", "Full Stack App Planning", "--no-pager"],
    "show-match": ["show", "M8V5DR", "--no-pager"],
    "chat": ["chat", "which queue do we use for jobs?"],
    "help": ["help", "research"],
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, derived_store: Path) -> Path:
    return shutil.copytree(derived_store.parent, tmp_path_factory.mktemp("wrapping") / "store") / derived_store.name


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("name", COMMANDS)
def test_lines_end_between_words(home: Path, store: Path, name: str, columns: int) -> None:
    environment = {**os.environ, "RECOLLECT_STORE": str(store), "TERM": "dumb", "RECOLLECT_BACKGROUND": "false"}
    printed = on_a_terminal(COMMANDS[name], environment, columns=columns)
    assert printed.strip()
    code = False
    for line in printed.splitlines():
        code ^= line.strip().startswith("```")  # what stands between fences is copied, not read
        assert code or len(line) <= columns


@pytest.mark.parametrize("columns", [60, 80])
def test_what_is_found_is_a_table_whose_paths_stand_below_where_they_do_not_fit_beside(
    home: Path, columns: int
) -> None:
    for folder in ("a", "b"):
        sessions = home / ".claude" / "projects" / folder
        sessions.mkdir(parents=True)
        (sessions / "s.jsonl").write_text('{"type": "user", "uuid": "u", "message": {"role": "user", "content": "hi"}}')
    printed = on_a_terminal(["import"], {**os.environ, "TERM": "dumb"}, columns=columns)
    rows = printed.splitlines()[1:3]
    assert rows[0].split()[:5] == ["Claude", "Code", "2", "files", "newest"]
    assert rows[1].startswith("    /")
