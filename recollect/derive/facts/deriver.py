"""The deriver of facts: what messages claim, by rules, settled with what was claimed before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recollect.derive.facts.book import CLAIMS, MODEL, RULES, ClaimChanges, settled
from recollect.derive.facts.claim import Claim, from_plain, with_ended_doses
from recollect.derive.facts.lasting import heard_rules
from recollect.derive.facts.model import RUNS
from recollect.derive.facts.proof import proved
from recollect.derive.facts.rules.draw import VERSION, draw
from recollect.derive.tasks.base import Effects, Portion, Setting
from recollect.record import Edge, Message, Metadata, NodeId
from recollect.store import Task, View

_ALL = 1_000_000_000
_BEFORE = 4


class Facts:
    """Facts from conversations, without a model."""

    name = "facts"
    version = VERSION

    def derive(self, view: View, portions: Sequence[Portion], setting: Setting) -> Effects:
        """The claims of the messages, and the facts of every slot that they touch."""
        ledger = ClaimChanges()
        for portion in portions:
            ledger.add(claims_of(portion), RULES)
        whole = [i for p in portions if p.whole for i in (*(m.id for m in p.messages), *p.gone)]
        if whole:
            said = {i for p in portions if p.whole for i in RUNS.prefixes(p.messages)}
            stored = view.edges(whole, (CLAIMS,), "in", limit=_ALL)
            ledger.touch(edge.source_id for edge in stored)
            ledger.keep_unchanged(edge for edge in stored if edge.name == RULES)
            by_model = [edge for edge in stored if edge.name == MODEL]
            ledger.drop(edge for edge in by_model if edge.properties.get("run") not in said)
            messages = {message.id: message for portion in portions for message in portion.messages}
            for edge in by_model:
                if edge.properties.get("run") in said and edge.target_id in messages:
                    _prove_again(edge, messages[edge.target_id], ledger)
        made = settled(view, ledger)
        tasks: list[Task] = []
        states: dict[NodeId, Metadata] = {}
        for portion in portions:
            asked, states[portion.conversation.id] = RUNS.wished(view, portion, setting)
            tasks += asked
        return replace(made, tasks=tasks, states=states)


def _prove_again(edge: Edge, message: Message, ledger: ClaimChanges) -> None:
    """Keeps of what a model claimed what the message proves: an earlier version asked for less."""
    claims = [from_plain(message.id, plain) for plain in edge.properties["claims"]]
    proven = [fresh for claim in claims if (fresh := proved(claim, message)) is not None]
    if proven != claims or any(claim.slot != edge.source_id for claim in proven):
        ledger.drop([edge])
        ledger.add(proven, MODEL, run=str(edge.properties["run"]))


def claims_of(portion: Portion) -> list[Claim]:
    """The claims of the messages of a portion. A message without a time is as old as its conversation."""
    messages = [*portion.before, *portion.messages]
    created = portion.conversation.created
    claims: list[Claim] = []
    for at in range(len(portion.before), len(messages)):
        message, before = messages[at], messages[max(0, at - _BEFORE) : at]
        drawn = [*with_ended_doses(draw(message, before)), *heard_rules(message, before)]
        claims += [claim if claim.said_at else replace(claim, said_at=created) for claim in drawn]
    return claims
