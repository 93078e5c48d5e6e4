"""Summaries as nodes: their ids, what stands in them, and what of an earlier one is kept.

The id of a summary says what it covers, its digest also how that was worded. So what a model wrote is kept as long as
the words it was written from are the same, however often everything is derived anew.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from recollect.derive.summaries.extract import (
    ACTIONS,
    CONCERNS,
    FEELINGS,
    IMPERATIVES,
    OWN,
    OWN_SIGNS,
    STRONG_ACTIONS,
    Policy,
    ScoredSentence,
)
from recollect.derive.tasks.base import LIVE, retired
from recollect.index.passages import is_person
from recollect.record import Edge, Message, Node, NodeId, NodeKind, iso, stable_id
from recollect.store import EdgeKey, View
from recollect.text.language import SMALL_WORDS
from recollect.text.terms import fold, has_unspaced_script, words

#: Words, and signs and numbers, which part phrases.
_TOKEN = re.compile(r"[^\W\d_][\w'’+#-]*|[,.;:!?()\[\]{}\"“”„«»/|\n\t…—–\d]+")
_RUN = re.compile(r"[\u3400-\u9fff]{2,}")
_EMPTY_SIGNS = frozenset(
    "的了是在我你您他她它们这那吗呢吧啊就都也很不有和与个一上下到说要会去能好么什怎哦嗯呀嘛把被让给对从为以及可没还再太最更多少来看做想得着过等如果因"
)
_LONGEST_PHRASE, _LONGEST_RUN = 3, 4

#: English words that are in every talk and name nothing.
_COMMON_WORDS = """
    able absolutely across actually additionally also always amazing another anything approach around ask
    assistant away awesome back bad based best better big bit bye came cant certainly come coming consider cool
    couldnt course create day days definitely didn different does doesnt doing done dont easy else enough ensure
    even ever every everything exactly example feel feeling felt find fine first five following four fun get
    gets getting give glad go goes going gone good got great guess hand happy hard hello help helps heres hey hi
    high hope hour hours however id idea im important including instead isnt ive job just keep key kind know
    last later least left less let lets life like likely little ll long look looking looks lot lots love made
    main make makes making many may maybe mean might mind minute minutes moment month months morning much must
    need needs never new next nice night now number often oh ok okay old one ones overall part people per
    perhaps place plan point possible pretty probably provide put question quite re ready really right said say
    saying see seem seems seen set several since small something sometimes soon sorry sort sound sounds specific
    start started step steps still stuff support sure take takes taking talk tell thank thanks thats theres
    thing things think thinking thought three time times today together told tomorrow took totally tried try
    trying turn two use used useful user using usually various ve via want wanted wasnt way ways week weeks well
    went will within without won wonder word work working works world worth would wow yeah year years yep yes
    yesterday yet youre
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def phrases(texts: Sequence[str], most: int) -> list[str]:
    """At most so many key phrases of these messages, the weightiest first.

    A phrase counts by how many messages hold it and by its words; a longer one replaces the shorter ones in it.
    """
    held: dict[str, set[int]] = defaultdict(set)
    written: dict[str, str] = {}
    for number, text in enumerate(texts):
        for folded, shown in _phrases_of(text):
            held[folded].add(number)
            written.setdefault(folded, shown)
    often = {phrase: len(numbers) for phrase, numbers in held.items()}
    least = 2 if len(texts) > 2 else 1
    weights = {
        phrase: (count - 0.5) * _weight(written[phrase])
        for phrase, count in often.items()
        if count >= least or (least == 2 and _is_name(written[phrase]) and len(texts) < 8)
    }
    chosen: list[str] = []
    for phrase in sorted(weights, key=lambda p: (-round(weights[p], 6), p)):
        if not any(_within(phrase, other) or _within(other, phrase) for other in chosen):
            chosen.append(phrase)
        if len(chosen) == most:
            break
    return [written[phrase] for phrase in chosen]


def _phrases_of(text: str) -> Iterator[tuple[str, str]]:
    """All phrases of a text that may tell what it is about: folded, and as written."""
    if not text.isascii() and has_unspaced_script(text):
        for run in _RUN.findall(text):
            for size in range(2, _LONGEST_RUN + 1):
                for start in range(len(run) - size + 1):
                    piece = run[start : start + size]
                    if _EMPTY_SIGNS.isdisjoint(piece):
                        yield piece, piece
    before: list[tuple[str, str]] = []  # phrases that end with the word before
    for token in _TOKEN.findall(text):
        word = _telling(token)
        if not word:
            before = []
            continue
        longer = [(f"{folded} {word}", f"{shown} {token}") for folded, shown in before[: _LONGEST_PHRASE - 1]]
        before = [(word, token), *longer]
        yield from before


