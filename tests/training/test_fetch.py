"""Public sets are taken from their commit, with their licence checked; forbidden ones are refused."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from training.fetch import SOURCES, FetchError, Source, choose, fetch, main, write_card
from training.forbidden import FORBIDDEN, forbidden_name


def _git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def source(tmp_path: Path) -> Source:
    """A source in a git repository on this machine."""
    work = tmp_path / "mirror" / "owner+set" / "repo"
    (work / "data").mkdir(parents=True)
    (work / "LICENSE").write_text("MIT\n  License\n", encoding="utf-8")
    for name in ("a.json", "b.json", "c.txt"):
        (work / "data" / name).write_text(name, encoding="utf-8")
    _git(work, "init", "--quiet")
    _git(work, "add", ".")
    _git(work, "commit", "--quiet", "-m", "one")
    commit = _git(work, "rev-parse", "HEAD")
    return Source("set", "owner/set", commit, "MIT", "LICENSE", ("MIT License",), ("data/*.json",), "tests",
                  address=work.as_uri())  # fmt: skip


@pytest.mark.parametrize("mirrored", [True, False])
def test_files_and_licence_are_taken(source: Source, tmp_path: Path, mirrored: bool) -> None:
    written = fetch(source, tmp_path / "out", tmp_path / "mirror" if mirrored else None)
    assert written == ["data/a.json", "data/b.json"]
    assert (tmp_path / "out/set/data/b.json").read_text(encoding="utf-8") == "b.json"
    assert "MIT" in (tmp_path / "out/set/LICENCE.txt").read_text(encoding="utf-8")
    assert not (tmp_path / "out/set/data/c.txt").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"phrases": ("Apache License",)}, "does not say 'Apache License'"),
        ({"licence_file": "COPYING"}, "has no COPYING"),
        ({"files": ("nothing/*",)}, "none of nothing/"),
        ({"commit": "0" * 40}, "lacks commit 000000000000"),
        ({"repository": "owner/other"}, "mirror owner/other first"),
        ({"repository": "owner/LoCoMo"}, "refused"),
    ],
)
def test_what_is_not_as_the_card_says_is_not_taken(
    source: Source, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    with pytest.raises(FetchError, match=message):
        fetch(replace(source, **change), tmp_path / "out", tmp_path / "mirror")  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_an_address_out_of_reach_is_reported(source: Source, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="cannot fetch"):
        fetch(replace(source, address=(tmp_path / "gone").as_uri()), tmp_path / "out")


def test_the_card_says_where_from_and_under_which_licence(source: Source, tmp_path: Path) -> None:
    write_card([source, replace(source, name="unused")], {"set": ["data/a.json"]}, tmp_path / "card.md")
    card = (tmp_path / "card.md").read_text(encoding="utf-8")
    assert f"| set | {source.url} | `{source.commit[:12]}` | MIT | LICENSE | 1: `data/*.json` | tests |" in card
    assert "unused" not in card


@pytest.mark.parametrize("name", ["xquad-r", "LoCoMo", "beam", "XQuAD"])
def test_sets_that_we_are_measured_on_are_refused_by_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(FetchError, match="measured on"):
        choose([name])
    assert main([name]) == 1
    assert "refused" in capsys.readouterr().err


def test_an_unknown_source_is_refused() -> None:
    with pytest.raises(FetchError, match="no such source"):
        choose(["nothing"])


def test_no_source_is_a_set_that_we_are_measured_on() -> None:
    assert {"locomo", "beam", "xquad"} <= set(FORBIDDEN)
    for source in SOURCES:
        assert not any(map(forbidden_name, (source.name, source.repository, source.url, *source.files))), source.name
    others = {source.name for source in SOURCES} | {source.repository.lower() for source in SOURCES}
    assert not any("lifebench" in name or "qmsum" in name for name in others)  # only what lies in shared/data


def test_sources_are_pinned_and_named_once() -> None:
    assert len({source.name for source in SOURCES}) == len(SOURCES)
    assert all(len(source.commit) == 40 and source.phrases and source.files for source in SOURCES)
    assert not any("conll2003" in path for source in SOURCES for path in source.files)
