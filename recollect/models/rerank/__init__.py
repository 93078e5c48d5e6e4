"""Re-rankers: a cross-encoder of your own, from a folder or a server."""

from recollect.models.rerank.base import Reranker
from recollect.models.rerank.choose import LazyReranker, open_reranker, read_reranker

__all__ = ["LazyReranker", "Reranker", "open_reranker", "read_reranker"]
