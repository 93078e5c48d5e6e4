"""A question taken apart by its shape."""

from __future__ import annotations

import pytest

from recollect.research.plan import by_rules


@pytest.mark.parametrize(
    ("question", "searches"),
    [
        (
            "compare my database design decisions with my deployment strategy",
            ["database design decisions", "deployment strategy"],
        ),
        (
            "How does the database design compare to the deployment strategy?",
            ["database design", "deployment strategy"],
        ),
        ("How do my views on sourdough differ from my views on rye?", ["views on sourdough", "views on rye"]),
        ("database vs deployment", ["database", "deployment"]),
        ("React vs Next.js for the shop", ["React for the shop", "Next.js for the shop"]),
        ("what did I decide about salt and pepper?", ["salt", "pepper"]),
        ("compare running in 2024 and 2025", ["running in 2024", "running 2025"]),
        ("the cost of the train, the car and the plane", ["cost of the train", "car", "plane"]),
    ],
)
def test_what_is_compared_or_listed_is_searched_apart_and_together(question: str, searches: list[str]) -> None:
    plan = by_rules(question)
    assert [query.text for query in plan.queries if not query.joins] == searches
    assert len(plan.queries[-1].joins) == len(searches)


@pytest.mark.parametrize(
    "question",
    [
        "summarize what I learned about woodworking",
        "What trips did we take to Norway, and what did they cost?",
        "What is the difference between the old job queue and the new one?",
        "what do I know about Kubernetes with ingress",
    ],
)
def test_one_thing_is_not_taken_apart(question: str) -> None:
    plan = by_rules(question)
    assert len(plan.queries) == 1
    assert plan.title.lower() == question.lower().rstrip()


def test_the_conversations_that_a_question_finds_are_parts_of_it() -> None:
    plan = by_rules(
        "summarize what I learned about woodworking", ["Woodworking", "A shelf", "Sharpening", "Oil", "Glue"]
    )
    assert [query.text for query in plan.queries] == [
        "woodworking",
        "woodworking: A shelf",
        "woodworking: Sharpening",
        "woodworking: Oil",
    ]


@pytest.mark.parametrize("question", ["?", "and", "compare", "compare and with", "vs", "日本語と英語", "a,b,c,d,e,f,g"])
def test_whatever_is_asked_gives_a_plan(question: str) -> None:
    plan = by_rules(question)
    assert 1 <= len(plan.queries) <= 4
    assert all(query.text.strip() for query in plan.queries)