@lru_cache(maxsize=50_000)
def _telling(token: str) -> str:
    """The word folded, or "" for one that no phrase has in it, and for what stands between phrases."""
    word = fold(token).replace("'s", "").replace("’s", "")
    if len(word) < 3 or word in SMALL_WORDS or word in _COMMON or "'" in word or not word[0].isalpha():
        return ""
    return word


def _weight(shown: str) -> float:
    words: float = shown.count(" ") + 1
    if not shown.isascii() and has_unspaced_script(shown):
        words = len(shown) / 2
    return (1 + 0.6 * (words - 1)) * (1.5 if _is_name(shown) else 1.0)


def _is_name(shown: str) -> bool:
    return shown[0].isupper() and not shown.isupper()


def _within(phrase: str, other: str) -> bool:
    if has_unspaced_script(phrase):
        return phrase in other or any(phrase[i : i + 2] in other for i in range(len(phrase) - 1))
    return not set(phrase.split()).isdisjoint(other.split())


# The parts of a summary that rules can honestly tell: what it was about, worries, feelings, actions, exact data
# [1].

_SHOWN = 180  # characters of a sentence within a part
_TOLD_BY = 600  # characters of a message that its themes are told by
_LEAST_ACTION = 25  # characters: less names nothing that could be done


def speaker(message: Message) -> str:
    """Who says it: a person's name, or the side of the chat."""
    return message.speaker if message.speaker and is_person(message.speaker) else message.role.value


def tactical_parts(messages: Sequence[Message], sentences: Sequence[ScoredSentence], policy: Policy) -> dict[str, Any]:
    """Themes, concerns, emotional state, actions, and what is exact and must not be lost."""
    surface = [frozenset(words(one.text)) for one in sentences]
    return {
        "themes": phrases(by_message(sentences), policy.themes),
        "concerns": _best(
            [one for one, said in zip(sentences, surface, strict=True) if one.own and not CONCERNS.isdisjoint(said)],
            policy,
        ),
        "emotional_state": _feelings(sentences, surface),
        "actions": [
            {"what": _short(one.text), "by": speaker(messages[one.message]), "state": "proposed"}
            for one in _in_order(
                [one for one, said in zip(sentences, surface, strict=True) if _is_action(one, said)], policy.of_each
            )
        ],
        "specifics": _best([one for one in sentences if one.vital], policy),
    }


def by_message(sentences: Sequence[ScoredSentence]) -> list[str]:
    """The beginning of what each message says, where it says anything."""
    texts: dict[int, list[str]] = {}
    for one in sentences:
        texts.setdefault(one.message, []).append(one.text)
    return ["\n".join(texts[message])[:_TOLD_BY] for message in sorted(texts)]


def strategic_parts(blocks: Sequence[Mapping[str, Any]], policy: Policy) -> dict[str, Any]:
    """What recurs in the bodies of several tactical summaries, how it went on, and what belongs together."""
    recurring = _recurring([body["extract"]["themes"] for body in blocks], policy.themes)
    told = [(str(one.get("day", "")), one["text"]) for body in blocks for one in body["extract"]["sentences"]]
    return {
        "recurring_themes": recurring,
        "progressions": _progressions(recurring, told, policy.of_each),
        "links": _links(recurring, told, policy.of_each),
        "long_term_concerns": _distinct(body["extract"]["concerns"] for body in blocks)[: policy.of_each],
        "specifics": _distinct(body["extract"]["specifics"] for body in blocks)[: 3 * policy.of_each],
    }


def _best(sentences: Sequence[ScoredSentence], policy: Policy) -> list[str]:
    return [_short(one.text) for one in _in_order(sentences, policy.of_each)]


def _in_order(sentences: Sequence[ScoredSentence], most: int) -> list[ScoredSentence]:
    """The weightiest, in the order in which they were said."""
    best = sorted(range(len(sentences)), key=lambda place: (-sentences[place].worth, place))[:most]
    return [sentences[place] for place in sorted(best)]


def _is_action(one: ScoredSentence, surface: frozenset[str]) -> bool:
    lowered = one.text.lower()
    if lowered.endswith(("?", "？")) or (lowered.isascii() and len(lowered) < _LEAST_ACTION):
        return False
    if any(sign in lowered for sign in STRONG_ACTIONS):
        return True
    return not one.own and (not ACTIONS.isdisjoint(surface) or lowered.partition(" ")[0] in IMPERATIVES)


