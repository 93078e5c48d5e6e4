"""Settings: defaults under the file under the environment under flags, each with its origin."""

from __future__ import annotations

from pathlib import Path

import pytest

import recollect
from recollect.errors import InvalidInput
from recollect.memory.settings import Places, keep_setting, load_settings, places


@pytest.fixture
def where(tmp_path: Path) -> Places:
    return places({"RECOLLECT_HOME": str(tmp_path)}, tmp_path)


def test_without_anything_the_defaults_hold(where: Places) -> None:
    settings = load_settings(environment={}, where=where)
    assert (settings.namespace, settings.embedder, settings.limit, settings.durable) == ("default", "static", 10, True)
    assert settings.store == where.data / "memory.db"
    assert set(settings.origins.values()) == {"default"}


def test_a_flag_outranks_a_variable_outranks_the_file(where: Places) -> None:
    where.config.write_text('limit = 5\nnamespace = "file"\ncolor = "never"\n')
    environment = {"RECOLLECT_LIMIT": "6", "RECOLLECT_NAMESPACE": "variable"}
    settings = load_settings({"limit": 7, "color": None}, environment=environment, where=where)
    assert (settings.limit, settings.namespace, settings.color) == (7, "variable", "never")
    assert settings.origins["limit"] == "--limit"
    assert settings.origins["namespace"] == "RECOLLECT_NAMESPACE"
    assert settings.origins["color"] == str(where.config)


def test_an_empty_variable_is_none(where: Places) -> None:
    assert load_settings(environment={"RECOLLECT_LIMIT": ""}, where=where).limit == 10


def test_a_store_in_the_file_is_found_from_the_files_folder(where: Places) -> None:
    where.config.write_text('store = "elsewhere/memory.db"\n')
    assert load_settings(environment={}, where=where).store == where.config.parent / "elsewhere" / "memory.db"


def test_a_store_may_be_a_server_wherever_it_is_set(where: Places) -> None:
    environment: dict[str, str] = {}
    where.config.write_text('store = "neo4j://in-file:7687/chats"\n')
    settings = load_settings(environment=environment, where=where)
    assert (str(settings.store), settings.origins["store"]) == ("neo4j://in-file:7687/chats", str(where.config))
    environment["RECOLLECT_STORE"] = "bolt://ana:secret@in-variable"
    settings = load_settings(environment=environment, where=where)
    assert (str(settings.store), settings.origins["store"]) == ("bolt://in-variable", "RECOLLECT_STORE")
    settings = load_settings({"store": "memory.db"}, environment=environment, where=where)
    assert settings.store == Path("memory.db").absolute()


def test_an_address_that_is_there_for_other_programs_chooses_no_store(where: Places) -> None:
    for address in ("neo4j://of-others", "neo4j://ana:secret@of-others", "localhost"):
        settings = load_settings(environment={"NEO4J_URI": address}, where=where)
        assert (settings.store, settings.origins["store"]) == (where.store, "default")
        assert "NEO4J_URI is set" in settings.unused
        assert f"recollect config store {where.store}" in settings.unused
        assert "secret" not in settings.unused
    assert load_settings(environment={"NEO4J_URI": " "}, where=where).unused == ""


@pytest.mark.parametrize("chosen", ["flag", "variable", "file"])
def test_the_address_counts_where_the_store_was_chosen(where: Places, chosen: str) -> None:
    flags = {"store": "neo4j"} if chosen == "flag" else {}
    environment = {"NEO4J_URI": "neo4j://ours:7687/chats"} | (
        {"RECOLLECT_STORE": "neo4j"} if chosen == "variable" else {}
    )
    where.config.write_text('store = "neo4j"\n' if chosen == "file" else "")
    settings = load_settings(flags, environment=environment, where=where)
    origin = {"flag": "--store", "variable": "RECOLLECT_STORE", "file": str(where.config)}[chosen]
    assert (str(settings.store), settings.origins["store"], settings.unused) == ("neo4j://ours:7687/chats", origin, "")
    with pytest.raises(InvalidInput, match="NEO4J_URI, which is not set"):
        load_settings(flags, environment={**environment, "NEO4J_URI": ""}, where=where)
    with pytest.raises(InvalidInput, match="NEO4J_URI: This is not a place"):
        load_settings(flags, environment={**environment, "NEO4J_URI": "localhost"}, where=where)


def test_who_chose_a_store_hears_nothing_of_the_address(where: Places) -> None:
    environment = {"NEO4J_URI": "neo4j://of-others"}
    assert load_settings({"store": "memory.db"}, environment=environment, where=where).unused == ""
    keep_setting("store", str(where.store), where)
    assert load_settings(environment=environment, where=where).unused == ""
    keep_setting("store", "neo4j", where)
    assert str(load_settings(environment=environment, where=where).store) == "neo4j://of-others"


def test_an_unknown_key_is_told_with_the_file_and_what_was_meant(where: Places) -> None:
    where.config.write_text("limits = 5\n")
    with pytest.raises(InvalidInput) as problem:
        load_settings(environment={}, where=where)
    assert str(where.config) in str(problem.value)
    assert "'limits'" in str(problem.value)
    assert "Did you mean limit?" in str(problem.value)


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("limit = 0", "limit"),
        ('limit = "many"', "limit"),
        ("limit = true", "limit"),
        ('color = "blue"', "color"),
        ('durable = "perhaps"', "durable"),
        ('namespace = "a b"', "namespace"),
        ("embedder = 3", "embedder"),
        ('store = "https://host"', "store"),
        ('store = "neo4j://"', "store"),
    ],
)
def test_a_bad_value_is_told_with_file_and_key(where: Places, line: str, key: str) -> None:
    where.config.write_text(line + "\n")
    with pytest.raises(InvalidInput, match=key) as problem:
        load_settings(environment={}, where=where)
    assert str(where.config) in problem.value.message


