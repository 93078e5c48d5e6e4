"""The facts that stand: what does harm where it is forgotten, whoever it is about; who the user is; what is newest."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from datetime import datetime, timedelta
from enum import IntEnum

from recollect.context import result
from recollect.context.result import PER_ENTRY, ContextPart, ListedLine, part_of, tokens_in, tokens_in_each
from recollect.derive.entities.naming import entity_id
from recollect.derive.facts.claim import DOSE, USER, VITAL, Provenance, entity_key, is_single, is_vital
from recollect.derive.facts.fact import is_rule, node_when
from recollect.derive.facts.rules.subjects import ONES_OWN, ones_own
from recollect.derive.facts.structured import structured
from recollect.derive.tasks.base import LIVE
from recollect.record import Message, Node, NodeId, NodeKind, to_microseconds
from recollect.store import View, Where


class Rank(IntEnum):
    """What comes before what."""

    PINNED = 0
    VITAL = 1  # to the user and the user's own
    VITAL_TO_OTHERS = 2  # of whom nobody has said who they are
    NAME = 3
    FAMILY = 4
    HOME = 5
    WORK = 6
    FIGURES = 7  # budgets and dates by which something is due
    SINGLE = 8  # what else there is one of
    OTHER = 9


#: Of what there is for all that stands so much is filled at most with facts of a rank and those before it.
_FILLED = {Rank.PINNED: 1.0, Rank.VITAL: 1.0, Rank.VITAL_TO_OTHERS: 0.8, Rank.SINGLE: 0.6, Rank.OTHER: 0.35}
_FILLED_BY_OWN = 0.9
_MAY_GIVE_WAY = Rank.SINGLE  # and what comes behind it
#: Attributes that say who somebody is: of the user's people and animals by name, and what is stored of anybody.
_FAMILY = (*ONES_OWN, "friend", "pet")
_WHO = ("relation", "relationship", "species")
_DEADLINES = ("deadline", "due", "due date")
_FIGURES = (*_DEADLINES, "budget", "weekly budget", "monthly budget", "yearly budget", "annual budget")
_RANKS = {
    "name": Rank.NAME,
    **dict.fromkeys((*_FAMILY, *_WHO), Rank.FAMILY),
    **dict.fromkeys(("home", "address"), Rank.HOME),
    **dict.fromkeys(("job", "employer"), Rank.WORK),
    **dict.fromkeys(_FIGURES, Rank.FIGURES),
}
_USERS = (*VITAL, DOSE, *_RANKS)
_PLANS = ("plan", "appointment")
_READ, _READ_ANYBODYS, _READ_NEWEST, _TOLD = 2_000, 1_000, 300, 120
_READ_HERE = 100  # messages of a conversation in which names are looked for
_LEFT = timedelta(days=30)  # after which a plan without a date is none any more
_LONGEST_RELATION = 40  # characters


def read_facts(view: View, now: datetime, conversation: NodeId | None) -> list[ListedLine]:
    """What holds now, in the order in which it is to be told."""
    own = _held(view, now, keys=(USER,), attributes=_USERS)
    newest = [node for node in _held(view, now, limit=_READ_NEWEST) if node.key == USER and not is_rule(node)]
    pinned = _held(view, now, keys=(USER,), pinned=True)
    vital = _held(view, now, attributes=(*VITAL, DOSE))
    anybodys = _held(view, now, attributes=(*_WHO, *_FIGURES), limit=_READ_ANYBODYS)
    relations = _relations([*own, *newest, *anybodys])
    distant = _distances(view, vital, relations, conversation)
    found = {node.id: node for node in (*pinned, *own, *vital, *anybodys, *newest) if not _has_passed(node, now)}
    ordered = sorted(found.values(), key=lambda node: (_rank(node, distant), distant.get(node.key, _OWN)))
    told_with = {node.key for node in ordered if is_vital(_attribute(node))}
    return [_line(node, _rank(node, distant), relations) for node in ordered[:_TOLD] if not _is_told(node, told_with)]


def facts_part(lines: Sequence[ListedLine], room: int, ample: float) -> ContextPart | None:
    """So many facts as fit; what is pinned or vital may take all of the room. In a small budget, which is not `ample`,
    there are fewer of those that say nothing of who the user is.
    """
    used, chosen = tokens_in(result.FACTS) + PER_ENTRY, []
    for line, cost in zip(lines, tokens_in_each([line.text for line in lines]), strict=True):
        rank = Rank(line.place[0])
        share = _FILLED.get(rank, _FILLED_BY_OWN) * (ample if rank >= _MAY_GIVE_WAY else 1.0)
        if used + cost + PER_ENTRY <= room * share:
            chosen.append(line)
            used += cost + PER_ENTRY
    return part_of("facts", result.FACTS, chosen)


def _held(
    view: View,
    now: datetime,
    *,
    keys: tuple[str, ...] = (),
    attributes: tuple[str, ...] = (),
    pinned: bool = False,
    limit: int = _READ,
) -> list[Node]:
    """The newest facts that hold."""
    where = Where(
        kinds=(NodeKind.FACT.value,),
        keys=keys,
        states=(LIVE,),
        current=to_microseconds(now),
        attributes=attributes,
        pinned=pinned,
        deleted=False,
        order="newest",
    )
    return [node for node in view.find(Node, where, limit=limit).items if node.text]


def _attribute(node: Node) -> str:
    return str(node.body.get("attribute", ""))


def _rank(node: Node, distant: Container[str] = ()) -> Rank:
    attribute = _attribute(node)
    if node.body.get("pinned", False):
        return Rank.PINNED
    if is_vital(attribute):
        return Rank.VITAL_TO_OTHERS if node.key in distant else Rank.VITAL
    return _RANKS.get(attribute) or (Rank.SINGLE if is_single(attribute) else Rank.OTHER)


def _has_passed(node: Node, now: datetime) -> bool:
    """Whether what it tells of was to be before now: by its date, or for want of one because it is long ago."""
    attribute, value = _attribute(node), str(node.body.get("value", ""))
    if attribute in _DEADLINES and (told := structured(attribute, value)) is not None and told.date[:1].isdigit():
        return told.date < now.date().isoformat()[: len(told.date)]
    if attribute not in _PLANS or node.valid_to is not None:
        return False
    said = node.body.get("last_said")
    return said is not None and said < to_microseconds(now - _LEFT)


def _is_told(node: Node, with_another: Set[str]) -> bool:
    """Whether it says no more than who somebody is, which stands with another fact of theirs."""
    if _rank(node) is not Rank.FAMILY:
        return False
    return (_named(node) if node.key == USER else node.key) in with_another


def _named(node: Node) -> str:
    """The name that it gives one of the user's own: of "Zuri, born 2019" the first part."""
    return entity_key(str(node.body.get("value", "")).partition(",")[0])


