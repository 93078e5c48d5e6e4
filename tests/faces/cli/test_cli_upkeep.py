"""Status, list, stats, export, check, remember, embed, reindex, config, completion, demo."""

from __future__ import annotations

from pathlib import Path

import pytest

import recollect
from tests.faces.conftest import CommandLine

pytestmark = pytest.mark.slow


def test_the_bare_command_is_a_status_page(sample: CommandLine) -> None:
    ran = sample()
    assert ran.code == 0
    assert ran.out.startswith("984 messages in 119 conversations, Apr 2023 - Oct 2026")
    assert "ChatGPT 55 - Claude 45 - OpenAI 19" in ran.out
    assert "recollect search" in ran.out


def test_in_an_empty_store_it_says_how_to_get_an_export(run: CommandLine, home: Path) -> None:
    ran = run()
    assert ran.code == 0
    assert "Settings, Data controls, Export" in ran.out
    assert "recollect demo" in ran.out
    assert not (home / "recollect" / "memory.db").exists(), "looking makes nothing"


def test_list_is_newest_first_and_takes_filters(sample: CommandLine) -> None:
    listed = sample("list", "--json", "--limit", "5").document
    updated = [row["updated"] for row in listed["conversations"]]
    assert updated == sorted(updated, reverse=True)
    assert listed["more"] is True
    ran = sample("list", "--title", "full stack")
    assert ran.out.rstrip().endswith("Full Stack App Planning")
    early = sample("list", "--until", "2023", "--source", "chatgpt", "--json").document["conversations"]
    assert early
    assert all(row["created"] < "2024" for row in early)


def test_list_with_nothing_to_show_exits_1(sample: CommandLine) -> None:
    assert sample("list", "--title", "no such title").code == 1


def test_stats_counts_by_kind_and_source(sample: CommandLine) -> None:
    ran = sample("stats")
    assert "messages           984" in ran.out
    assert "  ChatGPT          55" in ran.out


def test_stats_counts_what_an_agent_stored(run: CommandLine, tmp_path: Path) -> None:
    with recollect.HierarchicalMemory("agent", tmp_path) as memory:
        for day in (1, 2, 3):
            told = {"temporal_index": day}
            memory.store_knowledge(f"Klaebo has {7 + day} gold medals", "Klaebo medals", temporal_metadata=told)
    place = ("--store", tmp_path / "memory.db", "--namespace", "agent")
    lines = run("stats", *place).out.splitlines()
    assert "facts              1" in lines
    assert "  past             2" in lines
    assert run("stats", "--json", *place).document["derived"] == {"fact": 1, "past": 2}


def test_check_finds_nothing_wrong_with_the_sample(sample: CommandLine) -> None:
    ran = sample("check")
    assert (ran.code, ran.out) == (0, "[ok] No problems found.\n")


def test_an_export_is_read_back_without_loss(sample: CommandLine, tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    assert sample("export", first).out.startswith(f"Exported 119 records of default to {first} (")
    store = ("--store", tmp_path / "copy.db")
    assert sample("import", first, *store).code == 0
    sample("export", second, *store)
    assert second.read_bytes() == first.read_bytes()


def test_an_export_to_standard_output_is_the_dump_and_nothing_else(sample: CommandLine) -> None:
    ran = sample("export", "-")
    assert ran.out.startswith('{"recollect_dump":2}\n')
    assert sample("export", "-", "--json").code == 2


def test_what_is_remembered_is_found_at_once(run: CommandLine) -> None:
    assert run("remember", "-", "--title", "Keys", stdin="the spare key is with Ana").code == 0
    assert "[spare] [key]" in run("search", "spare key").out
    added = run("remember", "and the bicycle lock too", "--in", "Keys", "--json").document
    assert added["conversation_id"] == run("show", "Keys", "--json").document["conversation"]["id"]
    assert run("remember", " ").code == 2


def test_embed_makes_quality_vectors_and_search_uses_them(run: CommandLine) -> None:
    run("remember", "the spare key is with Ana")
    run("remember", "sourdough wants cold water")
    assert run("embed", "--limit", "1", "--json").document == {"made": 1, "quality": {"made": 1, "wanted": 2}}
    assert run("embed", "--json").document["quality"] == {"made": 2, "wanted": 2}
    assert run("search", "who has the key", "--json").document["mode"] == "quality"


def test_reindex_keeps_what_search_had_and_the_quality_vectors(run: CommandLine) -> None:
    run("remember", "the spare key is with Ana")
    run("embed")
    ran = run("reindex")
    assert (ran.code, ran.out) == (0, "Search index rebuilt from 1 message.\n")
    assert run("search", "spare key", "--json").document["mode"] == "quality"
    assert run("reindex", "--json").document == {"messages": 1, "embedder": "static-reg-int8@1"}
    assert run("check").code == 0


def test_config_says_where_each_value_comes_from(run: CommandLine, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = run("config", "path").out.strip()
    assert path == str(home / "recollect" / "config.toml")
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text("limit = 3\n")
    monkeypatch.setenv("RECOLLECT_COLOR", "never")
    settings = run("config", "--namespace", "acme", "--json").document["settings"]
    assert settings["limit"] == {"value": 3, "from": path}
    assert settings["color"] == {"value": "never", "from": "RECOLLECT_COLOR"}
    assert settings["namespace"] == {"value": "acme", "from": "--namespace"}
    assert settings["embedder"] == {"value": "static", "from": "default"}


def test_config_sets_a_setting_and_says_what_keeps_it_from_having_an_effect(
    run: CommandLine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("config", "limit", "20").out == f"limit is set in {run('config', 'path').out}"
    assert run("config", "--json").document["settings"]["limit"]["value"] == 20
    monkeypatch.setenv("RECOLLECT_MODEL", "none")
    ran = run("config", "model", "anthropic:claude-test")
    assert "RECOLLECT_MODEL comes first" in ran.err
    assert "Set ANTHROPIC_API_KEY." in ran.err
    assert run("config", "model", "gpt-6").code == 2
    assert run("config", "a", "b", "c").code == 2


def test_a_broken_config_file_stops_with_its_place(run: CommandLine, home: Path) -> None:
    (home / "recollect").mkdir()
    (home / "recollect" / "config.toml").write_text("limt = 3\n")
    ran = run("stats")
    assert ran.code == 2
    assert "config.toml: unknown setting 'limt'. Did you mean limit?" in ran.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_completion_prints_a_script(run: CommandLine, shell: str) -> None:
    ran = run("completion", shell)
    assert ran.code == 0
    assert "_RECOLLECT_COMPLETE" in ran.out


def test_completion_knows_no_other_shell(run: CommandLine) -> None:
    assert run("completion", "csh").code == 2


def test_the_demo_shows_three_searches_with_marks_and_the_two_commands(run: CommandLine, home: Path) -> None:
    ran = run("demo")
    assert ran.code == 0
    assert ran.out.count("$ recollect search") == 3
    assert '$ recollect search "nginx reverse proxy" -n 2\n' in ran.out, "what is printed prints this when typed"
    assert "Imported 119 conversations, 984 messages" in ran.out
    assert "[nginx] [reverse] [proxy]" in ran.out
    assert ran.out.rstrip().splitlines()[-2:] == [
        "  recollect import ~/Downloads/your-export.zip",
        '  recollect search "what you remember of it"',
    ]
    assert not (home / "recollect").exists(), "the demo touches nothing of one's own"
