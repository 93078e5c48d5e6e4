"""The long-term part: of the namespace, the same in each conversation, and something of every age."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from recollect.context.result import Context
from recollect.context.summaries import told
from recollect.derive.summaries.nodes import COVERS, L1, L2, PERIOD
from recollect.memory import Memory
from recollect.record import Edge, Node, NodeId, NodeKind, Role
from recollect.store import Change

START = datetime(2024, 1, 3, 12, tzinfo=UTC)
LUNA = {
    "a dog": ["My dog is called Luna. Luna is allergic to chicken."],
    "said of nobody": ["Luna is allergic to chicken."],
    "a walk": ["I walked Luna in the park today. Luna is allergic to chicken."],
    "introduced": ["Meet Luna, she is a beagle.", "Oh!", "Luna is allergic to chicken."],
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Empty at first."""
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        yield memory


def talk(
    memory: Memory,
    lines: list[str],
    conversation: str = "talk",
    begin: datetime = START,
    step: timedelta = timedelta(minutes=1),
) -> datetime:
    """Turns of a conversation; returns when it would go on."""
    for place, line in enumerate(lines):
        role = "assistant" if place % 2 else "user"
        memory.store_message(line, Role(role), conversation_id=conversation, timestamp=begin + place * step)
    return begin + len(lines) * step


def part(context: Context, name: str) -> str:
    found = context.part(name)
    return found.text if found else ""


def garden(count: int) -> list[str]:
    return [f"The bed with number {n} in the garden gets {n % 7} roses and some sand." for n in range(count)]


# --- facts ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("way", LUNA)
@pytest.mark.parametrize("budget", [1_000, 4_000, 10_000])
def test_what_is_vital_is_there_whoever_it_is_about_and_however_long_ago(memory: Memory, way: str, budget: int) -> None:
    """D1: nobody has said who Luna is."""
    talk(memory, [*LUNA[way], "Noted.", *garden(200)])
    memory.upkeep.consolidate()
    for conversation in ("talk", None):
        context = memory.prepare_context("Which treats can I buy for training?", conversation, budget)
        assert "allergic to chicken" in part(context, "facts")


def test_an_allergy_of_somebody_who_is_hardly_ever_mentioned_is_known_everywhere(memory: Memory) -> None:
    later = talk(memory, ["Boris is allergic to wasps.", "Noted."], "first")
    talk(memory, garden(40), "second", later)
    memory.upkeep.consolidate()
    for conversation in ("first", "second", None):
        assert "wasps" in part(memory.prepare_context("Hello", conversation), "facts")


@pytest.mark.parametrize("budget", [1_000, 2_000, 10_000])
def test_an_allergy_stays_when_another_conversation_begins(memory: Memory, budget: int) -> None:
    """Names that begin a sentence, or have "'s" behind them, count for nothing here."""
    lines = ["Luna is allergic to chicken.", "Luna seems anxious again.", "Luna had diarrhoea.",
             "Luna's been anxious since the move.", "Luna ate her dinner.", "I took Luna for a walk."]  # fmt: skip
    later = talk(memory, lines)
    memory.upkeep.consolidate()
    assert "chicken" in part(memory.prepare_context("hello", budget=budget), "facts")
    later = talk(memory, ["What is the weather?"], "new", later)
    memory.upkeep.consolidate()
    assert "chicken" in part(memory.prepare_context("hello", budget=budget), "facts")
    for number in range(160):
        later = talk(memory, garden(2), f"other {number}", later)
    memory.upkeep.consolidate()
    context = memory.prepare_context("What snacks shall I buy for her?", budget=budget)
    assert "chicken" in part(context, "facts")


def test_of_more_allergies_than_fit_those_stand_that_concern_the_user_most(memory: Memory) -> None:
    later = talk(memory, ["I'm allergic to penicillin.", "Noted.", "My son is called Tom. Tom is allergic to nuts."])
    later = talk(memory, ["Yusuf is allergic to wasps.", "I saw Yusuf.", "With Yusuf?"], "often", later)
    names = ["Ada", "Bela", "Cora", "Dora", "Emil", "Finn", "Gina", "Hugo", "Ida", "Jan", "Kurt", "Lena", "Max", "Nora"]
    later = talk(memory, [f"{name} is allergic to pollen." for name in names * 2], "others", later)
    later = talk(memory, ["Ravi is allergic to latex.", "Noted."], "here", later - timedelta(days=9))
    memory.store_fact("The user's name is Robert.", "name", value="Robert")
    memory.upkeep.consolidate()
    facts = part(memory.prepare_context("Hello", "here", 1_200), "facts")
    assert all(word in facts for word in ("penicillin", "nuts", "latex", "Robert"))
    assert 0 < facts.count("pollen") < len(names)


