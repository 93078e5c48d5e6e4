"""What somebody types finds what they meant, through the whole of search."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from recollect.engines.sqlite.engine import SQLiteView
from recollect.errors import InvalidInput
from recollect.memory import Memory
from recollect.record import Message
from recollect.store.passages import CandidateQuery, Features, Partition

TALKS = {
    "Proxy trouble": [
        "My site gives 502 behind the proxy since the update",
        "Raise `proxy_read_timeout` in nginx.conf, then reload.",
        "It was ERR_CONN_RESET in the end, from useState firing twice",
        "Then the effect ran twice; React does that in strict mode.",
    ],
    "Birds": ["We saw a heron at the weir on Sunday", "Grey herons fish there at dawn.", "And a kingfisher!"],
    "Umzug": ["Die Heizkostenabrechnung vom Vermieter ist zu hoch", "Prüfe zuerst den Verteilerschlüssel."],
    "会议": ["我们下周二在上海开会讨论预算", "好的，我会准备材料。"],
    "旅行": ["京都の旅館を三泊予約したい", "四月は早めの予約が必要です。"],
    "회의": ["다음 주에 부산으로 출장을 갑니다", "기차표를 예약하세요."],
    "عقد": ["أريد تجديد عقد الإيجار هذا الشهر", "راجع شروط العقد أولا."],
    "Переезд": ["Мы переезжаем в новую квартиру в мае", "Заранее закажите грузчиков."],
    "Μετακόμιση": ["Ψάχνω διαμέρισμα στη Θεσσαλονίκη", "Δες και τα προάστια."],
    "घर": ["मुझे दिल्ली में किराये का घर चाहिए", "पहले बजट तय करें।"],
    "Filler": [f"Note {i}: nothing but the weather and the garden" for i in range(40)],
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with recollect.open(tmp_path_factory.mktemp("find") / "memory.db") as memory:
        for title, texts in TALKS.items():
            conversation = None
            for i, text in enumerate(texts):
                stored = memory.store_message(
                    text, "assistant" if i % 2 else "user", conversation_id=conversation, title=title
                )
                conversation = stored.conversation_id
            if title == "Proxy trouble":
                memory.store_tool_call("shell", "curl -v", "zeppelin output of the shell", stored.id)
        long = "\n\n".join(f"Chapter {i} tells of tides and moorings and of little else." for i in range(2500))
        memory.store_message(long + "\n\nThe quagga grazes at the end.", "assistant", title="A long text")
        yield memory


def best(memory: Memory, query: str, **options: object) -> str:
    found = memory.search(query, group_by="message", limit=3, **options)  # type: ignore[arg-type]
    return found[0].best.message.content if found else ""


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("heron weir", "We saw a heron at the weir on Sunday"),
        ("502 proxy", "My site gives 502"),
        ("nginx.conf", "Raise `proxy_read_timeout`"),
        ("ERR_CONN_RESET", "It was ERR_CONN_RESET"),
        ("useState", "It was ERR_CONN_RESET"),
        ("proxy_read_timeout", "Raise `proxy_read_timeout`"),
        ('"strict mode"', "Then the effect ran twice"),
        ("Heizkosten", "Die Heizkostenabrechnung"),
        ("Abrechnung", "Die Heizkostenabrechnung"),
        ("Verteilerschlussel", "Prüfe zuerst"),
        ("上海", "我们下周二在上海"),
        ("旅館 予約", "京都の旅館"),
        ("부산 출장", "다음 주에 부산"),
        ("تجديد الإيجار", "أريد تجديد"),
        ("новая квартира", "Мы переезжаем"),
        ("διαμερισμα", "Ψάχνω"),
        ("किराये", "मुझे दिल्ली"),
        ("quagga", "Chapter 0"),
    ],
)
def test_words_are_found_as_people_type_them(memory: Memory, query: str, answer: str) -> None:
    assert best(memory, query).startswith(answer)


def test_the_words_are_marked_in_a_part_deep_within_a_long_message(memory: Memory) -> None:
    snippet = memory.search("quagga")[0].best.snippet
    assert [snippet.text[a:b] for a, b in snippet.marks] == ["quagga"]


def test_short_messages_are_not_drowned_by_long_ones(memory: Memory) -> None:
    memory.store_message("moorings: berth 12 is ours", title="Berth")
    assert best(memory, "moorings berth").startswith("moorings: berth 12")


def test_a_phrase_is_demanded_among_words_and_wished_for_in_a_sentence(memory: Memory) -> None:
    assert not memory.search('"weir heron"')
    assert best(memory, 'What did I say about "weir heron" on Sunday?').startswith("We saw a heron")


def test_excluded_words_exclude(memory: Memory) -> None:
    found = memory.search("heron -weir", group_by="message")
    assert found
    assert not [hit for hit in found if "weir" in hit.best.message.content]


def test_what_nobody_said_comes_after_all_that_was_said(memory: Memory) -> None:
    assert best(memory, "zeppelin output").startswith("zeppelin output")
    assert memory.search("zeppelin")[0].best.why.found_in == "tool"
    assert best(memory, "heron", kind="tool") == ""
    kinds = [hit.best.message.kind for hit in memory.search("shell proxy", group_by="message")]
    assert kinds == sorted(kinds, key=lambda kind: kind == "tool")


def test_filters_in_the_query_and_beside_it_are_the_same(memory: Memory) -> None:
    within = memory.search("heron role:assistant")
    beside = memory.search("heron", role="assistant")
    assert [hit.best.message.id for hit in within] == [hit.best.message.id for hit in beside]
    assert all(hit.best.message.role == "assistant" for hit in within)
    assert [hit.conversation.title for hit in memory.search("heron", conversation="Birds")] == ["Birds"]
    assert not memory.search("heron", until="2001")
    assert memory.search("heron", since="today")


def test_a_whole_id_is_that_conversation_alone(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "ids.db", background=False) as memory:
        said = memory.store_message("The kiln is mine.", conversation_id="main", id="mine")
        memory.store_message("The kiln is secret.", conversation_id="other", title="Domain names of mine")
        for name in ("main", said.id):
            assert [hit.conversation.id for hit in memory.search("kiln", conversation=name)] == ["main"]
            assert [hit.conversation.id for hit in memory.search(f"kiln in:{name}")] == ["main"]
            asked = memory.ask("What of the kiln?", conversation=name)
            assert {cited.conversation.id for cited in asked.citations} == {"main"}
        assert [hit.conversation.id for hit in memory.search("kiln", conversation="Domain")] == ["other"]


def test_a_word_with_signs_is_excluded_as_it_is_written(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "signs.db") as memory:
        for language in ("C++", "C#", "C", ".NET"):
            memory.store_message(f"A linker for {language}")
        found = {name: memory.search(f"linker -{name}", group_by="message") for name in ("C++", "c", ".net")}
    left = {name: {hit.best.message.content.split()[-1] for hit in hits} for name, hits in found.items()}
    assert left == {"C++": {"C#", "C", ".NET"}, "c": {"C++", "C#", ".NET"}, ".net": {"C++", "C#", "C"}}


def test_nothing_is_found_for_words_that_mean_nothing_here(memory: Memory) -> None:
    found = memory.search("xyzzyplugh")
    assert not found or not found.close


def test_a_typo_is_searched_as_it_was_meant_and_told(memory: Memory) -> None:
    found = memory.search("kingfischer")
    assert (found.query, found.corrected, found.suggestion) == ("kingfischer", "kingfisher", None)
    assert found[0].best.message.content == "And a kingfisher!"


def test_what_is_suggested_keeps_quotes_and_filters(memory: Memory) -> None:
    assert memory.search('"kingfischer" river').suggestion == '"kingfisher" river'
    assert memory.search('Kingfischer "at dawn" role:user -otter').suggestion == 'Kingfisher "at dawn" role:user -otter'


def test_emoji_in_quotes_are_told_to_be_ignored(memory: Memory) -> None:
    told = ('Emoji and symbols cannot be searched for. Ignored: "🙂🙂"',)
    assert memory.search('"🙂🙂" heron').notes == told
    assert memory.search('heron -"🙂🙂"').notes == told
    assert memory.search('"🙂 heron"').notes == ()


def test_a_title_finds_its_conversation(memory: Memory) -> None:
    assert memory.search("proxy trouble")[0].conversation.title == "Proxy trouble"


def test_a_title_and_a_message_hold_typed_words_together(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "titles.db") as memory:
        for number in range(12):
            memory.store_message(f"Note {number} of the weather and the garden", title=f"Day {number}")
        memory.store_message("The lantern is what we quarrel about, and the ferry to Porto", title="Small things")
        memory.store_message("It costs forty a night, breakfast included", title="Lantern hotel")
        memory.store_message("Forty steps lead down to the shore", title="Stairs")
        hit = memory.search("lantern forty")[0]
    assert hit.conversation.title == "Lantern hotel"
    assert hit.best.why.terms["all words"] == pytest.approx(6, abs=0.1)


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("who kept the keys", "They keep"),
        ("child seat", "Seats for"),
        ("his 40th", "He turns 40"),
        ("bought", "We buy"),
    ],
)
def test_irregular_forms_are_found(tmp_path: Path, query: str, answer: str) -> None:
    with recollect.open(tmp_path / "forms.db") as memory:
        for text in (
            "They keep the keys upstairs",
            "Seats for children",
            "He turns 40 in May",
            "We buy rye on Fridays",
        ):
            memory.store_message(text)
        for number in range(20):
            memory.store_message(f"Note {number} of the weather and the garden, and the key of who sat")
        hits = memory.search(query, group_by="message")
    assert hits[0].best.message.content.startswith(answer)
    assert hits[0].best.why.words


def test_forms_are_left_alone_where_words_are_meant_literally(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "forms.db") as memory:
        memory.store_message("They keep the keys upstairs, and she kept the keys")
        (hit,) = memory.search("kept the keys", literal=True, group_by="message")
    assert set(hit.best.why.words) == {"kept", "keys"}


def test_what_was_said_under_a_fitting_title_comes_first(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "titles.db") as memory:
        for title in ("Repairing bicycles", "Baking bread", "8 May 2024"):
            memory.store_message("Leave it for twenty minutes, then try again.", conversation_id=title, title=title)
        hits = memory.search("how long should the dough rest before it goes into the oven?", group_by="message")
    assert hits[0].conversation.title == "Baking bread"
    assert hits[0].best.why.terms["title"] > 0
    assert "title" not in next(h for h in hits if h.conversation.title == "8 May 2024").best.why.terms


def test_each_hit_says_why_and_what_stands_beside_it(memory: Memory) -> None:
    hit = memory.search("heron weir", group_by="message")[0].best
    assert hit.why.rank == 0
    assert hit.score == pytest.approx(sum(hit.why.terms.values()), abs=0.01)
    assert set(hit.why.words) == {"heron", "weir"}
    assert hit.beside is not None
    assert hit.beside.content == "Grey herons fish there at dawn."


def test_a_window_holds_the_best_message(memory: Memory) -> None:
    for hit in memory.search("weather garden"):
        assert hit.window.start <= hit.best.message.position <= hit.window.end


@pytest.mark.parametrize(
    ("query", "options", "said"),
    [
        ("", {}, "nothing to search for"),
        ("  ", {}, "nothing to search for"),
        ("heron", {"limit": 0}, "limit"),
        ("heron", {"group_by": "word"}, "group_by"),
        ("heron", {"kind": "word"}, "kind"),
        ("heron", {"role": "pilot"}, "role"),
        ("heron", {"since": "whenever"}, "since"),
        ("heron since:whenever", {}, "since"),
    ],
)
def test_what_cannot_be_searched_is_told_with_the_remedy(
    memory: Memory, query: str, options: dict[str, object], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said) as caught:
        memory.search(query, **options)  # type: ignore[arg-type]
    assert caught.value.hint


def test_an_empty_memory_finds_nothing(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db") as memory:
        assert len(memory.search("heron")) == 0
        assert len(memory.search("heron", kind="all", group_by="message")) == 0


# --- filters, titles, limits, order --------------------------------------------------------------------------------
@pytest.fixture
def bread(tmp_path: Path) -> Iterator[Memory]:
    """A talk whose title says what it is about, over two years, and one that only mentions it."""
    said = (
        ("user", 2023, "My starter is sluggish, what feeds it best? A pancake was all it made."),
        ("assistant", 2023, "Feed it twice a day for a week."),
        ("user", 2025, "It rises well now!"),
        ("assistant", 2025, "Then bake with it on Sunday."),
    )
    with recollect.open(tmp_path / "bread.db") as memory:
        for role, year, text in said:
            moment = datetime(year, 5, 1, tzinfo=UTC)
            memory.store_message(text, role, conversation_id="T", title="Sourdough starter", timestamp=moment)
        moment = datetime(2024, 5, 1, tzinfo=UTC)
        memory.store_message("The bakery sells sourdough", conversation_id="B", title="Errands", timestamp=moment)
        yield memory


@pytest.mark.parametrize("query", ["sourdough since:2025-01", "sourdough until:2023-06", "sourdough role:assistant"])
def test_a_title_shows_only_what_the_filter_lets_be_found(bread: Memory, query: str) -> None:
    found = bread.search(query)
    assert [hit.conversation.id for hit in found] == ["T"]
    shown = found[0].best.message
    assert shown.timestamp is not None
    assert "role" not in query or shown.role == "assistant"
    assert "since" not in query or shown.timestamp.year == 2025
    assert "until" not in query or shown.timestamp.year == 2023


def test_a_title_shows_the_first_message_that_the_filter_lets_be_found_however_late(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "late.db") as memory:
        for before in (0, 4, 5, 24, 25, 40):
            for place in range(before + 2):
                role = "assistant" if place >= before else "user"
                memory.store_message(f"Number {place}", role, conversation_id=f"{before}", title="The lighthouse")
        memory.store_message("Number 0", "user", conversation_id="none", title="The lighthouse")
        hits = memory.search("lighthouse role:assistant")
    shown = sorted(int(message.message.content.split()[1]) for hit in hits for message in hit.messages)
    assert shown == [0, 4, 5, 24, 25, 40]


def test_a_title_shows_nothing_that_holds_an_excluded_word(bread: Memory) -> None:
    assert all("pancake" not in hit.best.message.content for hit in bread.search("sourdough -pancake"))


def test_how_many_match_is_told_beyond_the_limit(bread: Memory) -> None:
    found = bread.search("sourdough", limit=1)
    assert len(found) == 1
    assert (found.total, found.total_exact) == (2, True)


def test_the_newest_comes_first_if_that_is_asked(bread: Memory) -> None:
    assert [hit.conversation.id for hit in bread.search("bakery starter", sort="newest")] == ["B", "T"]
    found = bread.search("it", sort="newest", group_by="message", kind="said")
    times = [hit.best.message.timestamp for hit in found]
    assert times == sorted(times, reverse=True)  # type: ignore[type-var]


def test_the_newest_are_counted_as_they_are_listed(bread: Memory) -> None:
    found = bread.search("bakery", sort="newest")  # the talk about sourdough means the like, and does not say it
    assert len(found) == found.total == 1
    found = bread.search("bakery", sort="newest", group_by="message")
    assert len(found) == found.total == 1


def test_the_newest_is_found_however_many_fit_better(tmp_path: Path) -> None:
    begin = datetime(2024, 1, 1, tzinfo=UTC)
    long = "We walked a long way along the river, and there at last stood one heron among all the ducks and geese."
    with recollect.open(tmp_path / "memory.db") as memory:
        for day in range(60):
            memory.store_message("heron heron", conversation_id=f"c{day}", timestamp=begin + timedelta(days=day))
        memory.store_message(long, conversation_id="last", timestamp=begin + timedelta(days=99))
        assert [hit.conversation.id for hit in memory.search("heron", sort="newest", limit=1)] == ["last"]


def test_a_busy_conversation_hides_no_other_among_the_newest(tmp_path: Path) -> None:
    begin = datetime(2024, 1, 1, tzinfo=UTC)
    with recollect.open(tmp_path / "memory.db") as memory:
        memory.store_message("A heron, long ago", conversation_id="old", timestamp=begin)
        for minute in range(60):
            moment = begin + timedelta(days=9, minutes=minute)
            memory.store_message(f"Again a heron, number {minute}", conversation_id="busy", timestamp=moment)
        found = memory.search("heron", sort="newest", limit=2)
        assert [hit.conversation.id for hit in found] == ["busy", "old"]


@pytest.mark.parametrize("query", ["sourdough since:2024", "sourdough role:user", '"sourdough" -pancake'])
def test_what_a_filter_leaves_is_counted_exactly(bread: Memory, query: str) -> None:
    assert bread.search(query).total_exact


def test_a_word_that_is_too_common_finds_nothing_and_says_so(memory: Memory) -> None:
    found = memory.search("the")
    assert (len(found), found.close) == (0, False)
    assert "too common" in found.notes[0]


def test_pictures_alone_are_found_in_messages(memory: Memory) -> None:
    assert (len(memory.search("🚀")), memory.search("🚀").notes) == (0, ())
    memory.store_message("It was a long night. " * 40 + "We go live 🚀 on Friday.", title="Launch")
    memory.store_message("Nice 👍🏽, ❤ from all.", title="Thanks")
    for sign, title in (("🚀", "Launch"), ("👍", "Thanks"), ("👍🏽", "Thanks"), ("❤️", "Thanks"), ("🚀 👍", "Launch")):
        found = memory.search(sign)
        assert title in [hit.conversation.title for hit in found], sign
    (hit,) = memory.search("🚀")
    snippet = hit.best.snippet
    assert [snippet.text[a:b] for a, b in snippet.marks] == ["🚀"]
    assert not memory.search("🚀", role="assistant")


def test_other_signs_alone_are_not_searched_for(memory: Memory) -> None:
    assert memory.search("©").notes == ("These signs cannot be searched for. Add a word.",)


def test_words_that_are_all_common_are_looked_for_as_they_stand(memory: Memory) -> None:
    memory.store_message("To be or not to be, that is how it begins", title="Hamlet")
    assert best(memory, "to be or not to be").startswith("To be or not")


def test_the_title_counts_in_archives_of_any_size(tmp_path: Path) -> None:
    """Every conversation's title is compared with the question, not only the nearest hundred of all titles."""
    with recollect.open(tmp_path / "many.db") as memory:
        for n in range(120):
            memory.store_message(f"Rest it for {n} minutes", conversation_id=f"D{n}", title="Dough and bread baking")
        memory.store_message("Leave it for an hour", conversation_id="L", title="Bread")
        hits = memory.search("how long should the dough of the bread rest?", group_by="message", limit=200)
    told = {hit.conversation.id for hit in hits if "title" in hit.best.why.terms}
    assert len(told) > 110


