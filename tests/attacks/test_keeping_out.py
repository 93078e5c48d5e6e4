"""Attacks on what is kept out: patterns that people write, marks that fail, and names that are words."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.gateway.exchange import Endless
from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire
from recollect.memory import Memory
from recollect.memory.recording import Recording
from recollect.watching.exclusions import Patterns

pytestmark = pytest.mark.long

FOLDER = "/home/ann/work/secret"


@pytest.mark.parametrize(
    "pattern",
    [
        "~/work/secret", "~/work/secret/", "~/work/secret/**", "~/Work/SECRET", "~/work//secret", "~/work/./secret",
        "~/work/x/../secret", "~\\work\\secret", FOLDER, f"{FOLDER}/", "secret", "secret/", "work/secret", "**/secret",
        "./work/secret", "~/*/secret", "~/work/s?cret", "~/work/[st]ecret", "~/work/", "~", "/", "*",
    ],
)  # fmt: skip
def test_a_folder_is_kept_out_however_it_is_written(pattern: str) -> None:
    patterns = Patterns([pattern], Path("/home/ann"))
    for folder in (
        FOLDER,
        f"{FOLDER}/",
        f"{FOLDER}/deep/in/it",
        "/home/ann/work/x/../secret",
        "/home/ann//work/secret",
    ):
        assert patterns.fits(folder), folder
    if pattern not in ("~/work/", "~", "/", "*"):
        assert not patterns.fits("/home/ann/work/open")
        assert not patterns.fits("/home/ann/work/secrets")


@pytest.mark.parametrize(
    ("pattern", "folder"),
    [
        ("café", "/a/cafe\u0301/x"),  # as macOS writes it
        ("cafe\u0301", "/a/café"),
        ("秘密", "/a/秘密/b"),
        ("STRASSE", "/a/straße"),
        ("C:\\Users\\ann\\secret\\", "c:/users/Ann/secret/x"),
        ("c:/Users/ann/secret", "C:\\Users\\ann\\secret"),
        ("\\\\server\\share\\secret", "\\\\Server\\share\\secret\\x"),
        ("//server/share", "\\\\server\\share\\a"),
        ("secret", "C:\\work\\secret"),
        ("my project (2)", "/a/my project (2)/b"),
    ],
)
def test_names_of_other_systems_and_scripts_are_the_same_folder(pattern: str, folder: str) -> None:
    assert Patterns([pattern], Path("/home/ann")).fits(folder)


def test_a_link_is_kept_out_and_so_is_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "Real" / "deep").mkdir(parents=True)
    (tmp_path / "Link").symlink_to(tmp_path / "Real")
    for pattern, folder in itertools.product(("Real", "Link"), ("Real/deep", "Link/deep")):
        assert Patterns([str(tmp_path / pattern)], Path("/home/ann")).fits(str(tmp_path / folder))
        assert Patterns([str(tmp_path / pattern / "d*")], Path("/home/ann")).fits(str(tmp_path / folder))
    assert not Patterns([str(tmp_path / "Link"), f"!{tmp_path}/Link/deep"], Path("/")).fits(str(tmp_path / "Real/deep"))


@pytest.mark.parametrize("wire", [COMPLETIONS, RESPONSES, MESSAGES], ids=lambda wire: wire.path)
@pytest.mark.parametrize("value", ["no", "No", "off", "0", False, 0])
def test_whoever_says_no_anywhere_is_not_recorded(tmp_path: Path, wire: Wire, value: object) -> None:
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        endless = Endless(lambda _: memory, recording=Recording(tmp_path / "recording.db"))
        said = [{"role": "user", "content": "This is nobody's business."}]
        for store in ("yes", "", "no"):
            body: dict[str, Any] = {"model": "m", "max_tokens": 9, "metadata": {"recollect_store": value}}
            body |= {"input": said} if wire is RESPONSES else {"messages": said}
            exchange = endless.begin(wire, body, {"x-recollect-namespace": "default", "x-recollect-store": store})
            assert not exchange.asked.stores
            assert "recollect_store" not in str(exchange.body)


#: A name, what names somebody of it, and what does not.
NAMED = (
    ("Will", ("Will called.", "a car of Will's", "WILL!", "_Will_ and I"), ("I will go.", "free will", "willing")),
    ("Mark", ("Mark said no", "(Mark)"), ("a good mark", "mark the page", "Markdown")),
    ("May", ("May and I travel",), ("it may rain", "mayor")),
    ("Ann", ("Ann's dog", "ann shouted", "hi,Ann!", "**Ann**", "_Ann_", "Ann\nhere"), ("Anna", "annual", "annex")),
    ("José", ("Jose called", "JOSÉ", "Jose\u0301"), ("Joseph",)),
    ("王伟", ("王伟住在北京", "我和王伟"), ("今天天气",)),
    ("O'Brien", ("O’Brien came",), ("Brien came",)),
)  # fmt: skip


@pytest.mark.parametrize(("name", "named", "others"), NAMED, ids=[name for name, *_ in NAMED])
def test_a_person_is_forgotten_and_words_like_the_name_stay(
    memory: Memory, name: str, named: tuple[str, ...], others: tuple[str, ...]
) -> None:
    own = memory.beside(f"person/{ord(name[0])}-{len(name)}-{name[-1].encode().hex()}")
    for text in (*named, *others):
        own.store_message(text, conversation_id="C", id=f"M {text}".replace("\n", " ")[:60])
    own.store_message("Hello", speaker=name, conversation_id="D", id="S")
    shown = own.forget_person(name, mentions=True, dry_run=True)
    assert {message.content for message in shown.mentions} == {*named}
    own.forget_person(name, mentions=True)
    left = [m for row in own.conversations() for m in own.conversation(row.conversation.id).messages if not m.erased]
    assert {message.content for message in left} == {*others}
