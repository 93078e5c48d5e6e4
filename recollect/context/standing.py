"""What stands whatever is asked: summaries, current facts, and the newest messages; in bounded time for any history.

Its order is that of how seldom a part changes, and the newest messages begin at a place that moves on in steps: so two
turns share a beginning, to the byte, wherever nothing in it has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.context import wording
from recollect.context.budget import PER_ENTRY, PER_MESSAGE, shortened, tokens_in, tokens_in_each
from recollect.context.choices import ToolNames
from recollect.context.result import Part
from recollect.derive.facts.claim import DOSE, VITAL, entity_key, is_vital
from recollect.derive.facts.fact import node_when
from recollect.derive.facts.rules.subjects import ONES_OWN, ones_own
from recollect.derive.summaries.nodes import COVERS, L1, L2
from recollect.derive.tasks.base import LIVE
from recollect.errors import NotFound
from recollect.record import Conversation, Kind, Message, Node, NodeId, NodeKind, Role, to_microseconds
from recollect.store import View, Where
from recollect.store.kept import Kept

#: The shares of what the budget leaves beside the guide and the text, at most: in a small one summaries and facts give
#: way to what answers (facts that are pinned or vital do not), and so do the newest messages where no conversation goes
#: on.
SUMMARIES_SHARE, FACTS_SHARE, RECENT_SHARE, RECENT_OF_ALL_SHARE = 0.12, 0.08, 0.25, 0.12
_AMPLE = 8_000  # tokens from which on the shares are whole
#: Of the share of the newest messages what a single one may take; of a longer one beginning and end are shown.
_ONE_MESSAGE = 0.5
_READ_SUMMARIES, _READ_FACTS = 40, 2_000
_TOLD_FACTS = 120
_NAMING = (*ONES_OWN, "friend", "pet")  # attributes whose values are names of one's own people and animals
_USER = "user"  # the entity of facts about the person who speaks
_STEP = 5  # messages by which the beginning of the newest ones moves on


@dataclass(frozen=True, slots=True)
class Standing:
    """The parts that stand, and the newest messages as they are handed out. `seen` need no telling again."""

    parts: tuple[Part, ...]
    recent: tuple[tuple[str, str], ...] = ()  # role and words
    seen: frozenset[NodeId] = frozenset()
    conversation: NodeId | None = None

    @property
    def tokens(self) -> int:
        """What all of it costs."""
        return sum(part.tokens for part in self.parts)


@dataclass(frozen=True, slots=True)
class Read:
    """A view, and what was read in it before, while nothing has been written."""

    view: View
    kept: Kept


def standing(
    read: Read,
    text: str,
    conversation_id: NodeId | None,
    window: int,
    room: int,
    now: datetime,
    *,
    tools: ToolNames | None = None,
) -> Standing:
    """What stands, in at most its shares of `room` tokens; with how the rest of a long message is opened where there
    are tools for that. Raises NotFound for a conversation that is not there.
    """
    view = read.view
    newest = read.kept.of(view, ("newest", conversation_id, window), lambda: _newest(view, conversation_id, window))
    asked = newest[-1].id if newest and _is_asked(newest[-1], text) else None
    of_recent = RECENT_OF_ALL_SHARE if conversation_id is None else RECENT_SHARE
    recent, said, kept = _recent([m for m in newest if m.id != asked], window, int(room * of_recent), tools)
    begins = min((t for m in kept if (t := to_microseconds(m.timestamp)) is not None), default=None)
    ample = min(1.0, room / _AMPLE)
    told = read.kept.of(view, ("summaries", conversation_id), lambda: _read_summaries(view, conversation_id))
    summaries = _summaries(told, int(room * ample * SUMMARIES_SHARE), begins)
    held = read.kept.of(view, ("facts", now.date()), lambda: _read_facts(view, now))
    facts = _facts(held, room, ample)
    parts = [part for part in (summaries, facts, recent) if part is not None]
    seen = {m.id for m in kept} | ({asked} if asked else set())
    return Standing(tuple(parts), tuple(said), frozenset(seen), conversation_id)


def _is_asked(message: Message, text: str) -> bool:
    """Whether this is the text itself: who stores a message before asking for its context has it there already."""
    return message.role is Role.USER and message.content.strip() == text.strip()


# --- the newest messages -------------------------------------------------------------------------------------------
def _newest(view: View, conversation_id: NodeId | None, window: int) -> list[Message]:
    """The newest messages that were said, oldest first: of the active path of a conversation, or of all."""
    if conversation_id is None:
        where = Where(kinds=(Kind.SAID.value,), deleted=False, order="newest")
        found = view.find(Message, where, limit=2 * window + _STEP).items if window else []
        return [message for message in reversed(found) if message.active and message.content]
    end = view.end(conversation_id)
    if end is None or end.conversation.erased:
        if view.get(Conversation, [conversation_id]) and end is not None:
            return []
        raise NotFound(f"No conversation has the ID {conversation_id}.", hint="To see what there is: recollect list")
    if end.leaf is None or not window:
        return []
    path = [end.leaf, *view.above(end.leaf.id, 3 * window + _STEP)]
    return [m for m in reversed(path) if m.kind is Kind.SAID and not m.deleted and m.content][-2 * window - _STEP :]


def _recent(
    newest: Sequence[Message], window: int, budget: int, tools: ToolNames | None
) -> tuple[Part | None, list[tuple[str, str]], list[Message]]:
    """The newest messages that fit, from a place on that moves in steps."""
    if not newest or not window:
        return None, [], []
    most = int(budget * _ONE_MESSAGE)
    start = _begin(newest, window)
    words = [wording.as_said(message) for message in newest]
    costs = [cost + PER_MESSAGE for cost in tokens_in_each(words)]
    for at in range(start, len(newest)):
        if costs[at] > max(most, PER_MESSAGE + 8):
            words[at] = _cut(newest[at], words[at], most - PER_MESSAGE, tools)
            costs[at] = tokens_in(words[at]) + PER_MESSAGE
    heading = tokens_in(wording.RECENT) + PER_ENTRY
    while start < len(newest) and heading + sum(costs[start:]) > budget:
        start = _after(newest, start)
    kept = list(newest[start:])
    if not kept:
        return None, [], []
    said = [(_side(message), own) for message, own in zip(kept, words[start:], strict=True)]
    lines = [f"[{role}]: {wording.shown(own)}" for role, own in said]
    text = "\n".join([wording.RECENT, *lines])
    whole = frozenset(m.id for m, (_, own) in zip(kept, said, strict=True) if own == wording.as_said(m))
    cost = max(tokens_in(text), heading + sum(costs[start:]))
    return Part("recent", text, cost, tuple(m.id for m in kept), whole), said, kept


def _side(message: Message) -> str:
    return "assistant" if message.role is Role.ASSISTANT else "user"


def _begin(newest: Sequence[Message], window: int) -> int:
    """Where the newest messages begin: at least the window's, from the last step before it."""
    start = max(0, len(newest) - window)
    while start > 0 and not _is_step(newest, start):
        start -= 1
    return start


