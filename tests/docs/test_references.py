"""The references leave nothing out: commands, settings, the dump, formats, Python names, tables of the store."""

from __future__ import annotations

import re
from dataclasses import fields
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.answer.tools.calls import ToolCalls
from recollect.memory import Memory
from recollect.memory.integration import Integration
from recollect.memory.knowledge import Knowledge
from recollect.memory.settings import LEARNED, Settings
from recollect.memory.upkeep import Upkeep
from recollect.record import (
    Chunk,
    Conversation,
    Document,
    Edge,
    Kind,
    Message,
    Node,
    Part,
    PartKind,
    ToolCall,
    Turn,
    Version,
)
from recollect.search.results.result import DocumentHit, Hit, MessageHit, SearchResults, Snippet, Why
from tests.paths import ROOT
from tools import (
    write_architecture_reference,
    write_cli_reference,
    write_formats_reference,
    write_rest_reference,
    write_terms_reference,
)

REFERENCE = ROOT / "docs" / "reference"
RECORDS = (Conversation, Message, Part, Version, ToolCall, Turn, Chunk, Document, Node, Edge)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def section(text: str, title: str) -> str:
    """From a heading to the next."""
    return text.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def first_cells(text: str) -> list[str]:
    """The names that begin the rows of tables."""
    return re.findall(r"^\| `(\w+)`", text, re.MULTILINE)


def test_the_command_line_is_told_by_its_own_help() -> None:
    assert text_of(write_cli_reference.PAGE) == write_cli_reference.reference(), "python -m tools.write_cli_reference"


def test_the_reference_of_rest_is_its_own_openapi_document() -> None:
    told = text_of(write_rest_reference.PAGE)
    assert told == write_rest_reference.reference(), "python -m tools.write_rest_reference"


def test_the_terms_of_the_score_are_told_by_their_own_table() -> None:
    told = text_of(write_terms_reference.PAGE)
    assert told == write_terms_reference.page(), "python -m tools.write_terms_reference"
    assert "| words | all |" in told


def test_the_packages_are_listed_as_they_are() -> None:
    listed = text_of(write_architecture_reference.PAGE)
    assert listed == write_architecture_reference.page(), "python -m tools.write_architecture_reference"
    folders = {folder.parent.name for folder in (ROOT / "recollect").glob("*/__init__.py")}
    assert folders <= {name for layer in write_architecture_reference.layers() for name in layer}


def test_the_files_that_the_architecture_names_exist() -> None:
    """As paths in the package; a name alone stands after a path in its folder."""
    page = text_of(write_architecture_reference.PAGE)
    named = set(re.findall(r"`((?:faces/)?[a-z_]+/[a-z_/]*(?:\.(?:py|sql))?)`", page))
    assert len(named) > 50
    assert [name for name in named if not any((ROOT / at / name).exists() for at in ("recollect", "."))] == []


def test_every_setting_is_told_with_its_default_and_variable() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| `(\w+)` \|", text_of(REFERENCE / "configuration.md"), re.MULTILINE)
    told = {name: (default.strip("`"), variable) for name, default, variable in rows}
    known = [f for f in fields(Settings) if f.name != "origins"]
    assert list(told) == [f.name for f in known]
    for f in known:
        default, variable = told[f.name]
        assert variable == f"RECOLLECT_{f.name.upper()}"
        if f.name != "store":
            assert default == {"": "empty", (): "empty", None: LEARNED}.get(f.default, str(f.default).lower())


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_every_field_of_a_record_is_told_in_the_dump(record: Any) -> None:
    told = first_cells(section(text_of(REFERENCE / "dump.md"), record.__name__))
    assert told == [f.name for f in fields(record)]


def test_the_formats_tell_of_themselves() -> None:
    page = text_of(write_formats_reference.PAGE)
    assert page == write_formats_reference.reference(), "python -m tools.write_formats_reference"


def test_every_public_name_is_told() -> None:
    page = text_of(REFERENCE / "python.md")
    told = {name.split("(")[0] for name in re.findall(r"`([^`]+)`", page)}
    assert told >= set(recollect.__all__)
    offered = {name for part in (Memory, Knowledge, Upkeep, Integration, ToolCalls) for name in dir(part)}
    assert told >= {name for name in offered if not name.startswith("_")} - {"nothing_said"}


@pytest.mark.parametrize(
    "result", [SearchResults, Hit, MessageHit, DocumentHit, Snippet, Why], ids=lambda result: result.__name__
)
def test_every_field_of_a_result_is_told(result: Any) -> None:
    row = re.search(rf"^\| `{result.__name__}` \|(.+)\|$", text_of(REFERENCE / "python.md"), re.MULTILINE)
    assert row is not None
    told = set(re.findall(r"`(\w+)", row[1]))
    assert told >= {f.name for f in fields(result)} - {"hits", "notes"}  # the results are the sequence itself


def test_every_kind_is_told() -> None:
    page = text_of(ROOT / "docs" / "explanation" / "whose-words.md")
    assert first_cells(page) == [kind.value for kind in Kind]
    assert all(f"`{kind.value}`" in page for kind in PartKind)


def test_every_table_of_the_store_is_told() -> None:
    schema = resources.files("recollect.engines.sqlite").joinpath("schema.sql").read_text(encoding="utf-8")
    page = text_of(ROOT / "docs" / "explanation" / "store.md")
    tables = re.findall(r"^CREATE (?:VIRTUAL )?TABLE (\w+)", schema, re.MULTILINE)
    assert [name for name in tables if f"`{name}`" not in page] == []
