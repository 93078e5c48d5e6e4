"""Why something was chosen: the choice first, then the reasons that were given, in the words of the time."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.answer.evidence import SourcePassage
from recollect.answer.extract.choosing import MOST_CITED, Chooser
from recollect.answer.extract.quote import Draft, Quote
from recollect.answer.extract.signs import CAUSE, CHOICE, REASON
from recollect.answer.extract.telling import ALSO, QuoteGroup, by_nearness, tell
from recollect.record import Message, NodeId, Role

_CHOSEN, _OWN, _LENT = 0.5, 0.3, 0.5  # what a choice gains, one of one's own, and one where the talk is about it
_THERE, _PLAIN, _AFTER, _LEAST = 0.35, 0.15, 0.15, 0.2  # near the choice, plainly a reason, said later; the least worth
_ABOUT = 0.6  # of the question's words that any talk holds, what that of the choice must hold at least
_REASONS = 3
_CLOSE = 3  # messages before and after what names the subject, in which it may go without its name
_NEAR = 12  # messages before and after the choice in which its reasons are looked for


def decision(chooser: Chooser) -> Draft:
    """The choice, its reasons, and what else may tell."""
    choice = _choice(chooser)
    if choice is None:
        return tell(by_nearness(chooser.within(chooser.quotes())))
    reasons = _reasons(chooser, choice)
    used = {choice.message.id, *(reason.message.id for reason in reasons)}
    rest = chooser.quotes(MOST_CITED - 1 - len(reasons), used)
    fitted = chooser.within([choice, *reasons, *rest])
    why = {reason.message.id for reason in reasons}
    groups = [QuoteGroup([one]) for one in fitted if one.message.id == choice.message.id]
    if given := [one for one in fitted if one.message.id in why]:
        groups.append(QuoteGroup(given, "Reasons:"))
    if also := [one for one in fitted if one.message.id not in used]:
        groups.append(QuoteGroup(also, ALSO))
    return tell(groups)


def _choice(chooser: Chooser) -> Quote | None:
    """What says what was chosen: its own words need not name it, where the talk is about it."""
    shares = _shares(chooser)
    most = max((share for _, _, share in shares), default=0.0)
    best: tuple[float, Quote | None] = (0.0, None)
    for place, (passage, message) in enumerate(chooser.pool()):
        there = _lent(chooser, passage, message, shares)
        for one in chooser.scale.weigh(message):
            if not one.prose or not CHOICE.search(one.text) or max(one.share, there) < _ABOUT * most or not most:
                continue
            own = _OWN if message.role is Role.USER else 0.0
            worth = one.worth + _LENT * max(0.0, there - one.share) + _CHOSEN + own - 0.02 * place
            if worth > best[0]:
                best = (worth, chooser.quote(passage, one))
    return best[1]


def _shares(chooser: Chooser) -> list[tuple[NodeId, int, float]]:
    """Where it is spoken of: conversation, position, and how much of the question's words are said there."""
    told = [(passage.message, chooser.scale.best(passage.message)) for passage in chooser.evidence.passages]
    return [(m.conversation_id, m.position, best.share) for m, best in told if best is not None]


def _lent(
    chooser: Chooser, passage: SourcePassage, message: Message, shares: Sequence[tuple[NodeId, int, float]]
) -> float:
    """How much the talk around a message has to do with the question: by its title, or by what was said close by."""
    title = passage.conversation.title if passage.conversation is not None else ""
    close = (s for there, at, s in shares if there == message.conversation_id and abs(at - message.position) <= _CLOSE)
    return max(chooser.scale.share(title), *close, 0.0)


def _reasons(chooser: Chooser, choice: Quote) -> list[Quote]:
    """The sentences that give reasons, those near the choice first, one of a message, the best first."""
    best: dict[NodeId, tuple[float, Quote]] = {}
    most = max((share for _, _, share in _shares(chooser)), default=0.0)
    there, at = choice.message.conversation_id, choice.message.position
    for passage, message in chooser.pool():
        near = message.conversation_id == there and abs(message.position - at) <= _NEAR
        for one in chooser.scale.weigh(message):
            if message.id == choice.message.id or not one.prose or not REASON.search(one.text):
                continue
            plain = bool(CAUSE.search(one.text))
            if one.worth < _LEAST or not (near or (plain and one.share >= _ABOUT * most)):
                continue
            worth = one.worth + _THERE * near + _PLAIN * plain - _AFTER * (near and message.position > at)
            if message.id not in best or best[message.id][0] < worth:
                best[message.id] = (worth, chooser.quote(passage, one))
    ranked = sorted(best.values(), key=lambda pair: -pair[0])
    return [quote for _, quote in ranked[:_REASONS]]