def _after(newest: Sequence[Message], start: int) -> int:
    """The next step, or where none is left the next message."""
    ahead = range(start + 1, len(newest))
    return next((at for at in ahead if _is_step(newest, at)), start + 1)


def _is_step(newest: Sequence[Message], at: int) -> bool:
    """Whether a message is one of those that the newest ones may begin with; it is the same whenever it is asked."""
    before, own = newest[at - 1].position, newest[at].position
    return own // _STEP != before // _STEP or newest[at].conversation_id != newest[at - 1].conversation_id


def _cut(message: Message, words: str, budget: int, tools: ToolNames | None) -> str:
    note = f"\n{wording.code(message.id)} goes on" + (f": {tools.message}" if tools else "")
    return shortened(words, max(0, budget - tokens_in(note))) + note


# --- summaries -----------------------------------------------------------------------------------------------------
def _read_summaries(view: View, conversation_id: NodeId | None) -> tuple[list[Node], list[Node]]:
    """The newest L2, and the newest L1 that are in none of them."""
    where = Where(
        kinds=(NodeKind.SUMMARY.value,), states=(LIVE,), conversation=conversation_id, deleted=False, order="newest"
    )
    nodes = [n for n in view.find(Node, where, limit=_READ_SUMMARIES).items if n.key in (L1, L2) and n.text]
    upper = [node for node in nodes if node.key == L2]
    covered = {edge.target_id for edge in view.edges([n.id for n in upper], (COVERS,))} if upper else set()
    return upper, [node for node in nodes if node.key == L1 and node.id not in covered]