# --- who somebody is ------------------------------------------------------------------------------------------------
_OWN = (0, 0)  # the user, and those who are the user's own, are before all others


def _relations(facts: Iterable[Node]) -> dict[str, str]:
    """What those with a name are to the user, or what kind of animal, by their keys."""
    found: dict[str, str] = {}
    for node in facts:
        attribute, value = _attribute(node), str(node.body.get("value", "")).strip()
        if node.key == USER and attribute in _FAMILY:
            found[_named(node)] = f"the {USER}'s {attribute}"
        elif attribute in _WHO and value and len(value) <= _LONGEST_RELATION:
            found.setdefault(node.key, value)
    return found


def _distances(
    view: View, facts: Sequence[Node], relations: Mapping[str, str], conversation: NodeId | None
) -> dict[str, tuple[int, int]]:
    """By their keys those whom facts are about and who are not the user's own: before the others whom this conversation
    names or somebody stored a fact about, and each before whom less is told of.
    """
    own = {USER, *relations, *ones_own(USER)}
    others: dict[str, list[Node]] = {}
    for node in facts:
        if node.key not in own:
            others.setdefault(node.key, []).append(node)
    ids = {key: entity_id(_name(nodes[0])) for key, nodes in others.items()}
    counts = {node.id: int(node.body.get("count", 0)) for node in view.get(Node, list(ids.values())) if node.body}
    here = _words_of(view, conversation) if others and conversation is not None else ""
    return {
        key: (
            1 if any(_was_stored(node) for node in nodes) or _name(nodes[0]).casefold() in here else 2,
            -len(nodes) - counts.get(ids[key], 0),
        )
        for key, nodes in others.items()
    }


def _words_of(view: View, conversation: NodeId) -> str:
    """What was said in a conversation lately."""
    where = Where(conversation=conversation, deleted=False, order="newest")
    return "\n".join(one.content for one in view.find(Message, where, limit=_READ_HERE).items).casefold()


def _name(node: Node) -> str:
    return str(node.body.get("entity", node.key))


def _was_stored(node: Node) -> bool:
    """Whether somebody stored it as a fact, which nobody does of those who do not matter."""
    return any(one != Provenance.SAID for one in node.body.get("provenance", ()))


# --- how it is told -------------------------------------------------------------------------------------------------
def _line(node: Node, rank: Rank, relations: Mapping[str, str]) -> ListedLine:
    """As in "Inês (the user's wife) has coeliac disease (said 2025-03-14)", "Luna, the user's dog: weight 18 kg"."""
    text = result.shown(node.text)
    relation = result.shown(relations.get(node.key, "")) if rank is not Rank.FAMILY else ""
    if relation:
        name = re.escape(_name(node))
        if about := re.match(rf"({name})['’]s (.+)", text, re.IGNORECASE):
            attribute = _attribute(node)
            text = f"{about[1]}, {relation}: {about[2].replace(f'{attribute} is ', f'{attribute} ', 1)}"
        else:
            text, count = re.subn(
                rf"(?<!\w){name}(?!\w)", lambda found: f"{found[0]} ({relation})", text, count=1, flags=re.IGNORECASE
            )
            text = text if count else f"{text} ({relation})"
    when = node_when(node, result.day)
    told = f"- {text}" + (f" ({when})" if when else "")
    return ListedLine(node.id, told, (rank, to_microseconds(node.valid_from) or 0, node.id))
