from __future__ import annotations

import re
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text import terms as tokeniser
from recollect.text.terms import LONGEST_WORD, STOP_WORDS, is_identifier, terms, words
from tests.reference import all_texts, needs_shared, reference


def test_english_words_are_stemmed_and_stop_words_dropped_in_order_and_with_repetitions() -> None:
    assert terms("The gardens of my gardener: a GARDEN!") == ["garden", "garden", "garden"]
    assert words("The gardens of my gardener") == ["the", "gardens", "of", "my", "gardener"]


@pytest.mark.parametrize("apostrophe", ["'", "’", "＇"])
def test_the_possessive_s_is_dropped(apostrophe: str) -> None:
    assert words(f"Tilda{apostrophe}s boat") == ["tilda", "boat"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Café Größe Straße Łódź smørrebrød Çeşme İzmir", "cafe grosse strasse lodz smorrebrod cesme izmir"),
        ("Việt Nam, œuvre, þorn", "viet nam oeuvre thorn"),
        ("Αθήνα ΑΘΗΝΑ οδός", "αθηνα αθηνα οδοσ"),
        ("Ёлка съёмка йод", "елка съемка йод"),
        ("كِتَاب كتــاب أحمد مدرسة على", "كتاب كتاب احمد مدرسه علي"),
        ("שָׁלוֹם רב", "שלום רב"),
        ("हिन्दी की किताबें", "हिन्दी की किताबें"),
        ("தமிழ் மொழி", "தமிழ் மொழி"),
        ("ქართული ენა", "ქართული ენა"),
        ("重跑 后", "重跑 后"),
        ("東京タワー", "東京 京タ タワ ワー"),
        ("오늘 서울역", "오늘 서울 울역"),
        ("ไทย", "ไท ทย"),
        ("ລາວ", "ລາ າວ"),
        ("ខ្មែរ", "ខ្មែ មែរ"),
        ("မြန်မာ", "မြန် န်မာ"),
        ("٢٠٢٤ ２０２４ २०२४", "2024 2024 2024"),
        ("ﬁle №5 x²", "file no5 x2"),
    ],
)
def test_every_script_has_words_in_one_spelling(text: str, expected: str) -> None:
    assert words(text) == expected.split()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("новые книги", "новая книга"),
        ("المدرسة", "مدرسه"),
        ("المدرسه", "مدرسة"),
        ("كتابه", "الكتاب"),
        ("والكتاب", "كتاب"),
        ("للكتاب", "بالكتاب"),
        ("السيارات", "سيارة"),
        ("سيارتي", "السيارة"),
        ("الشاي", "شاي"),
        ("للغة", "اللغات"),
        ("والقهوة", "قهوة"),
        ("الالتهاب", "التهاب"),
        ("ذهبت", "ذهب"),
        ("تأمينا", "التأمين"),
        ("e\u0301cole", "École"),
        ("ガラス", "ｶﾞﾗｽ"),
        ("cafés", "cafe"),
        ("co\u00adoperate", "cooperate"),
    ],
)
def test_forms_of_a_word_meet_in_one_term(one: str, other: str) -> None:
    assert terms(one) == terms(other) != []


@pytest.mark.parametrize("also", ["", " é", " 重"])
def test_c_and_its_kin_are_three_languages(also: str) -> None:
    """Q7: they were one term."""
    assert words(f"C, C++ and c#!{also}")[:4] == ["c", "c++", "and", "c#"]
    assert terms("C++17 in (C++)") == ["c++", "17", "c++"]
    assert words(f"page#1 x+y a++b #tag abc++ i## {also}")[:9] == ["page", "1", "x", "y", "a", "b", "tag", "abc", "i"]


def test_a_father_is_no_article() -> None:
    assert terms("والدي") != terms("دي")
    assert terms("ألم") == terms("الألم") != terms("الليل") == terms("ليل")


def test_mixed_runs_are_split_where_the_script_changes() -> None:
    assert words("重跑gen-itgc后") == ["重跑", "gen", "itgc", "后"]
    assert words("2024年3月 Т34 Pythonом gpt4") == ["2024", "年", "3", "月", "т34", "python", "ом", "gpt4"]


