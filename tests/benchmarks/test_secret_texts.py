"""The texts that show how well secrets are found hold none themselves, and get theirs as they are read."""

from __future__ import annotations

from pathlib import Path

import benchmarks.secret_texts
from benchmarks.secret_texts import PARTS, Message, messages
from benchmarks.secrets import measure, misses
from recollect.text.secret_formats import FORMATS
from recollect.text.secrets import find_secrets
from tests.secret_values import AWS, GITHUB

FOLDER = Path(benchmarks.secret_texts.__file__).parent


def test_no_file_of_them_holds_a_key_of_a_vendor() -> None:
    names = {form.name for form in FORMATS}
    files = [path for path in FOLDER.rglob("*") if path.suffix in (".jsonl", ".py")]
    assert len(files) == 8
    assert [path.name for path in files for one in find_secrets(path.read_text()) if one.kind in names] == []


def test_each_text_gets_its_values_the_same_every_time() -> None:
    for part in PARTS:
        read = list(messages(part))
        assert read == list(messages(part))
        for text, secrets, kind, _ in read:
            assert bool(secrets) == (kind != "ordinary")
            assert all(secret in text for secret in secrets)


def test_what_is_missed_and_what_is_marked_wrongly_is_counted_and_listed() -> None:
    texts = [
        Message(f"the key is {GITHUB}", [GITHUB], "listed", "github"),
        Message("a marble-walrus", ["marble-walrus"], "listed", "words"),
        Message("ring 4711", ["4711"], "prose", "pin4"),
        Message(f"see {AWS}", [], "ordinary", "hard"),
        Message("see you", [], "ordinary", "chat"),
    ]
    figures = measure(texts)
    assert figures.row("these").startswith("| these | 50.0% of 2 | 50.0% of 2 | 0.0% of 1 | ")
    assert [line.split(":")[0] for line in misses(texts)] == ["listed, words", "ordinary, hard"]
