"""Facts as they are read: who said what of whom, when it holds, and which messages prove it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recollect.derive.facts.changes import DERIVES_FROM, TRANSITIONED_TO
from recollect.derive.facts.claim import USER, Category, entity_key
from recollect.derive.facts.structured import Structured, structured
from recollect.errors import InvalidInput
from recollect.record import Edge, Node, NodeId, NodeKind, Origin, from_microseconds, to_microseconds
from recollect.store import View, Where
from recollect.store.transfer import every
from recollect.text.relative import parse_moment
from recollect.text.terms import terms

_ALL = 1_000_000_000
_LONGEST_HISTORY = 100
_SHOWN = ("live", "superseded")  # states; what is stale, forgotten or merged is in no history either
_SELF = frozenset({"me", "i", "myself", "the user", "user"})


@dataclass(frozen=True, slots=True)
class Proof:
    """A message that proves a fact: `quote` is `content[start:end]` of it. `quote` is empty where all of it does. Of
    what a program drew from an episode, `episode` is how that is called; it is no message, and nothing opens it.
    """

    message_id: NodeId
    quote: str = ""
    start: int = 0
    end: int = 0
    said_by: str = ""
    said_at: datetime | None = None
    episode: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A distilled statement. `valid_from` and `valid_to` are when it held (None: not known, or still), `known_from` and
    `known_to` when it was believed. Where nobody told when it began (`since_told`) or ended (`until_told`), these are
    when it was said, and when something else was. `provenance` says where it comes from: "said" in a message, "stored"
    by a program, "imported", "by hand". What was not drawn from messages alone is `by_hand`, what a person edited
    `corrected`. `history` are the facts that it took the place of, newest first.
    """

    id: NodeId
    content: str
    category: str
    entity: str
    attribute: str
    value: str
    valid_from: datetime | None
    valid_to: datetime | None
    known_from: datetime | None
    known_to: datetime | None
    said_by: str
    confidence: float
    proofs: tuple[Proof, ...] = ()
    history: tuple[Fact, ...] = ()
    pinned: bool = False
    by_hand: bool = False
    corrected: bool = False
    current: bool = True
    since_told: bool = False
    until_told: bool = False
    last_said: datetime | None = None
    provenance: tuple[str, ...] = ()

    def when(self, day: Callable[[datetime], str]) -> str:
        """As in "since 3 May 2020", where that was told, else "said 3 July 2023", or "stored" of what nobody said; with
        "until" where that was told.

        >>> from recollect.record import from_microseconds
        >>> fact = Fact("", "", "", "", "", "", None, None, None, None, "", 1.0, last_said=from_microseconds(0))
        >>> fact.when(lambda moment: f"{moment:%Y}")
        'said 1970'
        """
        verb = "stored" if self.provenance and not {"said", "by hand"} & set(self.provenance) else "said"
        return when_told(self.told_since, self.told_until, self.last_said or self.known_from, day, verb)

    @property
    def told_since(self) -> datetime | None:
        """When it began, where somebody told that."""
        return self.valid_from if self.since_told else None

    @property
    def told_until(self) -> datetime | None:
        """When it ended or will end, where somebody told that."""
        return self.valid_to if self.until_told else None

    def holds(self, moment: datetime) -> bool:
        """Whether it holds at a moment, for all that was said."""
        begun = self.told_since is None or self.told_since <= moment
        return self.current and begun and (self.valid_to is None or self.valid_to > moment)

    @property
    def structured(self) -> Structured | None:
        """The value in figures: a dose, a test result, a sum, an amount, a date; None where it is words."""
        return structured(self.attribute, self.value)

    def believed(self, moment: datetime) -> bool:
        """Whether it was known then, and nothing had replaced it yet."""
        if self.known_from is not None and moment < self.known_from:
            return False
        if self.known_to is None:
            return self.current
        return moment < self.known_to


def when_told(
    since: datetime | None,
    until: datetime | None,
    said: datetime | None,
    day: Callable[[datetime], str],
    verb: str = "said",
) -> str:
    """When something holds, in words; what nobody told is not there."""
    parts = [f"since {day(since)}"] if since else [f"{verb} {day(said)}"] if said else []
    return ", ".join([*parts, *([f"until {day(until)}"] if until else [])])