def test_a_bad_variable_is_told_by_its_name(where: Places) -> None:
    with pytest.raises(InvalidInput, match="RECOLLECT_LIMIT"):
        load_settings(environment={"RECOLLECT_LIMIT": "no"}, where=where)


def test_a_file_that_is_no_toml_is_told(where: Places) -> None:
    where.config.write_text("limit: 5\n")
    with pytest.raises(InvalidInput, match="is not TOML"):
        load_settings(environment={}, where=where)


def test_linux_and_macos_keep_to_xdg(tmp_path: Path) -> None:
    where = places({}, tmp_path, windows=False)
    assert where.store == tmp_path / ".local/share/recollect/memory.db"
    assert where.config == tmp_path / ".config/recollect/config.toml"
    assert where.state == tmp_path / ".local/state/recollect"
    moved = places({"XDG_DATA_HOME": str(tmp_path / "d"), "XDG_CONFIG_HOME": "relative"}, tmp_path, windows=False)
    assert moved.store == tmp_path / "d/recollect/memory.db"
    assert moved.config == where.config


def test_windows_keeps_to_its_folders(tmp_path: Path) -> None:
    environment = {"LOCALAPPDATA": str(tmp_path / "local"), "APPDATA": str(tmp_path / "roaming")}
    where = places(environment, tmp_path, windows=True)
    assert where.store == tmp_path / "local/recollect/memory.db"
    assert where.config == tmp_path / "roaming/recollect/config.toml"


def test_recollect_home_moves_all(tmp_path: Path) -> None:
    where = places({"RECOLLECT_HOME": str(tmp_path / "all"), "XDG_DATA_HOME": "/ignored"}, tmp_path, windows=False)
    assert all(path.is_relative_to(tmp_path / "all") for path in (where.store, where.config, where.state))


def test_a_reranker_in_a_folder_is_found_from_the_files_folder(where: Places) -> None:
    where.config.write_text('reranker = "folder:models/cross"\n')
    expected = f"folder:{where.config.parent / 'models' / 'cross'}"
    assert load_settings(environment={}, where=where).reranker == expected
    server = load_settings(environment={"RECOLLECT_RERANKER": "bge@http://localhost:8012/v1"}, where=where)
    assert server.reranker == "bge@http://localhost:8012/v1"
    assert load_settings(environment={"RECOLLECT_RERANKER": "none"}, where=where).reranker == ""
    with pytest.raises(InvalidInput, match="RECOLLECT_RERANKER"):
        load_settings(environment={"RECOLLECT_RERANKER": "bge"}, where=where)


def test_the_window_of_the_proxy_is_learned_or_set(where: Places) -> None:
    assert load_settings(environment={}, where=where).proxy_window is None
    where.config.write_text("proxy_window = 32000\n")
    assert load_settings(environment={}, where=where).proxy_window == 32_000
    assert load_settings(environment={"RECOLLECT_PROXY_WINDOW": "0"}, where=where).proxy_window == 0
    assert load_settings(environment={"RECOLLECT_PROXY_WINDOW": "learned"}, where=where).proxy_window is None
    for wrong in ("999", "much", "-1"):
        with pytest.raises(InvalidInput, match="RECOLLECT_PROXY_WINDOW"):
            load_settings(environment={"RECOLLECT_PROXY_WINDOW": wrong}, where=where)


def test_a_setting_is_kept_and_the_rest_of_the_file_stays(where: Places) -> None:
    keep_setting("model", "anthropic:m", where)
    assert load_settings(environment={}, where=where).model == "anthropic:m"
    where.config.write_text('# mine\nlimit = 5  # few\nmodel = "openai:n"\n')
    keep_setting("model", "anthropic:m", where)
    keep_setting("durable", "false", where)
    keep_setting("namespace", "7", where)
    assert where.config.read_text() == (
        'namespace = "7"\ndurable = false\n# mine\nlimit = 5  # few\nmodel = "anthropic:m"\n'
    )
    settings = load_settings(environment={}, where=where)
    assert (settings.limit, settings.durable, settings.namespace) == (5, False, "7")


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [("modle", "x", "Unknown setting: modle"), ("model", "gpt-6", "not a language model"), ("limit", "0", "range")],
)
def test_a_setting_that_cannot_be_used_is_not_kept(where: Places, name: str, value: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        keep_setting(name, value, where)
    assert not where.config.exists()


def test_a_file_that_cannot_be_changed_safely_is_left_alone(where: Places) -> None:
    before = 'pager = """\nmodel = 1\n"""\n'
    where.config.write_text(before)
    with pytest.raises(InvalidInput, match="cannot be changed here"):
        keep_setting("model", "anthropic:m", where)
    assert where.config.read_text() == before


def test_a_program_is_told_of_an_address_that_was_not_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path))
    monkeypatch.setenv("NEO4J_URI", "neo4j://of-others")
    with recollect.open(background=False) as memory:
        assert memory.location == str(tmp_path / "memory.db")
    assert "NEO4J_URI is set" in caplog.text
    caplog.clear()
    monkeypatch.setenv("RECOLLECT_STORE", str(tmp_path / "memory.db"))
    recollect.open(background=False).close()
    assert caplog.text == ""
