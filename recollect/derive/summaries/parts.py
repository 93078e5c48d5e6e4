"""The parts of a summary that rules can honestly tell: what it was about, worries, feelings, actions, exact data [1].

They have the names and shapes that the prompts ask a model for, so that a reader need not know who made them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from recollect.derive.summaries.extract import ScoredSentence
from recollect.derive.summaries.phrases import phrases
from recollect.derive.summaries.policy import Policy
from recollect.derive.summaries.signs import ACTIONS, CONCERNS, FEELINGS, IMPERATIVES, OWN, OWN_SIGNS, STRONG_ACTIONS
from recollect.index.passages import is_person
from recollect.record import Message
from recollect.text.terms import words

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