def test_a_fact_says_who_somebody_is(memory: Memory) -> None:
    """I9."""
    talk(memory, ["My wife Inês has coeliac disease.", "Noted.", "My daughter is called Mia. I live in Porto."])
    memory.store_fact("Pieter is ill with Parkinson's.", "illness", entity="Pieter", value="Parkinson's")
    memory.store_fact("Pieter is my cousin.", "relation", entity="Pieter", value="cousin")
    memory.upkeep.consolidate()
    facts = part(memory.prepare_context("Good morning!"), "facts")
    assert "Inês (the user's wife) has coeliac disease" in facts
    assert "Pieter (cousin) is ill" in facts
    assert "The user's wife is Inês" not in facts
    assert "Mia" in facts
    assert "Porto" in facts


def test_a_fact_of_what_somebody_has_says_who_that_is(memory: Memory) -> None:
    memory.store_message("My dog is called Luna. Luna takes trazodone 50 mg daily.")
    memory.upkeep.consolidate()
    facts = part(memory.prepare_context("Good morning!"), "facts")
    assert "- Luna, the user's dog: dose of trazodone 50 mg" in facts
    assert "- Luna (the user's dog) takes trazodone" in facts


def test_who_the_user_is_stands_before_what_was_said_since(memory: Memory) -> None:
    """I9: name, family, home, health first."""
    later = talk(
        memory,
        ["My name is Robert. I live in Porto. I'm allergic to penicillin.", "Hello.", "My daughter is called Mia."],
    )
    likes = [f"I like {word}." for word in ("tea", "plums", "jazz", "chess", "rain", "ferns", "owls", "maps") * 3]
    talk(memory, likes, "other", later)
    memory.store_fact("The kitchen may cost 9,000 euros.", "budget", entity="kitchen", value="9000 euros")
    memory.upkeep.consolidate()
    lines = part(memory.prepare_context("Good morning!", budget=1_200), "facts").splitlines()[1:]
    found = [next(place for place, line in enumerate(lines) if word in line) for word in
             ("penicillin", "Robert", "Mia", "Porto", "kitchen")]  # fmt: skip
    assert found == [0, 1, 2, 3, 4]


def test_what_has_passed_is_not_there(memory: Memory) -> None:
    """D14."""
    now = datetime.now(UTC)
    long_ago, soon = now - timedelta(days=400), now + timedelta(days=20)
    memory.store_fact("The claim closes in June.", "deadline", entity="claim", value="2024-06-30", said_at=long_ago)
    memory.store_fact("The form is due.", "due", entity="form", value=f"{soon:%Y-%m-%d}", said_at=long_ago)
    memory.store_fact("The user has an examination tomorrow.", "plan", value="examination", said_at=long_ago)
    memory.store_fact("The user wants to paint the boat.", "plan", value="paint the boat", said_at=now)
    memory.store_fact("The user lives in Ghent.", "home", value="Ghent", said_at=long_ago)
    memory.store_fact("The user lives in Delft.", "home", value="Delft", said_at=now - timedelta(days=3))
    facts = part(memory.prepare_context("Good morning!"), "facts")
    assert all(told in facts for told in ("form", "boat", "Delft"))
    assert not any(told in facts for told in ("claim", "examination", "Ghent"))


# --- summaries -----------------------------------------------------------------------------------------------------
def test_a_new_conversation_begins_with_what_the_others_came_down_to_and_keeps_it(memory: Memory) -> None:
    """D2."""
    later = talk(memory, garden(160), "old")
    memory.upkeep.consolidate()
    first = part(memory.prepare_context("Hello"), "summaries")
    assert "roses" in first
    talk(memory, ["Hello", "Good morning."], "new", later)
    for turn in range(3):
        context = memory.prepare_context("How are you?", "new")
        assert "roses" in part(context, "summaries")
        later = talk(memory, [f"Fine {turn}", "Good."], "new", later + timedelta(minutes=5))
    assert memory.prepare_context("Hi", "new").messages[0] == memory.prepare_context("Hello?", "new").messages[0]


def test_what_tells_of_the_newest_messages_alone_is_left_out(memory: Memory) -> None:
    said = [memory.store_message(line, conversation_id="talk", timestamp=START) for line in garden(4)]
    lower = replace(summary(L1, "user: Roses."), id=NodeId("lower"), valid_from=START, valid_to=START)
    upper = replace(lower, id=NodeId("upper"), key=L2, text="Roses, always.")
    edges = [Edge(upper.id, COVERS, lower.id), *(Edge(lower.id, COVERS, NodeId(message.id)) for message in said)]
    memory.handle.space.write(Change(put=[lower, upper], edges=edges))
    assert "summaries" not in [p.name for p in memory.prepare_context("Go on", "talk").parts]
    talk(memory, ["Hello"], "new", START + timedelta(days=1))
    assert "Roses" in part(memory.prepare_context("Go on", "new"), "summaries")


