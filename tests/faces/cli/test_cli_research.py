"""`recollect research`: with a model server on loopback and without a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.answer.research.conftest import PLAN, QUESTION, missing
from tests.faces.conftest import CommandLine
from tests.models.language.wire_server import Says, WireServer, wire_server


@pytest.fixture
def archive(run: CommandLine, sample_store: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line on a sample archive that may be written to."""
    import shutil

    monkeypatch.setenv("RECOLLECT_STORE", str(shutil.copy(sample_store, home / "memory.db")))
    return run


@pytest.fixture
def server() -> Iterator[WireServer]:
    with wire_server() as running:
        yield running


@pytest.fixture(params=["anthropic", "openai"])
def with_model(request: pytest.FixtureRequest, server: WireServer, archive: CommandLine) -> CommandLine:
    spec = {"anthropic": f"anthropic:claude-test@{server.root}", "openai": f"openai:test@{server.root}/v1"}

    def command(*arguments: str | Path, stdin: str = "") -> object:
        return archive(*arguments, "--model", spec[str(request.param)], stdin=stdin)

    return command  # type: ignore[return-value]


def test_without_a_model_it_quotes_by_parts_and_tells_its_steps(archive: CommandLine) -> None:
    ran = archive("research", QUESTION)
    assert ran.code == 0
    assert ran.out.startswith("# Database design decisions and deployment strategy\n")
    assert "\n## Sources\n" in ran.out
    assert "planned: database design decisions; deployment strategy" in ran.err
    assert "searched: deployment strategy" in ran.err
    shown = archive("show", "1")
    assert shown.code == 0
    listed = archive("research", "--list")
    assert "Database design decisions and deployment strategy" in listed.out
    named = listed.out.split()[0]
    assert archive("show", named).out.splitlines()[0] != ""
    assert archive("forget", named, "--yes").code == 0
    assert archive("research", "--list").code == 1


def test_with_a_model_the_report_is_streamed_and_cited(with_model: CommandLine, server: WireServer) -> None:
    server.script += [PLAN, missing(), Says("# Database against deployment\n\nThree tables [1], and no more [44].")]
    ran = with_model("research", QUESTION)
    assert ran.code == 0
    assert ran.out.startswith("# Database against deployment\n\nThree tables [1], and no more.\n\n## Sources\n\n1. “")
    assert "1 citation of the model" in ran.err


def test_json_is_the_report_with_its_plan(archive: CommandLine) -> None:
    document = archive("research", QUESTION, "--json").document
    assert [part["query"] for part in document["plan"]][:2] == ["database design decisions", "deployment strategy"]
    assert document["citations"][0]["message"]["id"]
    assert document["report"].startswith("# ")
    assert document["steps"][0]["name"] == "planned"
    (listed,) = archive("research", "--list", "--json").document["reports"]
    assert listed["id"] == document["id"]


def test_what_is_not_said_is_told_by_the_exit_code(archive: CommandLine) -> None:
    ran = archive("research", "compare zzyzx quuxwort with blorptangle vexing")
    assert ran.code == 1
    assert "Your conversations do not say." in ran.out


def test_interrupted_research_is_resumed(
    with_model: CommandLine, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(text: str) -> str:
        raise KeyboardInterrupt

    server.script += [PLAN]
    with monkeypatch.context() as patched:
        patched.setattr("recollect.faces.cli.commands.answers.harmless", interrupted)
        assert with_model("research", QUESTION).code == 130
    assert "interrupted: recollect research --resume" in with_model("research", "--list").out
    server.script += [missing(), Says("# Report\n\nThree [1].")]
    ran = with_model("research", "--resume")
    assert ran.code == 0
    assert ran.out.startswith("# Report")
    assert with_model("research", "--resume").code == 1


def test_ctrl_c_leaves_the_research_to_whoever_resumes_it(
    archive: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(text: str) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("recollect.faces.cli.commands.answers.harmless", interrupted)
        ran = archive("research", QUESTION)
    assert ran.code == 130
    assert ran.err.endswith("recollect research --resume\n")
    assert "interrupted: recollect research --resume" in archive("research", "--list").out
    assert archive("research", "--resume").code == 0


def test_ctrl_c_before_there_is_a_plan_names_nothing_to_resume(
    archive: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(question: str, found: object) -> object:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("recollect.answer.research.plan.plan_by_rules", interrupted)
        ran = archive("research", QUESTION)
    assert ran.code == 130
    assert ran.err == "Interrupted.\n"
    assert archive("research", "--resume").code == 1


def test_wrong_usage_is_explained(archive: CommandLine) -> None:
    assert archive("research").code == 2
    assert archive("research", "--resume", "--since", "2024").code == 2
    assert archive("research", "x", "--rounds", "9").code == 2


def test_reports_stand_apart_from_files(run: CommandLine, tmp_path: Path) -> None:
    notes = tmp_path / "pump.md"
    notes.write_text("# Heat pump\n\nThe heat pump hums at night, and the heat pump is loud.\n")
    run("remember", "The heat pump hums at night, said the neighbour.", "--title", "Noise")
    run("import", "--documents", str(notes))
    run("research", "the heat pump at night")
    said, _, reports = run("search", "heat pump night").out.partition("\nReports by Recollect:\n")
    assert "Noise" in said
    assert "pump.md" in said
    assert "research - " in reports
