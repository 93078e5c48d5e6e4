"""`HierarchicalMemory` of amplihack_memory [3] and its names: change the import and programs keep working.

>>> from recollect.compat.hierarchical import HierarchicalMemory, MemoryCategory
"""

from recollect.compat.hierarchical.memory import HierarchicalMemory
from recollect.compat.hierarchical.names import (
    MemoryCategory,
    MemoryClassifier,
    compute_similarity,
    compute_tag_similarity,
    compute_word_similarity,
    detect_contradiction,
    extract_entity_name,
    rerank_facts_by_query,
)
from recollect.compat.hierarchical.records import KnowledgeEdge, KnowledgeNode, KnowledgeSubgraph

__all__ = [
    "HierarchicalMemory",
    "KnowledgeEdge",
    "KnowledgeNode",
    "KnowledgeSubgraph",
    "MemoryCategory",
    "MemoryClassifier",
    "compute_similarity",
    "compute_tag_similarity",
    "compute_word_similarity",
    "detect_contradiction",
    "extract_entity_name",
    "rerank_facts_by_query",
]
