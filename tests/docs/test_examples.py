"""Every example of the documents runs, and shows what comes out; the same goes for the ones in docstrings."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.paths import ROOT
from tools.run_examples import Wrong, agrees, examples, pages, rewritten, run_page

PAGES = [page for page in pages() if examples(page.read_text(encoding="utf-8"))]
MODULES = [path for path in sorted((ROOT / "recollect").rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_examples_of_a_page_show_what_comes_out(page: Path, sample_store: Path) -> None:
    with TemporaryDirectory() as home:  # a short name, since it is printed as `~` and lines are wrapped
        outputs = run_page(page, Path(home), sample_store)
    stale = [f"line {example.line}: {example.source}" for example, printed in outputs if not agrees(example, printed)]
    assert not stale, "python -m tools.run_examples --write puts the new outputs in"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_examples_of_docstrings_hold(path: Path) -> None:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted
    assert not result.failed


def page(folder: Path, text: str) -> Path:
    path = folder / "page.md"
    path.write_text(text, encoding="utf-8")
    return path


def run(folder: Path, text: str) -> list[bool]:
    """Which examples of a page agree with what comes out."""
    home = folder / "home"
    home.mkdir()
    return [agrees(*output) for output in run_page(page(folder, text), home, folder / "none")]


def test_another_output_is_seen(tmp_path: Path) -> None:
    assert run(
        tmp_path, "```python\nprint(1)\n```\n\n```text\n1\n```\n\n```python\nprint(2)\n```\n\n```text\n3\n```\n"
    ) == [
        True,
        False,
    ]


def test_the_programs_of_a_page_are_one(tmp_path: Path) -> None:
    assert run(tmp_path, "```python\nx = 1\n```\n\n```python\nprint(x)\n```\n\n```text\n1\n```\n") == [True, True]


@pytest.mark.parametrize(
    "text",
    [
        "```console\n$ recollect search tides\n```\n",
        "```console\n$ recollect search tides\n$ echo $?\n0\n```\n",
        "```console\n$ ls\n```\n",
        "```python\nraise ValueError\n```\n",
    ],
)
def test_an_example_that_fails_is_told(tmp_path: Path, text: str) -> None:
    with pytest.raises(Wrong):
        run(tmp_path, text)


def test_a_failure_that_is_shown_is_none(tmp_path: Path) -> None:
    assert run(tmp_path, "```console\n$ recollect search tides\n$ echo $?\n1\n```\n") == [True, True]


def test_new_outputs_are_put_in_and_what_was_left_out_stays_out(tmp_path: Path) -> None:
    program = "```python\nfor n in range(9):\n    print(n)\n```\n\n```text\n{}\n```\n"
    path = page(tmp_path, program.format("old\n…\nolder"))
    (tmp_path / "home").mkdir()
    outputs = run_page(path, tmp_path / "home", tmp_path / "none")
    assert rewritten(path.read_text(encoding="utf-8"), outputs) == program.format("0\n…\n8")
