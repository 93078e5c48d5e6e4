from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.language import LOOKED_AT, Flag, _signs, flags, is_english, is_sentence
from tests.reference import all_texts, needs_shared, reference


@pytest.mark.parametrize(
    "text",
    [
        "What did I say about the boat?",
        "What did Zoë say at the café",
        "what does 重跑 mean here",
        "nginx 502",
        "useState",
        "la la land",
        "vitamin c or d",
        "",
    ],
)
def test_english_and_typed_words_without_evidence_are_english(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Wo habe ich mein Rad gelassen?",
        "où est ma clé",
        "donde esta el coche",
        "Che ore sono",
        "Qual o nome do meu gato",
        "Hvor er min cykel",
        "waar is mijn fiets",
        "Кто звонил?",
        "自転車はどこですか",
        "أين دراجتي؟",
        "café Zürich",
    ],
)
def test_other_languages_are_not_english(text: str) -> None:
    assert not is_english(text)


@pytest.mark.parametrize("text", ["when did we move", "Boat repair.", "Wo ist mein Rad", "自転車はどこ？", "my dog"])
def test_sentences_have_small_words_or_an_end(text: str) -> None:
    assert is_sentence(text)


@pytest.mark.parametrize("text", ["nginx 502", "nginx 502 on restart", "docker compose volume", "重跑", ""])
def test_typed_words_are_no_sentence(text: str) -> None:
    assert not is_sentence(text)


@given(st.text())
def test_any_text_can_be_judged(text: str) -> None:
    assert is_english(text) in (True, False)
    assert is_sentence(text) in (True, False)


@needs_shared
def test_english_conversations_are_english() -> None:
    assert not [text for text in all_texts() if not is_english(text)]


@pytest.mark.parametrize("text", ["Is it far?", "Really?  \n", "远吗？", "هل هو بعيد؟"])
def test_a_question_ends_with_a_question_mark_of_any_script(text: str) -> None:
    assert Flag.QUESTION in flags(text)


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("we sailed last summer", Flag.TIME),
        ("it was built in 1987", Flag.TIME),
        ("12 days later", Flag.TIME),
        ("in May we rest", Flag.TIME),
        ("a dozen eggs", Flag.NUMBER),
        ("room 7", Flag.NUMBER),
        ("then we drove to Lisbon", Flag.PLACE),
        ("Always answer in French.", Flag.INSTRUCTION),
        ("From now on, be brief", Flag.INSTRUCTION),
        ("Whenever I ask for code, add tests", Flag.INSTRUCTION),
        ("I'd rather walk", Flag.PREFERENCE),
        ("I usually avoid sugar", Flag.PREFERENCE),
        ("tea instead of coffee", Flag.PREFERENCE),
        ("I've never been there", Flag.NEVER),
        ("it has not yet arrived", Flag.NEVER),
    ],
)
def test_what_a_message_has_is_flagged(text: str, flag: Flag) -> None:
    assert flag in flags(text)


@pytest.mark.parametrize(
    "text",
    ["", "?!", "it may rain", "the someone", "Lisbon", "it is always so", "I like it", "whenever", "the sincerest man"],
)
def test_what_a_message_has_not_is_not_flagged(text: str) -> None:
    assert flags(text) == Flag(0)


def test_the_stored_values_never_change() -> None:
    assert {flag.name: flag.value for flag in Flag} == {
        "QUESTION": 1,
        "TIME": 2,
        "NUMBER": 4,
        "PLACE": 8,
        "INSTRUCTION": 16,
        "PREFERENCE": 32,
        "NEVER": 64,
        "DATE": 128,
        "SECRET": 256,
    }


@pytest.mark.parametrize(
    "text",
    ["June-10-2024", "1:25 pm on 9 July, 2023", "2024-05-01T10:00:00Z", "Monday 5th of May", "Sun 3 Mar", "9.7.23"],
)
def test_a_title_that_is_but_a_date_is_known(text: str) -> None:
    assert Flag.DATE in flags(text)


@pytest.mark.parametrize("text", ["Porto in May 2024", "May", "502", "New chat", "Sunny day 2", "Marching 20 miles"])
def test_a_title_that_says_more_than_when_is_no_date(text: str) -> None:
    assert Flag.DATE not in flags(text)


def test_of_long_texts_the_beginning_and_the_end_count() -> None:
    filler = "lorem ipsum " * LOOKED_AT
    assert flags(f"Always be brief. {filler} tell us?") == Flag.INSTRUCTION | Flag.QUESTION
    assert flags(f"{filler} yesterday {filler}") == Flag(0)


def test_fifty_megabytes_take_no_longer_than_a_page() -> None:
    text = "i would really " * 3_500_000
    began = time.thread_time()
    flags(text)
    assert time.thread_time() - began < 1


@pytest.mark.parametrize(
    "text", ["4111111111111111 is my card", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 what", "am.pm." * 9 + "0000?x"]
)
def test_what_begins_like_a_date_is_soon_told_from_one(text: str) -> None:
    began = time.thread_time()
    assert Flag.DATE not in flags(text)
    assert time.thread_time() - began < 0.05


@given(st.sampled_from([(pattern, cues) for _, pattern, cues in _signs() if cues]), st.data())
def test_whatever_a_pattern_finds_holds_one_of_its_cues(sign: tuple[re.Pattern[str], tuple[str, ...]], data) -> None:
    pattern, cues = sign
    found = data.draw(st.from_regex(pattern, alphabet=st.characters(max_codepoint=0x7E)))
    assert any(cue in found for cue in cues)


@needs_shared
def test_flags_are_those_of_the_reference() -> None:
    ranker, qa = reference("ranker"), reference("qa")
    patterns = {
        Flag.TIME: ranker.TIME,
        Flag.NUMBER: ranker.NUM,
        Flag.PLACE: ranker.CAP,
        Flag.INSTRUCTION: qa.INSTR,
        Flag.PREFERENCE: qa.PREF,
        Flag.NEVER: qa.NEVER,
    }

    def expected(text: str) -> Flag:
        found = Flag.QUESTION if text.rstrip().endswith("?") else Flag(0)
        for flag, pattern in patterns.items():
            found |= flag if pattern.search(text) else Flag(0)
        return found

    texts = [text for text in all_texts() if len(text) <= 2 * LOOKED_AT]
    assert texts
    assert not [text for text in texts if flags(text) != expected(text)]