def test_signs_stay_with_their_character_in_scripts_without_blanks() -> None:
    assert words("ที่นี่") == ["ที่นี่"]
    assert words("น้ำแข็ง")[0].startswith("น้")


def test_a_run_without_end_is_kept_as_its_beginning() -> None:
    assert words("x" * 10_000 + " end") == ["x" * LONGEST_WORD, "end"]
    assert words("ж" * 10_000) == ["ж" * LONGEST_WORD]


def test_emoji_symbols_and_broken_text_are_no_words() -> None:
    assert words("👩‍💻 ok — … \ud800 \x00 ½") == ["ok", "1", "2"]
    assert words("") == terms(" \n") == []


def test_ascii_text_takes_no_other_way_than_the_rest() -> None:
    text = "Don't re-run useState() at 10:30, v1.2.3 of it's_fine 4gb 'select'"
    assert words(text + " é")[:-1] == words(text)


@given(st.text())
def test_any_text_has_words_and_terms(text: str) -> None:
    found = words(text)
    assert all(0 < len(word) <= LONGEST_WORD and not any(map(str.isspace, word)) for word in found)
    assert len(terms(text)) == sum(word not in STOP_WORDS for word in found)
    assert terms(text) == terms(text)


@given(st.text(st.characters(max_codepoint=127)))
def test_the_short_way_of_ascii_gives_what_the_long_way_gives(text: str) -> None:
    folded = text.lower().replace("'s", "")
    assert [word[:LONGEST_WORD] for word in tokeniser._words_of_any_script(folded)] == words(text)


def test_threads_stem_at_once() -> None:
    expected = terms("running houses бегущие дома " * 50)
    results: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: results.append(terms("running houses бегущие дома " * 50))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8


def test_the_remembered_stems_stay_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokeniser, "_REMEMBERED_STEMS", 10)
    stems = tokeniser._Stems()
    assert [stems[f"boats{i}"] for i in range(35)] == [f"boats{i}" for i in range(35)]
    assert len(stems) <= 10


def test_short_messages_take_little_time() -> None:
    message = "We walked along the harbour on Tuesday and Tilda bought two old maps of the islands for him. " * 2
    terms(message)
    began = time.thread_time()
    for _ in range(2_000):
        terms(message)
    assert time.thread_time() - began < 2_000 / 5_000  # 20,000 a second and more; room for a busy machine


IDENTIFIERS = r"""
    useState TypeError ERR_CONN_RESET error_42 __init__ nginx.conf node.js .env ../src foo::bar --no-pager v1.2.3 10.0.1
    /etc/hosts ./run ~/.ssh C:\Users src/app/main @types/node https://example.org $HOME main() rows[0] key=value
    E0308 k8s C++ C# (useState) “nginx.conf”?
"""
PLAIN = """
    garden Garden NASA U.S. e.g. 3.5 $3.50 and/or well-known - -- -x hello. what? can't 2nd 10am 24/7 3/14/2024 12:30
    (yes) don't Tilda's 50% #1 1,000 … é
"""


@pytest.mark.parametrize("word", IDENTIFIERS.split())
def test_code_files_paths_and_versions_are_identifiers(word: str) -> None:
    assert is_identifier(word)


@pytest.mark.parametrize("word", PLAIN.split())
def test_plain_words_and_figures_are_no_identifiers(word: str) -> None:
    assert not is_identifier(word)


@needs_shared
def test_english_terms_are_those_of_the_reference() -> None:
    toks = reference("ranker").toks
    texts = [text for text in all_texts() if text.isascii() and not re.search(r"\b[a-z](?:\+\+|#)", text, re.I)]
    different = [text for text in texts if terms(text) != [term[:LONGEST_WORD] for term in toks(text)]]
    assert texts
    assert not different


@needs_shared
def test_the_stop_words_are_those_of_the_reference() -> None:
    assert reference("ranker").STOP == STOP_WORDS
