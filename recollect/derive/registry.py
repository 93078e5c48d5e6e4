"""All derivers and kinds of work. Another one is added here."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.derive.entities.derive import Entities
from recollect.derive.entities.summed import with_names
from recollect.derive.facts.deriver import Facts
from recollect.derive.facts.work import SettleWork
from recollect.derive.summaries.deriver import Summaries
from recollect.derive.summaries.period_work import Periods
from recollect.derive.summaries.together import Together
from recollect.derive.tasks.base import Deriver, ModelWork, Work
from recollect.derive.topics.segments import Segments
from recollect.derive.topics.work import Topics
from recollect.models.embedding.static import StaticEmbedder


def derivers() -> Sequence[Deriver]:
    """What is derived from the messages of a conversation."""
    return Facts(), Entities(), Segments(), Summaries(StaticEmbedder())


def works() -> Sequence[Work]:
    """Kinds of tasks that need no model."""
    return SettleWork(), Periods(StaticEmbedder()), Together(StaticEmbedder()), Topics(StaticEmbedder())


#: Whoever makes a summary: it leads to the entities that it names.
finish = with_names


def model_works() -> Sequence[ModelWork]:
    """Kinds of tasks for a language model."""
    from recollect.derive.entities.model import EntitiesByModel
    from recollect.derive.facts.model import FactsByModel
    from recollect.derive.facts.proof import bears_out
    from recollect.derive.summaries.models import SummariesByModel

    return FactsByModel(), SummariesByModel(), EntitiesByModel(bears_out)
