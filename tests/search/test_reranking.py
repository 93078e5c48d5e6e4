"""A re-ranker in search and in chat: its order counts, and where it fails the results are there all the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import recollect
from recollect.errors import InvalidInput, ModelError
from recollect.memory import Memory
from recollect.search.weights import RERANK_POOL
from tests.models.rerank.cross_encoder import write_cross_encoder
from tests.models.rerank.rerank_server import rerank_server

TALKS = {
    "Harbour": ["The harbour ferry leaves at nine", "The harbour ferry is painted green", "The harbour has a crane"],
    "Trains": ["The night train to Vienna was late", "Then take the ferry from the harbour"],
    "Filler": [f"Note {i}: nothing but the weather and the garden" for i in range(60)],
}


class Prefers:
    """A re-ranker that likes one text."""

    name = "prefers"

    def __init__(self, wanted: str) -> None:
        self.wanted, self.asked = wanted, list[tuple[str, list[str]]]()

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        self.asked.append((question, list(texts)))
        return [float(self.wanted in text) for text in texts]


class Broken:
    name = "broken"

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        raise ModelError("The server is gone.", hint="Start it.")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rerank") / "memory.db"
    with recollect.open(path) as memory:
        for title, texts in TALKS.items():
            conversation = None
            for i, text in enumerate(texts):
                stored = memory.store_message(
                    text, "assistant" if i % 2 else "user", conversation_id=conversation, title=title
                )
                conversation = stored.conversation_id
        memory.store_message("word " * 5_000 + "the harbour master sits here " + "word " * 5_000, title="A long text")
    return path


@pytest.fixture
def opened(store: Path) -> Iterator[Callable[[object], Memory]]:
    memories: list[Memory] = []

    def opening(reranker: object) -> Memory:
        memories.append(recollect.open(store, reranker=reranker))  # type: ignore[arg-type]
        return memories[-1]

    yield opening
    for memory in memories:
        memory.close()


def texts(memory: Memory, query: str, **options: object) -> list[str]:
    found = memory.search(query, group_by="message", **options)  # type: ignore[arg-type]
    return [hit.best.message.content for hit in found]


def test_its_order_counts_in_both_forms_of_results(opened: Callable[[object], Memory]) -> None:
    plain = texts(opened(None), "harbour ferry")
    assert "green" not in plain[0]
    memory = opened(Prefers("green"))
    found = memory.search("harbour ferry", group_by="message")
    assert "green" in found[0].best.message.content
    assert "re-ranker" in found.signals
    assert found[0].best.why.terms["re-ranker"] > 0
    assert math.isclose(sum(found[0].best.why.terms.values()), found[0].score, abs_tol=1e-4)
    assert sorted(hit.best.message.content for hit in found) == sorted(plain)
    assert "green" in memory.search("harbour ferry")[0].best.message.content


def test_it_is_asked_once_with_few_texts(opened: Callable[[object], Memory]) -> None:
    reranker = Prefers("green")
    assert texts(opened(reranker), "What did the notes say about the weather?")
    ((question, shown),) = reranker.asked
    assert question == "What did the notes say about the weather?"
    assert len(shown) == RERANK_POOL


def test_of_a_long_message_it_reads_the_part_that_matters(opened: Callable[[object], Memory]) -> None:
    reranker = Prefers("green")
    assert texts(opened(reranker), "Who is the harbour master?")
    ((_, shown),) = reranker.asked
    assert any("harbour master" in text for text in shown)
    assert max(map(len, shown)) <= 1_200


def test_where_it_fails_the_search_answers_and_says_so(opened: Callable[[object], Memory]) -> None:
    found = opened(Broken()).search("harbour ferry")
    plain = opened(None).search("harbour ferry")
    assert [hit.score for hit in found] == [hit.score for hit in plain]
    assert found.notes == ("Not re-ranked: The server is gone. Start it.",)
    assert "re-ranker" not in found.signals
    later = opened(Broken()).search("harbour ferry", limit=1, offset=1)
    assert [note.split(".")[0] for note in later.notes] == [
        "Not re-ranked: The server is gone",
        "Results may be missing or repeated, if those before were re-ranked",
    ]


@pytest.mark.parametrize("options", [{"mode": "instant"}, {"sort": "newest"}, {"literal": True}])
def test_it_is_not_asked_where_it_cannot_help(opened: Callable[[object], Memory], options: dict[str, object]) -> None:
    reranker = Prefers("green")
    assert texts(opened(reranker), "harbour ferry", **options)
    assert reranker.asked == []


def test_an_undecided_one_changes_nothing(opened: Callable[[object], Memory]) -> None:
    assert texts(opened(Prefers("nowhere")), "harbour ferry") == texts(opened(None), "harbour ferry")


def test_chat_searches_with_it(opened: Callable[[object], Memory]) -> None:
    reranker = Prefers("green")
    answer = opened(reranker).chat(None, "Which colour has the harbour ferry?", save="now")
    assert reranker.asked
    assert "green" in answer.sources[0].message.content


def test_a_folder_and_a_server_by_name(opened: Callable[[object], Memory], tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "cross")
    found = opened(f"folder:{folder}").search("harbour ferry", group_by="message")
    assert "re-ranker" in found.signals
    with rerank_server() as server:
        memory = opened(f"words@{server.url}")
        assert "re-ranker" in memory.search("harbour ferry").signals
        assert server.requests[0]["model"] == "words"
    with pytest.raises(InvalidInput, match="not a re-ranker"):
        opened("words")


def test_documents_are_put_in_order_too(opened: Callable[[object], Memory], tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", reranker=Prefers("spare")) as memory:
        for name in ("one", "two", "three"):
            wanted = "spare parts" if name == "three" else "water"
            file = tmp_path / f"{name}.md"
            file.write_text(f"# {name}\n\nThe boiler needs {wanted} every year.\n")
            memory.import_documents(str(file))
        found = memory.search("boiler needs", kind="document")
        assert found.documents[0].document.title.startswith("three")


@pytest.mark.parametrize(
    "scores",
    [
        lambda count: [math.nan] * count,
        lambda count: [math.inf] + [0.0] * (count - 1),
        lambda count: [1.0] * (count - 1),
        lambda count: [1.0] * (count + 5),
        lambda count: ["high"] * count,
        lambda count: [[1.0]] * count,
        lambda _: None,
    ],
)
def test_one_that_returns_nonsense_changes_nothing_and_that_is_said(
    opened: Callable[[object], Memory], scores: Callable[[int], list[float]]
) -> None:
    class Wrong:
        name = "wrong"

        def score(self, question: str, texts: Sequence[str]) -> list[float]:
            return scores(len(texts))

    found = opened(Wrong()).search("harbour ferry")
    assert [hit.score for hit in found] == [hit.score for hit in opened(None).search("harbour ferry")]
    assert found.notes[0].startswith("Not re-ranked: The re-ranker returned")


def test_its_scores_may_be_of_any_size(opened: Callable[[object], Memory]) -> None:
    class Loud(Prefers):
        def score(self, question: str, texts: Sequence[str]) -> list[float]:
            return [1e200 * score for score in super().score(question, texts)]

    assert texts(opened(Loud("green")), "harbour ferry") == texts(opened(Prefers("green")), "harbour ferry")
