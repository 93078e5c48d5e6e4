"""What rules draw: verbatim, of the right one, since when it was told."""

from __future__ import annotations

import doctest
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.derive.facts import claim as claim_module
from recollect.derive.facts.claim import Claim, Polarity, from_plain, to_plain
from recollect.derive.facts.rules import sentences, subjects
from recollect.derive.facts.rules.draw import draw
from recollect.derive.facts.settle import settle
from recollect.record import Kind, Message, NodeId, Role
from tests.derive.facts.test_settle import SENTENCES

_JULY = datetime(2025, 7, 14, 9, tzinfo=UTC)


def said(text: str, position: int = 0, **more: object) -> Message:
    place = (NodeId(f"m{position}"), NodeId("c"))
    plain = {"role": Role.USER, "content": text, "timestamp": _JULY, "position": position}
    return Message(*place, **(plain | more))  # type: ignore[arg-type]


def drawn(text: str, *before: str) -> list[tuple[str, str, str]]:
    earlier = [said(words_, at) for at, words_ in enumerate(before)]
    return [(c.entity, c.attribute, c.value) for c in draw(said(text, len(before)), earlier)]


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("We moved to Leeds in May.", (2025, 5, 1)),
        ("We moved to Leeds in December.", (2024, 12, 1)),
        ("I have lived in York since 2015. I live in York since 2015.", (2015, 1, 1)),
        ("I moved to Leeds on 3 March 2021.", (2021, 3, 3)),
        ("I moved to Leeds yesterday.", (2025, 7, 13)),
    ],
)
def test_since_when_it_was_told(text: str, since: tuple[int, int, int]) -> None:
    (claim,) = draw(said(text))
    assert claim.since == datetime(*since, tzinfo=UTC)


def test_a_plan_ends_when_its_day_is_over() -> None:
    (claim,) = draw(said("I have a dentist appointment on 20 July at 3 pm."))
    assert (claim.category, claim.until) == ("prospective", datetime(2025, 7, 21, tzinfo=UTC))


def test_a_pronoun_means_the_only_one_it_can_mean() -> None:
    assert drawn("She is allergic to chicken.", "My dog Luna is anxious.") == [("Luna", "allergy", "chicken")]
    assert drawn("She is allergic to chicken.", "My dogs are anxious.") == []
    assert drawn("She is allergic to chicken.", "My dog Luna barks.", "And my dog Rex barks too.") == []
    assert drawn("She is 40 years old.", "My wife Ana is here.", "And my brother Tom.") == [("Ana", "age", "40")]


@pytest.mark.parametrize(
    "text", ["My late husband Bob was a doctor.", "My dog Rex died last year.", "Sad news today, my dog Rex has died."]
)
def test_who_has_died_is_known_and_is_no_more(text: str) -> None:
    (claim,) = [claim for claim in draw(said(text)) if claim.attribute in ("dog", "husband")]
    assert claim.polarity is Polarity.ENDED
    assert not any(fact.is_open for fact in settle([claim]))


def test_a_role_that_was_taken_is_kept_for_the_messages_after_it() -> None:
    assert drawn("I live in Chicago.", "Let's role-play: you are my lawyer.") == []


@pytest.mark.parametrize(
    "text",
    [
        "It's not that I'm allergic to nuts.",
        "I doubt I'm allergic to nuts.",
        "It's false that I'm allergic to nuts.",
        "It is not the case that I live in York.",
        "My vet ruled out that Luna is allergic to chicken.",
        "My doctor denies that I'm allergic to nuts.",
        "They say I have ADHD.",
        "I was diagnosed with ADHD, but it was a misdiagnosis.",
        "I'm allergic to nuts, my sister claims.",
        "I am allergic to nuts, says the label.",
        "I'm allergic to nuts, or so my mother says.",
        "I'm allergic to nuts\" she wrote.",
        "Mark lives in Rome, he said.",
        "Ich bin allergisch gegen Nüsse, sagt er.",
        "I don't drink and drive.",
        "I like neither cats nor dogs.",
        "Neither I nor my wife are vegan.",
        "I'm allergic to nuts. Just kidding!",
        "I live in York. Haha, not!",
        "I am vegan. lol jk",
        "Forget that I live in York.",
        "I take back that I live in York.",
        "I'm pretending I'm a doctor.",
        "For instance, I own a Tesla Model 3.",
        "In the song it goes I live in York.",
        "The dog of my sister is called Rex.",
        "I live in VS Code.",
        "I have ADHD-friendly tips.",
        "I have cancer as my zodiac sign.",
        "I drive a hard bargain.",
        "I sold my soul.",
    ],
)
def test_what_is_denied_doubted_or_said_by_another_is_no_claim(text: str) -> None:
    assert drawn(text) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I'm allergic to nuts, as I said.", "nuts"),
        ("I'm allergic to nuts, like I already told you.", "nuts"),
        ("Luna is allergic to nuts, the vet says.", "nuts"),
        ("I'm allergic to nuts, my wife thinks that is funny.", "nuts"),
        ("I like dogs more than cats.", "dogs"),
        ("Don't forget that I'm allergic to nuts.", "nuts"),
        ("It rains. Not!\nI'm allergic to nuts.", "nuts"),
        ("Whether it rains or not. I'm allergic to nuts.", "nuts"),
        ("My birthday is on 3 March.", "3 March"),
        ("I have asthma attacks at night.", "asthma"),
        ("Before you suggest treats: Luna is allergic to chicken.", "chicken"),
        ("As I said: Luna is allergic to chicken.", "chicken"),
    ],
)
def test_what_one_says_oneself_or_who_must_know_is_a_claim(text: str, value: str) -> None:
    assert [claim[2] for claim in drawn(text)] == [value]


