"""All predicates. Another family is another file, and a line here."""

from __future__ import annotations

from recollect.derive.facts.rules.health import HEALTH
from recollect.derive.facts.rules.people import PEOPLE
from recollect.derive.facts.rules.predicate import Predicate
from recollect.derive.facts.rules.tastes import TASTES
from recollect.derive.facts.rules.times import TIMES

#: In the order in which they are tried; several may hold of one clause.
PREDICATES: tuple[Predicate, ...] = HEALTH + PEOPLE + TASTES + TIMES