def _feelings(sentences: Sequence[ScoredSentence], surface: Sequence[frozenset[str]]) -> str:
    """The feelings that a person names in the first person, with the sentence that shows the first of each."""
    found: dict[str, str] = {}
    for one, said in zip(sentences, surface, strict=True):
        if one.own and not (OWN.isdisjoint(said) and OWN_SIGNS.isdisjoint(one.text)):
            for feeling, names in FEELINGS.items():
                if feeling not in found and not said.isdisjoint(names):
                    found[feeling] = one.text
    quoted: dict[str, list[str]] = {}
    for feeling, text in list(found.items())[:3]:
        quoted.setdefault(text, []).append(feeling)
    return "; ".join(f"{', '.join(feelings)}: “{_short(text)}”" for text, feelings in quoted.items())


def _recurring(themes: Sequence[Sequence[str]], most: int) -> list[str]:
    """Those of several summaries before the rest, which are only there where nothing recurs."""
    held = Counter(theme.lower() for some in themes for theme in dict.fromkeys(some))
    shown: dict[str, str] = {}
    for some in themes:
        for theme in some:
            shown.setdefault(theme.lower(), theme)
    ordered = sorted(shown, key=lambda theme: -held[theme])
    several = [shown[theme] for theme in ordered if held[theme] > 1]
    return several[:most] or [shown[theme] for theme in ordered][: most // 2]


def _progressions(themes: Sequence[str], told: Sequence[tuple[str, str]], most: int) -> list[dict[str, Any]]:
    """What was said about a theme, in order, where it was spoken of more than once."""
    found = []
    for theme in themes:
        steps = [_dated(date, text) for date, text in told if theme.lower() in text.lower()]
        if len(steps) > 1:
            found.append({"what": theme, "steps": steps[:-1][-most:], "now": steps[-1]})
    return found[:most]


def _links(themes: Sequence[str], told: Sequence[tuple[str, str]], most: int) -> list[str]:
    """Sentences that speak of two themes at once."""
    found = []
    for date, text in told:
        lowered = text.lower()
        both = [theme for theme in themes if theme.lower() in lowered]
        if len(both) > 1:
            found.append(f"{both[0]}, {both[1]}: {_dated(date, text)}")
    return found[:most]


def _distinct(lists: Any) -> list[str]:
    return list(dict.fromkeys(item for some in lists for item in some))


def _dated(date: str, text: str) -> str:
    return f"{_short(text)} ({date})" if date else _short(text)


def _short(text: str) -> str:
    if len(text) <= _SHOWN:
        return text
    return text[: _SHOWN - 1].rsplit(" ", 1)[0].rstrip() + "…"


#: Of the rules that make extracts, for `Node.made_by` and `body["version"]`. Raised where they would say other things.
RULES = 2
MADE_BY_RULES = f"rules/{RULES}"

L1, L2, CONVERSATION, SEGMENT, PERIOD, TOPIC = "l1", "l2", "conversation", "segment", "period", "topic"
KINDS = (CONVERSATION, L1, L2, SEGMENT, PERIOD, TOPIC)

#: From a summary to what it was made of: messages, or other summaries. `place` is the order among them.
COVERS = "COVERS"

_MANY_EDGES = 10_000_000


def l1_id(messages: Iterable[NodeId], conversation: NodeId | None) -> NodeId:
    """The id of the tactical summary of these messages, of one conversation or of several short ones."""
    return stable_id("summary", L1, *(() if conversation else ("together",)), *messages)


def l2_id(summaries: Iterable[NodeId]) -> NodeId:
    """The id of the strategic summary of these tactical ones."""
    return stable_id("summary", L2, *summaries)


def conversation_summary_id(conversation: NodeId) -> NodeId:
    """The id of a conversation's summary."""
    return stable_id("summary", CONVERSATION, conversation)


def worded(messages: Iterable[Message], before: str = "") -> str:
    """A digest of messages and their wording, going on from that of those before."""
    digest = before
    for message in messages:
        digest = stable_id(digest, message.id, message.speaker, message.content)
    return digest


def quoted(sentences: Sequence[ScoredSentence], messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Sentences with who said them, in which message and on which day, for the body of a node."""
    return [
        {
            "text": one.text,
            "by": speaker(messages[one.message]),
            "message": messages[one.message].id,
            "day": f"{time:%Y-%m-%d}" if (time := messages[one.message].timestamp) else "",
            "worth": one.worth,
            "vital": one.vital,
        }
        for one in sentences
    ]


def told(sentences: Sequence[Mapping[str, Any]], dates: Mapping[NodeId, str] | None = None) -> str:
    """Sentences as a text: what one says in a run stands in one line, behind the name, and behind the date, if any.
    Without `dates`, the day stands where another one begins, if they were said on several.
    """
    days = [(day_of(one) if dates is None else dates.get(one["message"], "")) for one in sentences]
    several = len({day for day in days if day}) > 1
    lines: list[str] = []
    above = shown = ""
    for one, day in zip(sentences, days, strict=True):
        head = f"{day} {one['by']}".strip()
        if head == above:
            lines[-1] += f" {one['text']}"
        else:
            is_dated = dates is not None or (several and day != shown)
            lines.append(f"{head if is_dated else one['by']}: {one['text']}")
        above, shown = head, day
    return "\n".join(lines)


def day_of(sentence: Mapping[str, Any]) -> str:
    """The day on which a quoted sentence was said, where it is known."""
    return str(sentence.get("day", ""))


def covering(summary: NodeId, covered: Iterable[NodeId], first: int = 0) -> list[Edge]:
    """The edges from a summary to what it was made of."""
    return [Edge(summary, COVERS, one, {"place": place}) for place, one in enumerate(covered, first)]


def spanned(times: Iterable[datetime | None]) -> tuple[datetime | None, datetime | None]:
    """The first and the last of these moments, where any is known."""
    known = [time for time in times if time is not None]
    return (min(known), max(known)) if known else (None, None)


def extractive(
    id: NodeId,
    kind: str,
    text: str,
    *,
    digest: str,
    parts: Mapping[str, Any],
    now: datetime,
    conversation_id: NodeId | None = None,
    span: tuple[datetime | None, datetime | None] = (None, None),
    **more: Any,
) -> Node:
    """A summary that rules have made."""
    body = {"version": RULES, "extractive": True, "digest": digest, "made": iso(now), "parts": dict(parts), **more}
    return Node(
        id,
        NodeKind.SUMMARY,
        key=kind,
        text=text,
        state=LIVE,
        conversation_id=conversation_id,
        valid_from=span[0],
        valid_to=span[1],
        made_by=MADE_BY_RULES,
        body=body,
    )


def still_told(old: Node | None, digest: str) -> str:
    """The text of an earlier summary of the very same words, where it would be made just so again; else ""."""
    if old is None or old.erased or old.state != LIVE or old.body.get("digest") != digest:
        return ""
    return old.text if not old.body["extractive"] or old.body["version"] == RULES else ""


def renewed(fresh: Node, old: Node | None) -> Node:
    """The fresh node; what a model wrote of the very same words is kept, and when an unchanged one was made."""
    if old is None or old.erased or not old.text or old.body.get("digest") != fresh.body["digest"]:
        return fresh
    if old.body["extractive"]:
        unchanged = old.text == fresh.text and old.body["version"] == fresh.body["version"]
        return replace(fresh, body={**fresh.body, "made": old.body["made"]}) if unchanged else fresh
    kept = {name: old.body[name] for name in ("version", "extractive", "made", "parts")}
    return replace(fresh, text=old.text, made_by=old.made_by, body={**fresh.body, **kept})


def no_more(view: View, sources: Sequence[NodeId], kept: Iterable[Edge] = ()) -> list[EdgeKey]:
    """The edges of summaries that are not drawn again."""
    staying = {edge.key for edge in kept}
    there = view.edges(sources, (COVERS,), "out", _MANY_EDGES) if sources else []
    return [edge.key for edge in there if edge.key not in staying]


def put(fresh: Sequence[Node], old: Mapping[NodeId, Node]) -> list[Node]:
    """Those to be written: renewed, and only where something is different."""
    made = (renewed(node, old.get(node.id)) for node in fresh)
    return [node for node in made if not same(node, old.get(node.id))]


def gone(old: Iterable[Node], kept: Iterable[NodeId]) -> list[Node]:
    """What must go of what there was, emptied; what is empty already is left alone."""
    staying = set(kept)
    return [
        retired(node)
        for node in old
        if node.id not in staying and not node.erased and (node.text or node.state == LIVE)
    ]


def same(node: Node, old: Node | None) -> bool:
    """Whether a node stands just so in the store."""
    return old is not None and replace(old, body={}) == replace(node, body={}) and dict(old.body) == dict(node.body)