@pytest.mark.parametrize("towns", [("Berlin", "York"), ("York", "Berlin"), ("Hull", "Oslo"), ("Oslo", "Hull")])
def test_what_is_said_later_in_a_sentence_is_the_later(towns: tuple[str, str]) -> None:
    claims = draw(said("I moved to {} but moved back to {}.".format(*towns)))
    assert [fact.first.value for fact in settle(claims) if fact.is_open] == [towns[1]]


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.SAID])
def test_what_nobody_said_is_no_claim(kind: Kind) -> None:
    assert draw(said("I live in York.", kind=kind)) == []


@given(st.lists(st.sampled_from([*SENTENCES, "\n", "```", "> I live in Rome.", "“I'm vegan”, he said."]), max_size=8))
def test_quotations_are_word_for_word_and_values_stand_in_them(parts: list[str]) -> None:
    message = said(" ".join(parts))
    for claim in draw(message):
        assert message.content[claim.start : claim.end] == claim.quote
        assert claim.value in claim.quote
        assert from_plain(claim.message_id, to_plain(claim)) == claim


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert all(isinstance(claim, Claim) for claim in draw(said(text)))


@pytest.mark.parametrize("module", [claim_module, subjects, sentences], ids=lambda module: module.__name__)
def test_the_examples_in_the_code_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("I'm visiting my sister this weekend.", (2025, 7, 21)),
        ("I'm travelling to Rome next week.", (2025, 7, 28)),
        ("I have a dentist appointment tomorrow.", (2025, 7, 16)),
        ("I'm flying to Oslo next month.", (2025, 9, 1)),
        ("I'm starting a new course in two weeks.", (2025, 7, 29)),
        ("I'm hosting a dinner on Friday.", (2025, 7, 19)),
        ("I'm visiting Oslo this summer.", (2025, 9, 1)),
        ("I'm planning to paint the kitchen later this year.", (2026, 1, 1)),
        ("I have a meeting with the bank in July.", (2025, 8, 1)),
    ],
)
def test_a_plan_ends_with_the_time_that_it_names(text: str, until: tuple[int, int, int]) -> None:
    """As seen from the day on which it is made, a Monday; of a month that has begun, to its end."""
    plans = [claim for claim in draw(said(text)) if claim.category == "prospective"]
    assert [claim.until for claim in plans] == [datetime(*until, tzinfo=UTC)]
    assert [claim.since for claim in plans] == [None]


def test_a_home_of_which_no_beginning_is_told_has_none() -> None:
    (stays,) = draw(said("I live in York."))
    (moved,) = draw(said("In 2019 I moved to York."))
    (lasts,) = draw(said("I live in York since 2019."))
    assert (stays.since, stays.event) == (None, False)
    assert (moved.since, moved.event) == (datetime(2019, 1, 1, tzinfo=UTC), True)
    assert (lasts.since, lasts.event) == (datetime(2019, 1, 1, tzinfo=UTC), False)


def test_a_message_of_nothing_but_line_ends_is_read_at_once() -> None:
    begun = time.process_time()
    assert drawn("I like " + "\n" * 200_000 + "x") == []
    assert time.process_time() - begun < 5


def test_a_home_has_the_name_of_a_place() -> None:
    for text in ("I moved into a new flat.", "We live in a small village.", "I live in a big house in the mountains."):
        assert drawn(text) == []
    assert drawn("I live in a small village near Lyon.") == [("user", "home", "small village near Lyon")]


def test_a_name_in_a_text_that_is_handed_over_is_not_the_users() -> None:
    for text in (
        "Here is the mail I got:\n\nHello, my name is Thomas Berg and I am writing about the flat.",
        "Can you check the grammar of this: my name is Kurt and I goes to school.",
    ):
        assert [claim for claim in drawn(text) if claim[1] == "name"] == []
    for text in ("Hi, my name is Marta.", "About me:\nMy name is Marta."):
        assert drawn(text) == [("user", "name", "Marta")]