@pytest.mark.parametrize("budget", [4_000, 10_000])
def test_detail_fades_with_age_and_nothing_falls_off(memory: Memory, budget: int) -> None:
    """D3: 800 messages from January to May."""
    topics = ["beehives", "violins", "saddles", "kayaks", "ovens"]
    for month, topic in enumerate(topics, 1):
        lines = [f"The {topic} with number {n} need {n % 9} new screws, and {n % 5} nails." for n in range(160)]
        talk(memory, lines, "talk", datetime(2024, month, 2, 9, tzinfo=UTC), timedelta(hours=4))
    memory.upkeep.consolidate()
    for conversation in ("talk", None):
        context = memory.prepare_context("Good morning!", conversation, budget)
        summaries = context.part("summaries")
        assert summaries is not None
        assert all(topic in summaries.text for topic in topics)
        share = [summaries.text.count(topic) for topic in topics]
        assert share[4] > share[0]
        assert sum(p.tokens for p in context.parts if p.name in ("facts", "summaries")) <= 0.15 * budget


def summary(kind: str, text: str, **parts: object) -> Node:
    return Node(NodeId("one"), NodeKind.SUMMARY, key=kind, text=text, state="live", body={"parts": parts})


def test_what_is_exact_comes_before_the_mood() -> None:
    """D4."""
    node = summary(
        L1,
        "user: The boat leaks.\nassistant: Caulk it.",
        themes=["boat"],
        concerns=["It may sink."],
        emotional_state="worried: “It may sink.”",
        actions=[{"what": "Caulk the keel first", "by": "assistant", "state": "proposed"}],
        specifics=["The pump gives 40 litres a minute."],
    )
    whole = told(node, 200)
    places = [whole.index(word) for word in ("boat leaks", "40 litres", "keel", "may sink", "worried")]
    assert places == sorted(places)
    assert "worried" not in told(node, 45)
    assert "40 litres" in told(node, 24)
    assert told(node, 3) == ""


def test_a_summary_that_does_not_fit_is_told_in_whole_sentences_and_what_was_tried_first() -> None:
    first = "user: She howls when I leave."
    text = f"{first} She chewed the door frame, and our neighbours complained twice.\nuser: It rains.\nuser: It snows."
    cut = told(summary(L1, text), 12)
    assert cut == first
    tried = [{"what": "A diffuser", "outcome": "no difference"}]
    cut = told(summary(L1, text, tried=tried, specifics=["She weighs 18 kg."]), 26)
    assert cut == f"{first}\nTried: A diffuser: no difference"
    assert told(summary(L1, f"user: {'very ' * 60}long."), 40) == ""


def test_parts_that_a_model_wrote_are_told_whatever_their_shape() -> None:
    node = summary(L2, "Boats.", specifics=[{"what": "pump", "now": "40 l"}, 7, ""], progressions="Slow.", actions=None)
    assert told(node, 100) == "Boats.\nExactly: pump: 40 l; 7\nHow it went on: Slow."


def test_summaries_of_no_conversation_are_told_in_each(memory: Memory) -> None:
    later = talk(memory, ["Hello", "Good morning."])
    node = Node(
        NodeId("l1-of-several"), NodeKind.SUMMARY, key=L1, text="user: The boat leaks.", state="live",
        valid_from=START - timedelta(days=3), valid_to=START - timedelta(days=2), body={"block": 1, "parts": {}},
    )  # fmt: skip
    month = Node(NodeId("month"), NodeKind.SUMMARY, key=PERIOD, text="Something.", state="live")
    memory.handle.space.write(Change(put=[node, month], edges=[Edge(node.id, COVERS, NodeId("gone"), {"place": 0})]))
    assert "boat leaks" in part(memory.prepare_context("Hi", "talk"), "summaries")
    talk(memory, ["And you?", "Fine."], "new", later)
    assert "boat leaks" in part(memory.prepare_context("Hi", "new"), "summaries")


def test_the_beginning_stays_to_the_byte_however_long_the_text_is(memory: Memory) -> None:
    talk(memory, [*garden(160), "My name is Robert."])
    memory.upkeep.consolidate()
    short, long = (memory.prepare_context(text, "talk", 2_000) for text in ("Hi", "roses " * 150))
    assert short.messages[:-1] == long.messages[:-1]
