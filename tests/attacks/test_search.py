"""Attacks on search: each word of each message leads to it, in every order, page by page; counts are exact."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.memory import Memory
from recollect.record import Part, PartKind
from recollect.search.results.result import SearchResults
from recollect.text.terms import STOP_WORDS, words

pytestmark = pytest.mark.long

TEXTS = (
    "Straße und Fuß", "naïve café", "ＦＵＬＬＷＩＤＴＨ kiln", "東京タワーに行きました", "ภาษาไทยสวยงาม",
    "والكتاب العربية",
    "बहुत हिन्दी में", "한국어를 배워요", "foo_bar_baz snake", "camelCaseWord XMLHttpRequest", "won't well-known",
    "v1.2.3 3.14 1,200.50", "C++ C# F# .NET", "/etc/nginx/nginx.conf", "https://example.com/path?q=kiln&x=1",
    "anna@example.com", "#hashtag @mention", "R2-D2 AT&T", "x²+y² H₂O", "½ cup ①", "İstanbul ısı", "ﬁnance ﬂow",
    "a\u0301ccent e\u0301te\u0301", "zero\u200bwidth soft\u00adhyphen", "emoji🚀rocket", "word" * 50, "0x1F 1e-5 007",
    "O'Brien’s l’eau", "Москва Ёлка", "Łódź Đorđe Øre", "ΣΊΣΥΦΟΣ", "Tiếng Việt", "𠮷野家", "running runs children",
    "10:30 2025-01-05", "$5 €50 100%", "A.B.C. Ph.D.", "kiln/oven", "kiln—oven…", "“quoted” (paren)", "key:value",
    "path\\to\\file", "--flag", "ÅNGSTRÖM", "ŉ ǆ ﬀ", "㎏ ㍿ Ⅷ", "٣٤٥ १२३ １２",
)  # fmt: skip


def found(memory: Memory, query: str, **how: Any) -> tuple[list[str], list[str], SearchResults]:
    """The results of all pages, the copies that they stand for, and the last page."""
    shown: list[str] = []
    copies: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = memory.search(query, offset=offset, **how)
        for hit in page:
            shown.append(hit.best.message.id if how.get("group_by") == "message" else hit.conversation.id)
            copies += hit.best.copies
        assert page.next is None or page.next > offset
        offset = page.next
    return shown, copies, page


@pytest.mark.parametrize("text", TEXTS)
def test_each_word_leads_to_its_message(memory: Memory, text: str) -> None:
    own = memory.beside("words")
    message = own.store_message(text)
    for word in {*words(text), *text.split()} - {""}:
        if set(words(word)) <= STOP_WORDS or word.startswith("-"):
            continue
        for how in ({}, {"literal": True}, {"sort": "newest"}):
            shown, copies, _ = found(own, word, group_by="message", limit=50, **how)
            assert message.id in {*shown, *copies}, (word, how)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_said_again_and_again_is_reached_page_by_page(memory: Memory, seed: int) -> None:
    chance, own = random.Random(seed), memory.beside(f"copies/{seed}")
    fruit = ("apple", "pear", "plum", "quince", "fig", "lemon", "melon", "grape", "cherry", "mango", "kiwi", "date")
    said = ["kiln " + " ".join(chance.choice(fruit) for _ in range(chance.choice((3, 12, 45)))) for _ in range(25)]
    for number in range(4):
        some = [
            {"content": chance.choice(said), "role": chance.choice(("user", "assistant")), "speaker": speaker}
            for _ in range(50)
            for speaker in [chance.choice((None, None, "Ann"))]
        ]
        own.store_messages(some, conversation_id=f"c{number}")
    every = {m.id: m.content for n in range(4) for m in own.conversation(f"c{n}").messages}
    for word in ("kiln", "quince"):
        wanted = {own_id for own_id, text in every.items() if word in text.split()}
        for sort in ("relevance", "newest"):
            for limit in (1, 3, 10, 50, 99, 1000):
                shown, copies, page = found(own, word, group_by="message", sort=sort, limit=limit, literal=True)
                assert len(shown) == len(set(shown))
                assert {*shown, *copies} == wanted, (word, sort, limit)
                assert page.total == page.with_words == len(wanted)


@pytest.mark.parametrize("sort", ["relevance", "newest"])
@pytest.mark.parametrize("kind", [(), "all"])
def test_words_beside_what_is_said_lead_to_it(memory: Memory, sort: str, kind: Any) -> None:
    own = memory.beside("beside")
    if not own.upkeep.stats().messages:
        root = own.store_message("root heron", conversation_id="B", title="alpha zeppelin")
        own.store_message("branch one otter", conversation_id="B", parent_id=root.id)
        own.store_tool_call("weather_lookup", {"city": "Quimperville"}, "result says drizzlefog", root.id)
        document = {"type": "document", "source": {"type": "text", "data": "walrus in a document"}, "title": "tuskfile"}
        own.store_message([{"type": "text", "text": "see"}, document], conversation_id="P")
        own.store_message("with", conversation_id="P", parts=(Part(PartKind.ATTACHMENT, "ferretfile", "a badger"),))
        own.store_message("about gnus", kind="reasoning", role="assistant", conversation_id="K")
        own.store_message("about tapirs", kind="context", role="system", conversation_id="K")
    for word, conversation in (
        ("heron", "B"), ("zeppelin", "B"), ("otter", "B"), ("quimperville", "B"), ("weather_lookup", "B"),
        ("drizzlefog", "B"), ("walrus", "P"), ("tuskfile", "P"), ("ferretfile", "P"), ("badger", "P"), ("gnus", "K"),
        ("tapirs", "K"),
    ):  # fmt: skip
        for limit in (1, 10):
            shown, _, page = found(own, word, sort=sort, kind=kind, limit=limit)
            assert conversation in shown, word
            assert page.total == len(shown) == len(set(shown))


def test_what_was_deleted_is_in_no_result(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        root = memory.store_message("root heron", conversation_id="B", title="alpha zeppelin")
        memory.store_tool_call("weather_lookup", {"city": "Quimperville"}, "says drizzlefog", root.id)
        for remove in (lambda: memory.delete("B"), lambda: memory.restore("B") and memory.forget("B")):
            remove()
            for word in ("heron", "zeppelin", "quimperville", "drizzlefog", "weather_lookup"):
                for sort in ("relevance", "newest"):
                    for kind in ((), "all", "tool"):
                        page = memory.search(word, sort=sort, kind=kind, facets=True)
                        assert (len(page), page.total, page.with_words) == (0, 0, 0), (word, sort, kind)
                        assert page.facets is None or page.facets.messages == 0
