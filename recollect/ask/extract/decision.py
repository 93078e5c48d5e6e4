"""Why something was chosen: the choice first, then the reasons that were given, in the words of the time."""

from __future__ import annotations

from recollect.ask.extract.choosing import MOST_CITED, Chooser, Draft, Quote
from recollect.ask.extract.signs import CHOICE, REASON
from recollect.ask.extract.telling import Group, tell
from recollect.ask.extract.weighing import Weighed
from recollect.record import NodeId, Role

_CHOSEN, _OWN, _THERE, _REASON = 0.5, 0.15, 0.35, 0.3
_REASONS = 3
_NEAR = 12  # messages before and after the choice in which its reasons are looked for


def decision(chooser: Chooser) -> Draft:
    """The choice, its reasons, and what else may tell."""
    choice = _choice(chooser)
    if choice is None:
        return tell([Group(chooser.within(chooser.each(chooser.evidence.passages)[:MOST_CITED]))])
    reasons = _reasons(chooser, choice)
    used = {choice.message.id, *(reason.message.id for reason in reasons)}
    others = [quote for quote in chooser.each(chooser.evidence.passages) if quote.message.id not in used]
    rest = others[: MOST_CITED - 1 - len(reasons)]
    fitted = chooser.within([choice, *reasons, *rest])
    why = {reason.message.id for reason in reasons}
    groups = [Group([one]) for one in fitted if one.message.id == choice.message.id]
    if given := [one for one in fitted if one.message.id in why]:
        groups.append(Group(given, "Reasons:"))
    if also := [one for one in fitted if one.message.id not in used]:
        groups.append(Group(also, "Also said:"))
    return tell(groups)


def _choice(chooser: Chooser) -> Quote | None:
    """What says what was chosen."""
    found: list[tuple[float, int, Weighed]] = []
    for place, passage in enumerate(chooser.evidence.passages):
        for one in chooser.scale.weigh(passage.message):
            if one.prose and one.share > 0 and CHOICE.search(one.text):
                own = _OWN if passage.message.role is Role.USER else 0.0
                found.append((one.worth + _CHOSEN + own - 0.04 * place, -place, one))
    if not found:
        return None
    _, place, best = max(found, key=lambda one: one[:2])
    return chooser.quote(chooser.evidence.passages[-place], best)


def _reasons(chooser: Chooser, choice: Quote) -> list[Quote]:
    """The sentences that give reasons, near the choice or about the same, the best first; one of a message."""
    best: dict[NodeId, tuple[float, Quote]] = {}
    there, at = choice.message.conversation_id, choice.message.position
    for place, (passage, message) in enumerate(chooser.pool()):
        near = message.conversation_id == there and abs(message.position - at) <= _NEAR
        for one in chooser.scale.weigh(message):
            if (
                not one.prose
                or not REASON.search(one.text)
                or (message.id == choice.message.id and one.span == choice.span)
            ):
                continue
            if not near and one.share <= 0:
                continue
            worth = one.worth + _THERE * near - 0.02 * place
            if message.id not in best or best[message.id][0] < worth:
                best[message.id] = (worth, chooser.quote(passage, one))
    ranked = sorted(best.values(), key=lambda pair: -pair[0])
    return [quote for worth, quote in ranked if worth > _REASON and quote.message.id != choice.message.id][:_REASONS]
