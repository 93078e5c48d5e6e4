"""Token counts for budgets, and slices that the tokenizer can bear."""

import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import ModelError
from recollect.models.embedding import tokenizer
from recollect.models.embedding.tokenizer import (
    SLICE,
    UNKNOWN,
    WordPieces,
    count_tokens,
    count_tokens_of,
    encode_batch,
    encode_in_slices,
    open_tokenizer,
    packaged_pieces,
    packaged_tokenizer,
    slices,
)


def test_short_texts_are_counted_exactly():
    assert count_tokens("") == 0
    assert count_tokens("Hello, world!") == 4
    text = "We talked about the budget. " * 100
    assert count_tokens(text) == len(packaged_tokenizer().encode(text, add_special_tokens=False).ids)


def test_a_giant_text_is_estimated_closely_and_at_once():
    text = "We talked about the budget, and the 17 offers of March. " * 400_000  # 22 MB
    began = time.perf_counter()
    estimate = count_tokens(text)
    assert time.perf_counter() - began < 0.5
    exact = count_tokens("We talked about the budget, and the 17 offers of March. ") * 400_000
    assert estimate == pytest.approx(exact, rel=0.02)


def test_what_the_tokenizer_cannot_spell_is_not_taken_for_one_token():
    assert count_tokens("QUJD" * 1_000) > 1_000
    assert count_tokens("🙂🙂🙂") >= 1


def test_broken_unicode_is_counted():
    assert count_tokens("half a pair \ud800") > 3


@given(st.text(alphabet="ab \n", max_size=400), st.integers(1, 50))
def test_slices_joined_are_the_text_and_none_is_too_long(text, size):
    parts = list(slices(text, size))
    assert "".join(parts) == text
    assert all(len(part) <= size for part in parts)


def test_slices_are_cut_at_blanks():
    assert list(slices("alpha beta gamma", 11)) == ["alpha beta", " gamma"]
    assert list(slices("x" * 25, 10)) == ["x" * 10, "x" * 10, "x" * 5]


def test_tokens_of_the_slices_are_the_tokens_of_the_text():
    text = "Wonderfully untranslatable words, " * 3_000
    found = [token for _, ids in encode_in_slices(packaged_pieces().ids, [text]) for piece in ids for token in piece]
    assert len(text) > 4 * SLICE
    assert found == packaged_tokenizer().encode(text, add_special_tokens=False).ids


ODD = st.characters(exclude_categories=["Cs"]) | st.sampled_from(" \t\n\x0b\x1c\x85[SEP]\u0301ßΣς漢.")


@given(st.lists(st.text(ODD, max_size=60)))
def test_words_spelled_one_by_one_are_the_tokens_of_the_text(texts):
    whole = [packaged_tokenizer().encode(text, add_special_tokens=False).ids for text in texts]
    assert packaged_pieces().ids(texts) == whole
    assert packaged_pieces().ids(texts) == whole  # remembered


PRINTABLE = st.characters(min_codepoint=0x21, max_codepoint=0x7E)


@given(
    st.lists(
        st.text(PRINTABLE | st.sampled_from("aeinrst["), max_size=45)
        | st.sampled_from(["[SEP]", "a[CLS]b", "[MH2QK2]"])
    )
)
def test_plain_words_are_spelled_as_the_tokenizer_spells_them(words):
    whole = [packaged_tokenizer().encode(word, add_special_tokens=False).ids for word in words]
    assert packaged_pieces().ids(words) == whole


@given(st.lists(st.text(ODD | st.sampled_from("😀🧿𓀀"), max_size=60)))
def test_counts_by_words_are_those_of_the_text(texts):
    def whole(text):
        encoded = packaged_tokenizer().encode(text, add_special_tokens=False)
        spans = zip(encoded.ids, encoded.offsets, strict=True)
        return sum(1 if token != UNKNOWN else -(-(end - start) // 3) for token, (start, end) in spans)

    assert count_tokens_of(texts) == [whole(text) for text in texts]
    assert count_tokens_of(texts) == [whole(text) for text in texts]  # remembered


@pytest.mark.parametrize("text", ["a [SEP] b", "a\x0bb", "x" * 300 + " " + "y" * 41, "Wörter, Wörter: ÀÉ — “so”"])
def test_words_that_the_tokenizer_treats_in_its_own_way_are_left_to_it(text):
    assert packaged_pieces().ids([text]) == [packaged_tokenizer().encode(text, add_special_tokens=False).ids]


def test_pieces_of_more_words_than_are_remembered_are_right():
    pieces = WordPieces()
    for start in range(0, 90_000, 30_000):
        words = [f"w{n}" for n in range(start, start + 30_000)]
        assert pieces.ids([" ".join(words[:50])]) == [
            packaged_tokenizer().encode(" ".join(words[:50]), add_special_tokens=False).ids
        ]
        assert len(pieces.ids(words)) == len(words)


def test_the_tokenizer_neither_pads_nor_cuts():
    assert packaged_tokenizer().padding is None
    assert packaged_tokenizer().truncation is None


def test_a_file_that_is_no_tokenizer_is_a_model_error(tmp_path):
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match="not a tokenizer"):
        open_tokenizer(tmp_path / "tokenizer.json")


def test_a_damaged_vocabulary_is_a_model_error(tmp_path, monkeypatch):
    damaged = tmp_path / "tokenizer.json"
    damaged.write_text('{"model": {"vocab": {')
    monkeypatch.setattr(tokenizer, "packaged", lambda name: damaged)
    with pytest.raises(ModelError, match="damaged"):
        tokenizer.vocabulary.__wrapped__()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_vocabulary_that_lacks_a_letter_is_a_model_error(monkeypatch):
    monkeypatch.setattr(tokenizer, "vocabulary", lambda: {"a": 1, "##a": 2})
    with pytest.raises(ModelError, match="damaged"):
        tokenizer.WordPieces().ids(["aab"])


def test_a_forked_child_tokenizes_without_warning_or_waiting():
    code = """
import os
from recollect.models.embedding import open_embedder
embedder = open_embedder()
embedder.embed(["a b c"] * 200)
child = os.fork()
if child == 0:
    embedder.embed(["a b c"] * 200)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_a_few_words_have_the_tokens_that_they_have_among_many() -> None:
    words = ["Leeds", "[7Q2KAB9X]", "half\ud83d", "", "\u82f1\u8a9e", "settings.yaml:"]
    few, many = (encode_batch(packaged_tokenizer(), words * times) for times in (1, 100))
    assert few == many[: len(words)]
