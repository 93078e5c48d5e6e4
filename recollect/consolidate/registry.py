"""All derivers and kinds of work. Another one is added here."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.consolidate.base import Deriver, ModelWork, Work
from recollect.consolidate.entities.derive import Entities
from recollect.consolidate.facts.deriver import Facts
from recollect.consolidate.facts.work import SettleWork
from recollect.consolidate.summaries.deriver import Summaries
from recollect.consolidate.summaries.period_work import Periods
from recollect.consolidate.topics.segments import Segments
from recollect.consolidate.topics.work import Topics
from recollect.embedding import Embedder
from recollect.embedding.static import StaticEmbedder


def derivers(embedder: Embedder) -> Sequence[Deriver]:
    """What is derived from the messages of a conversation."""
    return Facts(), Entities(), Segments(), Summaries(StaticEmbedder())


def works(embedder: Embedder) -> Sequence[Work]:
    """Kinds of tasks that need no model."""
    return SettleWork(), Periods(StaticEmbedder()), Topics(StaticEmbedder())


def model_works(embedder: Embedder) -> Sequence[ModelWork]:
    """Kinds of tasks for a language model."""
    from recollect.consolidate.entities.model import EntitiesByModel
    from recollect.consolidate.facts.model import FactsByModel
    from recollect.consolidate.summaries.models import SummariesByModel

    return FactsByModel(), SummariesByModel(), EntitiesByModel()
