"""Names in texts: what is one and what is none."""

from __future__ import annotations

import pytest

from recollect.derive.entities.extract import mentions
from recollect.derive.entities.naming import folded, group


def names(text: str) -> list[str]:
    return [mention.name for mention in mentions(text)]


def types(text: str) -> dict[str, str]:
    return {mention.name: mention.type for mention in mentions(text)}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I moved from React to Next.js last week.", ["React", "Next.js"]),
        ("Yesterday Maria Lopez told me about Lisbon.", ["Maria Lopez", "Lisbon"]),
        ("We saw the Great Barrier Reef and the University of Porto.", ["Great Barrier Reef", "University of Porto"]),
        ("The `orders_archive` calls getUserName in parse_config.", ["orders_archive", "getUserName", "parse_config"]),
        ("Thanks, Caroline! See you on Monday.", ["Caroline"]),
        ("Dr. Salgado's clinic called.", ["Dr. Salgado"]),
        ("I love \"Becoming Nicole\" by Amy Ellis Nutt.", ["Becoming Nicole", "Amy Ellis Nutt"]),
        ("Our GDPR audit at ACME Corp went well #launchday", ["GDPR", "ACME Corp", "launchday"]),
        ("we run postgres and kubernetes in production", ["postgres", "kubernetes"]),
        ("我用 PostgreSQL 和 Redis，张老师推荐的《三体》很好。", ["PostgreSQL", "Redis", "张老师", "三体"]),
        ("Мы с Анной Петровой летим в Лиссабон.", ["Анной Петровой", "Лиссабон"]),
        ("I visited Tel Aviv, São Paulo and Malmö.", ["Tel Aviv", "São Paulo", "Malmö"]),
        ("Tell me about Project X", ["Project X"]),
        ("Hello!\nTell me about Project Titan", ["Project Titan"]),
        ("Tell me about Project X. Then go on.", ["Project X"]),
        ("Project X uses Kubernetes", ["Project X", "Kubernetes"]),
        ("What about Redis", ["Redis"]),
        ("We asked Summers and met in Mondays Cafe", ["Summers", "Mondays Cafe"]),
    ],
)  # fmt: skip
def test_these_are_names(text: str, found: list[str]) -> None:
    assert sorted(names(text)) == sorted(found)


@pytest.mark.parametrize(
    "text",
    [
        "Great question! Here are some tips. Consider the following. Optimize early.",
        "# Set Up Your Environment\n\n## Key Takeaways\n",
        "1. **Research Thoroughly**: use what is reputable.\n2. **Stay Focused**: one thing at a time.",
        "On Monday in March, or at Christmas? I think so. OK.",
        "The museums are free on Sundays, and closed on Mondays.",
        "```python\nclass Foo(Bar):\n    MAX_SIZE = 3\n```",
        "See https://Example.com/Some/Path or mail Bob.Smith@Example.com",
        "Good Morning! Happy Birthday! Thank You So Much!",
        "NO WAY, THIS IS SO GOOD",
        "Steps For Your Garden Project\nwater it daily",
        "Project Management is hard",
        "A Poem About Love",
        "It's Be4, then Bg6 and Db or G7; see A1.",
        "今日は日本語だけで話したいです。週末に陶芸教室に行きました。",
        "",
    ],
)
def test_these_are_none(text: str) -> None:
    assert names(text) == []


def test_types_are_told_by_lists_form_and_words_around() -> None:
    assert types("My sister Ana works at Feedwell and flew to Ericeira with Mr. Wang.") == {
        "Ana": "person", "Feedwell": "organisation", "Ericeira": "place", "Mr. Wang": "person",
    }  # fmt: skip
    assert types("We deploy to the Quarry cluster with the Zorb library, in Project Titan.") == {
        "Quarry": "technology", "Zorb": "technology", "Project Titan": "project",
    }  # fmt: skip


def test_spellings_of_one_name_have_one_group() -> None:
    for one, other in (
        ("Next.js", "NextJS"),
        ("Postgres", "PostgreSQL"),
        ("Dr. Maria Lopez", "Maria Lopez"),
        ("GPT-4", "GPT 4"),
        ("Lübeck", "LUBECK"),
        ("Feedwell Inc.", "feedwell"),
    ):
        assert group(folded(one)) == group(folded(other)), (one, other)
    for one, other in (("Mr. Wang", "Mrs. Wang"), ("C", "C++"), ("Java", "JavaScript"), ("Maria Lopez", "Maria")):
        assert group(folded(one)) != group(folded(other)), (one, other)


def test_a_text_of_any_kind_does_no_harm() -> None:
    for text in (
        "A" * 60_000,
        "Ab " * 20_000,
        "*" * 9_999,
        "\ud800 Ab",
        "(" * 5_000 + "Ann",
        "“" * 3_000,
        "a_b" * 9_000,
    ):
        mentions(text)