def test_the_quality_mode_gives_as_many_as_are_asked_for(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "quality.db") as memory:
        for n in range(150):
            memory.store_message(f"heron number {n} at the weir", conversation_id=f"C{n // 50}")
        memory.upkeep.embed()
        found = memory.search("heron at the weir", mode="quality", group_by="message", limit=140)
    assert found.mode == "quality"
    assert len(found) == 140
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)


def test_the_newest_of_all_that_hold_the_word_comes_first_however_few_are_asked_for(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "newest.db") as memory:
        for n in range(70):
            more = " among other words on gardens, trains and the weather" if n >= 60 else ""
            memory.store_message(
                f"bread{more}", conversation_id=f"C{n}", timestamp=datetime(2023, 1, 1 + n % 31, n // 31, tzinfo=UTC)
            )
        memory.store_message("It was a loaf", conversation_id="L")
        for group_by in ("message", "conversation"):
            found = memory.search("bread", sort="newest", limit=1, group_by=group_by)
            assert found[0].best.message.timestamp == max(m.timestamp for m in every(memory) if "bread" in m.content)
            assert found.total == 70


def every(memory: Memory) -> list[Message]:
    rows = memory.conversations(limit=1000)
    return [message for row in rows for message in memory.conversation(row.conversation.id).messages]


@pytest.mark.parametrize("sort", ["relevance", "newest"])
def test_a_long_conversation_hides_no_other(tmp_path: Path, sort: str) -> None:
    with recollect.open(tmp_path / "long.db") as memory:
        for n in range(160):
            memory.store_message(
                f"bread {n}", conversation_id="long", timestamp=datetime(2024, 1, 1, n // 60, n % 60, tzinfo=UTC)
            )
        for n in range(3):
            text = f"Some bread among other words on gardens, trains and weather {n}"
            memory.store_message(text, conversation_id=f"C{n}", timestamp=datetime(2023, 1, 1 + n, tzinfo=UTC))
        found = memory.search("bread", limit=3, sort=sort)
        assert (len(found), found.total) == (3, 4)
        assert [hit.best.score for hit in found] == sorted(
            (hit.best.score for hit in found), reverse=True
        ) or sort != "relevance"


def test_titles_whose_messages_the_filter_denies_take_no_place_and_are_not_counted(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "titles.db") as memory:
        for n in range(8):
            moment = datetime(2023, 1, 1 + n, tzinfo=UTC)
            memory.store_message(f"Note {n} on flour", conversation_id=f"C{n}", title="Baking bread", timestamp=moment)
        moment = datetime(2025, 6, 1, tzinfo=UTC)
        memory.store_message("I baked bread today", conversation_id="new", title="Misc", timestamp=moment)
        found = memory.search("bread since:2025", limit=2)
        assert ([hit.conversation.id for hit in found], found.total) == (["new"], 1)
        for query in ("bread until:2001", "bread role:assistant", "bread -note -baked", "bread kind:tool"):
            found = memory.search(query, limit=2)
            assert (len(found), found.total) == (0, 0), query


def test_an_excluded_word_excludes_all_of_a_long_message(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "excluded.db") as memory:
        long = "\n\n".join(f"Chapter {i} tells of tides and moorings and of little else." for i in range(800))
        memory.store_message(f"The heron stands here. {long} The weir is old.", conversation_id="long")
        memory.store_message("A heron was here", conversation_id="short")
        for group_by in ("message", "conversation"):
            found = memory.search("heron -weir", group_by=group_by)
            assert [hit.conversation.id for hit in found] == ["short"]


def test_what_is_not_shown_beside_tool_output_is_not_counted(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "tools.db") as memory:
        message = memory.store_message("I ran the tests", "assistant", conversation_id="tool")
        for n in range(3):
            memory.store_tool_call("shell", "pytest", f"zeppelin failure number {n}", message.id)
        memory.store_message("zepellins fly over the city", conversation_id="said")
        found = memory.search("zeppelin")
        assert ([hit.conversation.id for hit in found], found.total) == (["tool"], 1)
        found = memory.search("zeppelin -failure")
        assert ([hit.conversation.id for hit in found], found.total, found.close) == (["said"], 1, False)


def test_days_in_a_question_are_counted_from_the_memorys_own_clock(tmp_path: Path) -> None:
    """A clock that is given to a memory decides what "last week" is, in filters and in questions alike."""
    then = datetime(2020, 6, 10, tzinfo=UTC)
    with recollect.open(tmp_path / "clock.db") as memory:
        memory.store_message("We talked about bread", conversation_id="A", timestamp=datetime(2020, 6, 3, tzinfo=UTC))
        memory.store_message("We talked about bread", conversation_id="B", timestamp=datetime(2020, 2, 3, tzinfo=UTC))
        memory.handle.clock = lambda: then
        found = memory.search("what did I say last week about bread?")
    assert found[0].conversation.id == "A"
    assert "date" in found[0].best.why.terms


@pytest.mark.parametrize("text", ["Vermieter", "zeppelin moorings", "what did the heron do?"])
def test_the_messages_are_gone_through_once(memory: Memory, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    asked, candidates = list[Partition](), SQLiteView.candidates

    def counted(view: SQLiteView, query: CandidateQuery) -> Features:
        asked.append(query.partition)
        return candidates(view, query)

    monkeypatch.setattr(SQLiteView, "candidates", counted)
    memory.search(text)
    assert asked.count(Partition.SAID) == 1


def test_a_few_words_that_nobody_used_show_what_is_near_in_meaning_in_a_young_memory(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        for line in ("Luna had digestive issues after the walk.", "Luna vomited after eating grass.", "We saw Rome."):
            memory.store_message(line)
        found = memory.search("stomach upset")
        assert found.hits
        assert all("Rome" not in hit.best.message.content for hit in found)
        assert not found.close
        assert found.likelihood < 0.5
        for unknown in ("qwxyz", "bitcoin wallet"):
            assert not memory.search(unknown).hits
        for number in range(120):
            memory.store_message(f"Entry {number} of the logbook: the wind was weak.", conversation_id="logbook")
        assert not memory.search("stomach upset").hits


@pytest.mark.parametrize("query", ['"were kiln"', '"who moved"', '"were"', 'kiln "were ready"', '"that once"'])
def test_a_quotation_that_begins_like_a_question_is_kept_together(tmp_path: Path, query: str) -> None:
    with recollect.open(tmp_path / "quoted.db", durable=False, background=False) as memory:
        for said in ("were kiln ready", "the kiln", "a kiln that once burned", "who moved it", "kiln were ready"):
            memory.store_message(said)
        phrase = query.partition('"')[2].rstrip('"')
        found = [hit.best.message.content for hit in memory.search(query, group_by="message")]
    assert found
    assert all(phrase in text for text in found)


def test_a_quotation_in_a_sentence_is_a_wish(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "quoted.db", durable=False, background=False) as memory:
        memory.store_message("Marek moved the kiln in May.")
        assert len(memory.search('who was it that moved the "old kiln"')) == 1
