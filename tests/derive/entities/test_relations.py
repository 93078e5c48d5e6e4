"""What is said of names, by rules: plain statements, and nothing that was not said."""

from __future__ import annotations

import pytest

from recollect.derive.entities.extract import mentions
from recollect.derive.entities.relations import relations


def said(text: str, me: str | None = "you") -> list[str]:
    return [f"{a.source} {a.relation} {a.target}" for a in relations(text, mentions(text), me)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We use PostgreSQL, Redis and Kafka.", ["you USES PostgreSQL", "you USES Redis", "you USES Kafka"]),
        ("Tidepool runs on FastAPI.", ["Tidepool USES FastAPI"]),
        ("We chose Next.js over React.", ["you CHOSE Next.js", "you REJECTED React", "Next.js REPLACES React"]),
        ("I migrated everything from MongoDB to PostgreSQL.", ["PostgreSQL REPLACES MongoDB"]),
        ("Next.js improves SEO.", ["Next.js IMPROVES SEO"]),
        ("PgBouncer improves latency a lot.", ["PgBouncer IMPROVES latency"]),
        ("PostgreSQL is a relational database.", ["PostgreSQL IS_A database"]),
        ("Hysan Place is part of Causeway Bay.", ["Hysan Place PART_OF Causeway Bay"]),
        ("OK decision: Next.js 14 with the app router.", ["you CHOSE Next.js 14"]),
        ("Yes, I want that. So JWT it is.", ["you CHOSE JWT"]),
        ("My dog Luna is a labrador.", ["Luna IS_A labrador"]),
        ("Ruby on Rails was created by nobody, but Linus Torvalds created Linux.", ["Linus Torvalds CREATED Linux"]),
        ("Ask a Large Language Model (LLM) first.", ["LLM SAME_AS Large Language Model"]),
    ],
)  # fmt: skip
def test_plain_statements_are_read(text: str, found: list[str]) -> None:
    assert said(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "Do we use PostgreSQL?",
        "We don't use PostgreSQL.",
        "Maybe we should use Redis.",
        "If Tidepool runs on FastAPI, it scales.",
        "We might have chosen Next.js over React.",
        "I want to live in Lisbon.",
        "I dropped Anna off at school.",
        "I went to the LGBTQ support group.",
        "Let's use PostgreSQL.",
    ],
)
def test_questions_plans_and_denials_are_not(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Maria Lopez works at Feedwell.",
        "Ana Silva lives in Porto.",
        "I live in Ericeira now.",
        "My sister Ana came. Tom is my brother.",
        "Anders is married to Merle.",
        "I love Flexbox.",
        "I visited Rome.",
        "Ana Silva knows Tom Berg.",
        "Maria Lopez is a nurse.",
        "Maria Lopez uses PostgreSQL.",
        "Maria Lopez is part of Feedwell.",
        "I switched from Shanghai to Hangzhou.",
        "I moved from Google to Microsoft.",
    ],
)
def test_of_people_places_and_work_tell_the_facts(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(
    "text", ["We used PostgreSQL.", "Tidepool was part of Feedwell.", "We had used Redis.", "Next.js was a framework."]
)
def test_the_past_is_no_present_relation(text: str) -> None:
    assert said(text) == []


def test_an_assistant_says_nothing_of_itself() -> None:
    assert said("I use PostgreSQL.", None) == []
    assert said("I use PostgreSQL.", "Ana") == ["Ana USES PostgreSQL"]
