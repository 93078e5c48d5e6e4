from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.language import is_english, is_sentence
from tests.reference import all_texts, needs_shared


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