def is_rule(node: Node) -> bool:
    """Whether it is a rule (instructions.py), which is listed apart from what is held true."""
    return node.body.get("category") == Category.RULE.value


def node_when(node: Node, day: Callable[[datetime], str]) -> str:
    """The same of the node of a fact."""
    fact = _fact(node, ())
    return when_told(fact.told_since, fact.told_until, fact.last_said or fact.known_from, day)


def moment_of(when: str | datetime, now: datetime) -> datetime:
    """A time as people say it; of a day, month or year its end. Raises InvalidInput."""
    if isinstance(when, datetime):
        return when if when.tzinfo else when.replace(tzinfo=UTC)
    moment = parse_moment(when, now.date(), end=True)
    if moment is None:
        raise InvalidInput(f"{when!r} is not a time.", hint="Use 2025-03, 2025-03-14, March 2025, last spring …")
    exact = moment == parse_moment(when, now.date(), end=False)  # with a time of day: that moment itself
    return moment if exact else moment - timedelta(microseconds=1)


def find_facts(
    view: View,
    about: str | None = None,
    as_of: datetime | None = None,
    *,
    now: datetime,
    include_past: bool = False,
    conversation: NodeId | None = None,
) -> list[Fact]:
    """Facts, pinned ones first, then the newest. `about` is a name ("Luna", "me"), or else words that they hold; with
    a `conversation` only those that its messages prove.

    Without `as_of` those that hold now, or with `include_past` all; with it those that were believed then. Rules are
    listed apart (instructions.py).
    """
    states = _SHOWN if include_past or as_of is not None else ("live",)
    found = _nodes(view, about, states) if conversation is None else _proved(view, conversation, states)
    nodes = [node for node in found if not node.erased and node.text and not is_rule(node)]
    facts = facts_of(view, nodes)
    if as_of is None and not include_past:
        facts = [fact for fact in facts if fact.holds(now)]
    if as_of is not None:
        facts = [fact for fact in facts if fact.believed(as_of)]
    return sorted(facts, key=lambda fact: (not fact.pinned, -(to_microseconds(fact.known_from) or 0), fact.id))


def facts_of(view: View, nodes: Sequence[Node]) -> list[Fact]:
    """Nodes as facts, with their proofs and histories."""
    chains = _chains(view, [node.id for node in nodes])
    older = {node.id: node for node in view.get(Node, sorted({i for chain in chains.values() for i in chain}))}
    known = {node.id: node for node in nodes} | older
    proofs = _proofs(view, list(known))
    plain = {i: _fact(node, proofs.get(i, ())) for i, node in known.items() if node.text and node.state in _SHOWN}
    return [
        _fact(node, proofs.get(node.id, ()), tuple(plain[i] for i in chains.get(node.id, ()) if i in plain))
        for node in nodes
    ]


def _proved(view: View, conversation: NodeId, states: tuple[str, ...]) -> list[Node]:
    """The facts that messages of a conversation prove."""
    thread = view.thread(conversation)
    ids = [message.id for message in thread.messages if not message.deleted] if thread is not None else []
    sources = dict.fromkeys(edge.source_id for edge in view.edges(ids, (DERIVES_FROM,), "in", limit=_ALL))
    nodes = view.get(Node, list(sources))
    return [node for node in nodes if node.kind == NodeKind.FACT.value and node.state in states]


def _nodes(view: View, about: str | None, states: tuple[str, ...]) -> Iterable[Node]:
    kinds = (NodeKind.FACT.value,)
    if about is None:
        return every(view, Node, Where(kinds=kinds, states=states, deleted=False))
    key = entity_key(about)
    keys = _keys(view, USER if key in _SELF else key)
    named = list(every(view, Node, Where(kinds=kinds, states=states, keys=keys, deleted=False)))
    words = set(terms(about))
    if named or key in _SELF or not words:
        return named
    everything = every(view, Node, Where(kinds=kinds, states=states, deleted=False))
    return [node for node in everything if words <= set(terms(f"{node.key} {node.text}"))]


