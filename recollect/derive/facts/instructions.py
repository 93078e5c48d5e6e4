"""Rules: what the user wants of every answer ("use metric units"). They stand first in every context.

A rule is a fact of the category `rule`, in a slot of its own: it settles with the same told again and supersedes
nothing, and is edited, pinned, forgotten, exported and undone like any other. Only a rule that the user wrote, pinned
or edited is live. One that was heard in a message, or that a model stored, is offered: pinning it confirms it,
forgetting it dismisses it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from recollect.derive.facts.book import OFFERED
from recollect.derive.facts.claim import USER, Category, Claim, Provenance, entity_key, identity_of
from recollect.derive.facts.fact import is_rule
from recollect.derive.facts.stored import record, stored_claim
from recollect.errors import InvalidInput
from recollect.record import Message, Node, NodeId, NodeKind, stable_id, to_microseconds
from recollect.store import View, Where
from recollect.store.transfer import every
from recollect.text.clean import clean_text

#: Whom rules are about, and the attribute that they are. No other fact has this entity.
WHOSE, RULE = f"{USER}'s rules", "rule"
#: The characters of a rule, and the tokens of all together as a prompt lists them: so many fit into every context of
#: 2,000 tokens or more.
MOST_CHARACTERS, MOST_TOKENS = 500, 800
_LISTED = "To see and shorten them: recollect facts --rules"


def told_rule(text: str, *, is_confirmed: bool, said_by: str, now: datetime, id: NodeId) -> Node:
    """The record of a rule. Raises InvalidInput for an empty one, and one that is too long."""
    words = rule_words(text)
    provenance = Provenance.BY_HAND if is_confirmed else Provenance.STORED
    more = {"settles_in": rule_slot(words), "category": Category.RULE, "provenance": provenance}
    # Since now: what was decided about the same words before is about the time before.
    claim = stored_claim(id, words, WHOSE, RULE, words, said_by=said_by, said_at=now, since=now, **more)
    return record(words, [claim], 1.0, {"category": Category.RULE.value, "tags": []})


def heard_rule(words: str, message: Message, start: int, end: int, *, said_by: str, made_by: str) -> Claim:
    """The claim of a message that says a rule."""
    return Claim(
        entity=WHOSE,
        attribute=RULE,
        value=words,
        content=words,
        message_id=message.id,
        start=start,
        end=end,
        quote=message.content[start:end],
        said_by=said_by,
        said_at=message.timestamp,
        order=(message.conversation_id, message.position),
        category=Category.RULE,
        made_by=made_by,
        settles_in=rule_slot(words),
    )


def rule_words(text: str) -> str:
    """A rule as it is stored, in one line. Raises InvalidInput."""
    words = " ".join(clean_text(text).split())
    if not words:
        raise InvalidInput("Nothing to remember: the rule is empty.")
    if len(words) > MOST_CHARACTERS:
        raise InvalidInput(
            f"A rule of {len(words):,} characters is too long: at most {MOST_CHARACTERS}.",
            hint="Every context holds it: say it shorter, or as several rules.",
        )
    return words


def rule_slot(words: str) -> NodeId:
    """The slot of a rule. It holds no words."""
    return stable_id("slot", RULE, identity_of(RULE, words))


def rules_in(view: View) -> list[Node]:
    """The rules, in the order in which they were told."""
    return _in_order(_nodes(view, "live"))


def offered_in(view: View) -> list[Node]:
    """What may be a rule and waits for the user, in the order in which it was told."""
    known = {node.body["identity"] for node in _nodes(view, "live")}
    return _in_order(node for node in _nodes(view, OFFERED) if node.body["identity"] not in known)


def same_rule(view: View, told: Node, *, is_confirmed: bool) -> Node | None:
    """The rule that says the same already."""
    identity = identity_of(RULE, told.text)
    states = ("live",) if is_confirmed else ("live", OFFERED)
    return next((node for node in _nodes(view, *states) if node.body["identity"] == identity), None)


def check_room(view: View, words: str, but: NodeId | None = None) -> None:
    """Raises InvalidInput where a rule does not fit beside those that are there; `but` is one that it replaces."""
    from recollect.models.embedding.tokenizer import count_tokens

    others = [node.text for node in _nodes(view, "live") if node.id != but]
    cost = sum(count_tokens(f"- {one}") + 1 for one in (*others, words))
    if cost > MOST_TOKENS:
        raise InvalidInput(
            f"All rules together would have {cost:,} tokens: at most {MOST_TOKENS:,}, as every context holds them.",
            hint=_LISTED,
        )


def _nodes(view: View, *states: str) -> list[Node]:
    where = Where(kinds=(NodeKind.FACT.value,), keys=(entity_key(WHOSE),), states=states, deleted=False)
    return [node for node in every(view, Node, where) if is_rule(node) and node.text and not node.erased]


def _in_order(nodes: Iterable[Node]) -> list[Node]:
    return sorted(nodes, key=lambda node: (to_microseconds(node.valid_from) or 0, node.id))
