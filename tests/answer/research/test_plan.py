"""A question taken apart by its shape."""

from __future__ import annotations

import pytest

from recollect.answer.intents import concrete
from recollect.answer.research.plan import plan_by_rules
from recollect.record import Conversation, NodeId


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
        ("compare the costs in Rome with those in Paris", ["costs in Rome", "costs in Paris"]),
        ("the speech in English and in German", ["speech in English", "speech in German"]),
        ("the wedding: speech, food", ["speech the wedding", "food the wedding"]),
        ("the cost of the train, the car and the plane", ["cost of the train", "car", "plane"]),
    ],
)
def test_what_is_compared_or_listed_is_searched_apart_and_together(question: str, searches: list[str]) -> None:
    plan = plan_by_rules(question)
    assert [query.text for query in plan.queries if not query.joins] == searches
    assert len(plan.queries[-1].joins) == len(searches)


@pytest.mark.parametrize(
    "question",
    [
        "summarize what I learned about woodworking",
        "overview of incidents and what we changed",
        "What trips did we take to Norway, and what did they cost?",
        "What is the difference between the old job queue and the new one?",
        "what do I know about Kubernetes with ingress",
    ],
)
def test_one_thing_is_not_taken_apart(question: str) -> None:
    plan = plan_by_rules(question)
    assert len(plan.queries) == 1
    assert plan.title.lower() == question.lower().rstrip()


def test_the_conversations_that_a_question_finds_are_parts_of_it() -> None:
    found = [Conversation(NodeId(title), "", title=title) for title in ("A shelf", "Oil", "Glue", "Sharpening")]
    plan = plan_by_rules("summarize what I learned about woodworking", found)
    assert [(query.text, query.heading, query.inside) for query in plan.queries] == [
        ("woodworking", "A shelf", "A shelf"),
        ("woodworking", "Oil", "Oil"),
        ("woodworking", "Glue", "Glue"),
        ("woodworking", "Elsewhere", None),
    ]
    assert plan.queries[-1].besides == ("A shelf", "Oil", "Glue")


def test_one_conversation_is_no_part_of_its_own() -> None:
    found = [Conversation(NodeId(one), "", title="A shelf") for one in "12"]
    assert len(plan_by_rules("summarize what I learned about woodworking", found).queries) == 1


@pytest.mark.parametrize(
    ("text", "looked_for"),
    [
        ("database design decisions", "database design"),
        ("my approach to testing", "testing"),
        ("deployment strategy", "deployment"),
        ("decisions", "decisions"),
    ],
)
def test_words_that_only_name_the_kind_of_thing_are_not_looked_for(text: str, looked_for: str) -> None:
    assert concrete(text) == looked_for


@pytest.mark.parametrize("question", ["?", "and", "compare", "compare and with", "vs", "日本語と英語", "a,b,c,d,e,f,g"])
def test_whatever_is_asked_gives_a_plan(question: str) -> None:
    plan = plan_by_rules(question)
    assert 1 <= len(plan.queries) <= 4
    assert all(query.text.strip() for query in plan.queries)
