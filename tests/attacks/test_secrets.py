"""Attacks on secrets: written down in other ways, beside words that look like them, and forgotten by halves."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

import recollect
from benchmarks.secret_texts.values import made, pem
from recollect.compat.hierarchical import HierarchicalMemory
from recollect.memory import Memory
from tests.exports import chat as talk
from tests.exports import dump_of, export
from tests.secret_values import AWS, GITHUB, OPENAI, parts

pytestmark = pytest.mark.long

JWT = made("eyJ<a33>.eyJ<a60>.<a43>")
ANTHROPIC = made("sk-ant-api03-<w95>")
KEYS = {"openai": OPENAI, "github": GITHUB, "aws": AWS, "jwt": JWT, "anthropic": ANTHROPIC, "pem": pem()}
PASSWORD = "blue-Mango7"


def nested(text: str, times: int) -> str:
    """A text as a string of JSON, which is a string of JSON …"""
    return text if times == 0 else json.dumps({"k": nested(text, times - 1)})


#: Ways to write a key down.
WRITTEN: dict[str, Callable[[str], str]] = {
    **{f"json {times}": (lambda key, times=times: nested(key, times)) for times in (1, 2, 3)},  # type: ignore[misc]
    "address": lambda key: f"https://x.test/?token={quote(key, safe='')}&a=1",
    "percent": lambda key: f"see {quote(key, safe='')}",
    "percent twice": lambda key: f"%2520{key}",
    "base64": lambda key: f"data: {base64.b64encode(key.encode()).decode()}",
    "base64 of a file": lambda key: base64.urlsafe_b64encode(f"# own\nKEY={key}\n".encode()).decode(),
    "chinese": lambda key: f"密钥是{key}吗",
    "russian": lambda key: f"ключ{key}ключ",
    "terminal": lambda key: f"\x1b[1;31m{key}\x1b[0m",
    "markdown": lambda key: f"**{key}** _{key}_ `{key}`",
    "html": lambda key: f"<code>{key}</code>&quot;{key}&quot;",
    "escaped": lambda key: f"KEY\\u003d{key}\\u0026a=1 \\n{key}\\n",
    "quoted": lambda key: "> " + key.replace("\n", "\n> "),
    "diff": lambda key: "-" + key.replace("\n", "\n-"),
    "numbered": lambda key: "     1→" + "\n     2→".join(key.split("\n")),
    "lines of windows": lambda key: key.replace("\n", "\r\n"),
    "path": lambda key: f"/home/a/{key}/b|{key}|,{key},",
}


@pytest.mark.parametrize("way", WRITTEN)
def test_however_a_key_is_written_down_it_is_masked(memory: Memory, way: str) -> None:
    for name, key in KEYS.items():
        shown = memory.integration.masked(WRITTEN[way](key)).replace("\\", "")
        for line in key.splitlines()[1:-1] if name == "pem" else [key[14:]]:
            assert not any(part in shown for part in parts(line)), (name, shown)
            assert base64.b64encode(key.encode()).decode()[20:50] not in shown, name


@pytest.mark.parametrize("break_", ["\n", "\r\n  ", "\\\n", '" + "', "\u200b"])
def test_a_key_of_any_length_is_masked_where_it_is_broken(memory: Memory, break_: str) -> None:
    for at in (50, 60):
        shown = memory.integration.masked(f"key = {OPENAI[:at]}{break_}{OPENAI[at:]} and more")
        assert not any(part in shown for part in parts(OPENAI[12:]))
        assert shown.endswith("and more")


#: Secrets that hold words and dates, and texts that hold the same ones and no secret.
LIKE_WORDS = (
    'password = "sunshine"',
    "PASSWORD=dragonfly",
    'api_key = "Kx9Production77LmQ20241105"',
    "Authorization: Bearer prodDashboard2024View7",
    "Authorization: Bearer UserService2024-OrderHandler7-9x",
    'SECRET_KEY="django-insecure-2024-11-05-production-key-x7"',
    "auth_token=mycompany-prod-db-a8f7c6",
    f"密钥是{OPENAI}，请记住",
)
WORDS = (
    "I sang in the production of Carmen on 2024-11-05.",
    "My sunshine is here. Sunshine!",
    "The build of summer 20241105",
    "Our company Dragonfly makes dragonfly kites",
    "The Producti0n line and production lines",
    "https://example.com/team/Dashboard2024/view",
    "UserService2024 calls OrderHandler7",
    "mycompany-prod-db.internal.net works",
)


def test_words_that_a_secret_holds_too_stay_as_they_are(memory: Memory) -> None:
    for number, secret in enumerate(LIKE_WORDS):
        own = memory.beside(f"words/{number}")
        own.store_message(secret, conversation_id="S", id="M")
        for place, text in enumerate(WORDS):
            own.store_message(text, conversation_id=f"C{place}", id=f"M{place}")
        assert own.upkeep.forget_secrets().secrets == 1, secret
        assert "[secret: " in own.toolbox().get_message_by_id("M").content
        assert [own.toolbox().get_message_by_id(f"M{place}").content for place in range(len(WORDS))] == [*WORDS], secret
    assert own.toolbox().get_message_by_id("M").content == "密钥是[secret: OpenAI key]，请记住"


def test_a_forgetting_that_is_killed_at_any_write_is_completed_by_the_next(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, done, at = type(memory.handle.space).write, False, 0
    while not done:
        own = memory.beside(f"killed/{at}")
        own.store_message(f"my password: {PASSWORD} and {OPENAI}", conversation_id="A")
        own.store_message(f"so {PASSWORD} it is", conversation_id="B")
        own.store_message(f"it ends with {OPENAI[60:]}", conversation_id="D")
        own.store_fact("Pays with a key", "key", entity="router", value=f"with {OPENAI[70:110]}")
        own.store_fact("Opens the router", "password", entity="door", value=PASSWORD)
        writes = 0

        def killed(self: object, change: object, writes_until: int = at) -> object:
            nonlocal writes
            writes += 1
            if writes > writes_until:
                raise KeyboardInterrupt
            return write(self, change)  # type: ignore[arg-type]

        monkeypatch.setattr(type(memory.handle.space), "write", killed)
        try:
            own.upkeep.forget_secrets()
            done = True
        except KeyboardInterrupt:
            at += 1
        monkeypatch.setattr(type(memory.handle.space), "write", write)
        own.upkeep.forget_secrets()
        dump = dump_of(own).decode()
        assert PASSWORD not in dump, at
        assert not any(part in dump for part in parts(OPENAI[60:], 20)), at
        assert own.upkeep.forget_secrets().secrets == 0
    assert at > 3


def test_nothing_that_comes_in_later_brings_a_secret_back(memory: Memory, tmp_path: Path) -> None:
    own = memory.beside("later")
    own.store_message(f"my password: {PASSWORD} and {GITHUB}", conversation_id="A", id="M")
    own.upkeep.forget_secrets()
    telling = f"it is {PASSWORD} or {GITHUB}."
    (tmp_path / "doc.md").write_text(f"# A {telling}\n\n{telling}")
    own.store_message(telling, conversation_id="B", title=telling, speaker=GITHUB, metadata={GITHUB: PASSWORD})
    own.store_messages([{"content": telling}], conversation_id="C")
    own.update_message("M", telling)
    own.store_tool_call("look", {PASSWORD: GITHUB}, telling, "M")
    fact = own.store_fact(telling, "key", entity="router", value=GITHUB, tags=[PASSWORD])
    own.knowledge.edit_fact(fact.id, value=PASSWORD)
    own.import_documents(tmp_path / "doc.md")
    own.import_file(export(tmp_path / "export", [talk(telling, telling, title=telling)]))
    assert PASSWORD not in dump_of(own).decode()
    assert GITHUB not in dump_of(own).decode()
    assert own.upkeep.secrets() == []


#: What may stand around a password where nothing tells that it is one.
SOMEWHERE = (
    "**{}**", "_{}_", "|{}|", "«{}»", "“{}”", "用{}吧", "a\\n{}\\nb", "%22{}%22", "\x1b[31m{}\x1b[0m", "\u200b{}\u200b",
    '{{\\"x\\":\\"{}\\"}}', "a=1&b={}&c=2", "C:\\{}\\x", "~~{}~~", "…{}…", "&nbsp;{}&nbsp;", "it is {}!",
)  # fmt: skip


@pytest.mark.parametrize("around", SOMEWHERE)
def test_the_same_export_does_not_bring_a_password_back(memory: Memory, tmp_path: Path, around: str) -> None:
    own = memory.beside(f"again/{SOMEWHERE.index(around)}")
    talks = [
        talk(f"my password: {PASSWORD}", "ok", title="A", name="a"),
        talk(f"note {around.format(PASSWORD)} end", "fine", title="B", name="b"),
    ]
    for _ in range(2):
        own.import_file(export(tmp_path / "export", talks))
        own.upkeep.forget_secrets()
    assert PASSWORD not in dump_of(own).decode()
    grown = [talks[0], talk(f"note {around.format(PASSWORD)} end", "fine", "and more", "yes", title="B", name="b")]
    for some in (talks, grown):
        own.import_file(export(tmp_path / "export", some))
        assert PASSWORD not in dump_of(own).decode()


def test_a_memory_that_forgot_other_secrets_is_imported_beside_those_of_this_one(
    memory: Memory, tmp_path: Path
) -> None:
    own = memory.beside("joined")
    own.store_message(f"key {GITHUB}", conversation_id="A")
    own.upkeep.forget_secrets()
    with recollect.open(tmp_path / "other.db", background=False) as other:
        other.store_message(f"key {OPENAI}", conversation_id="B")
        other.upkeep.forget_secrets()
        (tmp_path / "dump.jsonl").write_bytes(dump_of(other))
    own.import_file(tmp_path / "dump.jsonl")
    own.store_message(f"again {GITHUB} and {OPENAI}", conversation_id="C", id="M")
    assert own.toolbox().get_message_by_id("M").content == "again [secret: GitHub token] and [secret: OpenAI key]"


def test_a_memory_of_facts_alone_keeps_secrets_out_too(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", namespace="agent", background=False) as own:
        own.store_message(f"key {GITHUB}", conversation_id="A")
        own.upkeep.forget_secrets()
    hierarchical = HierarchicalMemory("agent", str(tmp_path / "memory.db"))
    hierarchical.store_episode(f"said {GITHUB}", GITHUB)
    hierarchical.store_knowledge(f"the key is {GITHUB}", GITHUB, tags=[GITHUB])
    hierarchical.import_graph({"nodes": [{"node_id": "n", "content": GITHUB, "concept": "key"}], "edges": []})
    hierarchical.close()
    assert not any(GITHUB.lower().encode() in file.read_bytes().lower() for file in tmp_path.rglob("memory.db*"))


def test_names_are_taken_out_and_nothing_else_with_them(memory: Memory) -> None:
    own = memory.beside("names")
    other = made("ghp_<a36>", seed=9)
    own.store_message("hello", conversation_id="C", id="M", speaker=GITHUB, metadata={GITHUB: "Ann", other: {"a": AWS}})
    own.upkeep.forget_secrets()
    assert own.toolbox().get_message_by_id("M").speaker == "[secret: GitHub token]"
    kept = [*own.toolbox().get_message_by_id("M").metadata.values()]
    assert sorted(kept, key=str) == ["Ann", {"a": "[secret: AWS access key]"}]
    if memory.location.endswith(".db"):
        folder = Path(memory.location).parent
        assert not any(
            GITHUB.lower().encode() in file.read_bytes().lower() for file in folder.glob("*") if file.is_file()
        )
    assert not own.upkeep.check()
