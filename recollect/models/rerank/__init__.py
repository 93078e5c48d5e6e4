"""Re-rankers: a cross-encoder of the user's own, which reads question and text together."""

from recollect.models.rerank.base import Reranker
from recollect.models.rerank.choose import open_reranker, read_reranker
from recollect.models.rerank.lazy import LazyReranker

__all__ = ["LazyReranker", "Reranker", "open_reranker", "read_reranker"]