def _summaries(told: tuple[list[Node], list[Node]], budget: int, before: int | None) -> Part | None:
    """L2, then L1, each in order of time; the newest, where not all fit."""
    upper, lower = told[0], _taken([node for node in told[1] if _ended(node, before)], budget // 2)
    return _part("summaries", wording.SUMMARIES, [*lower, *upper], _summary, budget, _oldest_first)


def _ended(node: Node, before: int | None) -> bool:
    """Whether it tells of more than the newest messages, which stand there themselves."""
    begins = to_microseconds(node.valid_from)
    return before is None or begins is None or begins < before


def _taken(nodes: Sequence[Node], budget: int) -> list[Node]:
    costs = tokens_in_each([_summary(node) for node in nodes])
    taken, left = [], budget
    for node, cost in zip(nodes, costs, strict=True):
        if cost + PER_ENTRY <= left:
            taken.append(node)
            left -= cost + PER_ENTRY
    return taken


def _summary(node: Node) -> str:
    return f"{wording.span(node.valid_from, node.valid_to)}: {wording.shown(node.text)}".removeprefix(": ")


def _oldest_first(node: Node) -> tuple[Any, ...]:
    return node.key != L2, to_microseconds(node.valid_from) or 0, int(node.body.get("block", 0)), node.id


# --- facts ---------------------------------------------------------------------------------------------------------
def _read_facts(view: View, now: datetime) -> list[Node]:
    """What holds now of the person who speaks, and of theirs what does harm where it is forgotten: an allergy of the
    dog. Pinned facts come before all others, then what is vital, both however old, then the newest.
    """
    newest, pinned = _held(view, (_USER,), now, limit=_TOLD_FACTS), _held(view, (_USER,), now, pinned=True)
    own = _held(view, (_USER,), now, attributes=(*VITAL, DOSE, *_NAMING))
    named = (entity_key(str(node.body.get("value", ""))) for node in (*own, *newest))
    theirs = _held(view, tuple(dict.fromkeys([*named, *ones_own(_USER)])), now, attributes=(*VITAL, DOSE))
    vital = [node for node in (*own, *theirs) if _is_vital(node)]
    found = {node.id: node for node in (*pinned, *vital, *newest)}.values()
    return sorted(found, key=lambda node: (not _is_pinned(node), not _is_vital(node)))[:_TOLD_FACTS]


def _held(
    view: View,
    keys: tuple[str, ...],
    now: datetime,
    *,
    attributes: tuple[str, ...] = (),
    pinned: bool = False,
    limit: int = _READ_FACTS,
) -> list[Node]:
    """The newest facts that hold of entities."""
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


def _facts(held: Sequence[Node], room: int, ample: float) -> Part | None:
    """So many facts as fit; for what is pinned or vital the share is whole in a small budget too."""
    lines = tokens_in_each([fact_line(node) for node in held if _is_pinned(node) or _is_vital(node)])
    needed = tokens_in(wording.FACTS) + PER_ENTRY + sum(lines) + PER_ENTRY * len(lines)
    share = room * FACTS_SHARE
    return _part("facts", wording.FACTS, held, fact_line, int(max(share * ample, min(share, needed))), _pinned_first)


def _is_pinned(node: Node) -> bool:
    return bool(node.body.get("pinned", False))


def _is_vital(node: Node) -> bool:
    return is_vital(str(node.body.get("attribute", "")))


def fact_line(node: Node) -> str:
    """As in "Mia lives in Leeds (since 2025-03-14)"."""
    when = node_when(node, wording.day)
    return f"- {wording.shown(node.text)}" + (f" ({when})" if when else "")


def _pinned_first(node: Node) -> tuple[Any, ...]:
    return not _is_pinned(node), to_microseconds(node.valid_from) or 0, node.id


def _part(
    name: str,
    heading: str,
    nodes: Iterable[Node],
    line: Callable[[Node], str],
    budget: int,
    order: Callable[[Node], tuple[Any, ...]],
) -> Part | None:
    """So many of the nodes as fit, chosen in the order in which they come, shown in one that stays the same."""
    left = budget - tokens_in(heading) - PER_ENTRY
    chosen: list[Node] = []
    listed = list(nodes)
    for node, cost in zip(listed, tokens_in_each([line(node) for node in listed]), strict=True):
        if cost + PER_ENTRY <= left:
            chosen.append(node)
            left -= cost + PER_ENTRY
    if not chosen:
        return None
    chosen.sort(key=order)
    text = "\n".join([heading, *map(line, chosen)])
    return replace(_EMPTY, name=name, text=text, tokens=tokens_in(text) + PER_ENTRY, ids=tuple(n.id for n in chosen))


_EMPTY = Part("", "", 0)