def _keys(view: View, key: str) -> tuple[str, ...]:
    """The names under which facts of an entity stand: those of "Luna", the one dog there is, under "user's dog" too."""
    where = Where(kinds=(NodeKind.FACT.value,), states=("live",), deleted=False)
    for node in every(view, Node, Where(kinds=where.kinds, states=where.states, keys=(USER,), deleted=False)):
        attribute, value = str(node.body.get("attribute", "")), entity_key(str(node.body.get("value", "")))
        if value == key and _only_one(view, attribute):
            return key, f"{USER}'s {attribute}"
        if key == f"{USER}'s {attribute}" and _only_one(view, attribute):
            return key, value
    return (key,)


def _only_one(view: View, attribute: str) -> bool:
    where = Where(kinds=(NodeKind.FACT.value,), states=("live",), keys=(USER,), deleted=False)
    named = [node for node in every(view, Node, where) if node.body.get("attribute") == attribute]
    return len(named) == 1


def _chains(view: View, ids: Sequence[NodeId]) -> dict[NodeId, list[NodeId]]:
    """The facts before each, newest first."""
    before: dict[NodeId, NodeId] = {}
    frontier = list(ids)
    for _ in range(_LONGEST_HISTORY):
        edges = view.edges(frontier, (TRANSITIONED_TO,), "out", limit=_ALL)
        frontier = [edge.target_id for edge in edges if edge.source_id not in before]
        before |= {edge.source_id: edge.target_id for edge in edges if edge.source_id not in before}
        if not frontier:
            break
    chains: dict[NodeId, list[NodeId]] = {}
    for start in ids:
        chain: list[NodeId] = []
        at = before.get(start)
        while at is not None and at not in chain:
            chain.append(at)
            at = before.get(at)
        chains[start] = chain
    return chains


def _proofs(view: View, ids: Sequence[NodeId]) -> dict[NodeId, tuple[Proof, ...]]:
    found: dict[NodeId, list[Proof]] = {}
    edges = view.edges(ids, (DERIVES_FROM,), "out", limit=_ALL)
    unquoted = sorted({edge.target_id for edge in edges if "quote" not in edge.properties})
    episodes = {one.id: one for one in view.get(Node, unquoted) if one.kind is NodeKind.EPISODE} if unquoted else {}
    for edge in edges:
        found.setdefault(edge.source_id, []).append(_proof(edge, episodes.get(edge.target_id)))
    return {
        i: tuple(sorted(proofs, key=lambda p: (to_microseconds(p.said_at) or 0, p.message_id)))
        for i, proofs in found.items()
    }


def _proof(edge: Edge, episode: Node | None) -> Proof:
    said = edge.properties
    return Proof(
        edge.target_id,
        said.get("quote", ""),
        said.get("start", 0),
        said.get("end", 0),
        said.get("said_by", ""),
        from_microseconds(said.get("said_at")),
        "" if episode is None else str(episode.body.get("source_label") or "an episode"),
    )


def _provenance(node: Node) -> tuple[str, ...]:
    """Where a fact comes from; facts of versions that did not note it were drawn, or stored."""
    noted = node.body.get("provenance")
    return tuple(noted) if noted else ("said",) if node.origin is Origin.DERIVED else ("stored",)


def _fact(node: Node, proofs: Sequence[Proof], history: tuple[Fact, ...] = ()) -> Fact:
    body = node.body
    return Fact(
        id=node.id,
        content=node.text,
        category=str(body.get("category", "semantic")),
        entity=str(body.get("entity", node.key)),
        attribute=str(body.get("attribute", body.get("concept", ""))),
        value=str(body.get("value", "")),
        valid_from=node.valid_from,
        valid_to=node.valid_to,
        known_from=from_microseconds(body.get("known_from")) or node.valid_from,
        known_to=from_microseconds(body.get("known_to")) or (node.valid_to if "slot" not in body else None),
        said_by=str(body.get("said_by", "")),
        confidence=node.score,
        proofs=tuple(proofs),
        history=history,
        pinned=bool(body.get("pinned", False)),
        by_hand=node.origin is not Origin.DERIVED or "by_hand" in body,
        corrected="by_hand" in body or "by hand" in _provenance(node),
        current=node.state == "live",
        since_told=bool(body.get("since_told", False)),
        until_told=bool(body.get("until_told", False)),
        last_said=from_microseconds(body.get("last_said")),
        provenance=_provenance(node),
    )
