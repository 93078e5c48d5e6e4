"""What a rule found in a sentence, before it is a claim."""

from __future__ import annotations

from typing import NamedTuple

from recollect.derive.facts.claim import Category, Polarity


class RuleMatch(NamedTuple):
    """An entity, an attribute and a value; `rest` is the clause, in which times are told."""

    entity: str
    attribute: str
    value: str
    category: Category = Category.SEMANTIC
    polarity: Polarity = Polarity.IS
    rest: str = ""
