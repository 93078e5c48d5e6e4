"""Who pays for what: modules are counted rather than milliseconds, which depend on the machine."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from recollect.version import VERSION

HEAVY = {"numpy", "apsw", "rich", "tokenizers", "onnxruntime", "orjson", "pydantic", "typer", "click", "argparse"}


def last_line(code: str, **environment: str) -> str:
    """What the code writes to standard error last."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )
    return done.stderr.splitlines()[-1]


def loaded_by(statement: str, **environment: str) -> set[str]:
    return set(last_line(f"import sys; {statement}; print(*sys.modules, file=sys.stderr)", **environment).split())


def loaded_by_command(*arguments: str | Path, **environment: str) -> set[str]:
    return loaded_by(f"from recollect.faces.cli.main import main; main({list(map(str, arguments))})", **environment)


def files(loaded: set[str]) -> set[str]:
    """Those of our modules that are files of code: a package that holds others is a line."""
    folders = {name.rpartition(".")[0] for name in loaded}
    return {name for name in loaded if name.startswith("recollect") and name not in folders}


def test_importing_recollect_loads_nothing_heavy() -> None:
    assert not loaded_by("import recollect") & HEAVY


def test_the_version_loads_next_to_nothing() -> None:
    bare = loaded_by("pass")
    loaded = loaded_by_command("--version") - bare
    assert not loaded & {*HEAVY, "dataclasses", "inspect", "json", "importlib.metadata", "recollect.record"}
    assert len(files(loaded)) <= 5


def test_the_version_is_that_of_the_package() -> None:
    assert version("recollect") == VERSION


def test_help_loads_neither_the_store_nor_the_models() -> None:
    for arguments in (["--help"], ["help", "search"], ["search", "-h"]):
        assert not loaded_by_command(*arguments) & HEAVY


def test_a_command_loads_no_other(home: Path) -> None:
    loaded = loaded_by_command("config")
    assert {
        name for name in loaded if name.startswith("recollect.faces.cli.") and name.endswith(("search", "demo"))
    } == set()


def test_a_search_loads_only_what_searching_takes(home: Path, sample_store: Path) -> None:
    loaded = loaded_by_command("search", "nginx", "reverse", "proxy", RECOLLECT_STORE=str(sample_store))
    unwanted = {
        "numpy.ma",
        "importlib.metadata",
        "pydantic",
        "typer",
        "click",
        "argparse",
        "onnxruntime",
        "tokenizers",
        "tomllib",
        "zipfile",
        "logging",
        "recollect.memory.drafts",
        "recollect.memory.knowledge",
        "rich",
    }
    assert not loaded & unwanted
    ways_in = (
        "recollect.ingest",
        "recollect.importers",
        "recollect.ingest.forget",
        "recollect.ingest.live",
        "recollect.index.passages",
    )
    assert not {name for name in loaded if name.startswith(ways_in)}
    assert not loaded & {f"recollect.engines.sqlite.{name}" for name in ("backup", "check", "maintain", "salvage")}
    assert len(files(loaded)) <= 154


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads as Linux lists them")
def test_a_command_has_no_threads_of_numpy() -> None:
    count = "import numpy; print(len(os.listdir('/proc/self/task')), file=sys.stderr)"
    leave = f"lambda code: exec({count!r})"
    begin = f"import os, sys; os._exit = {leave}; sys.argv[1:] = ['--version']"
    threads = last_line(f"{begin}; from recollect.faces.cli.main import run; run()")
    assert threads == "1"


def test_what_is_public_is_there() -> None:
    import recollect

    assert all(getattr(recollect, name) for name in recollect.__all__)
