"""`HierarchicalMemory` of amplihack_memory [3], on a store of this library: its users change the import.

Facts and episodes are nodes of one namespace, the agent's. What is stored is said, not derived: it is kept as it was
given, and what it claims settles with all else that is known of the same. See docs/how-to/hierarchical-memory.md for
what is the same and what is better.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock, Thread
from types import TracebackType
from typing import Any

from recollect.compat.hierarchical import exchange, retrieving, storing
from recollect.compat.hierarchical.names import (
    MemoryCategory,
    MemoryClassifier,
    detect_contradiction,
    extract_entity_name,
)
from recollect.compat.hierarchical.records import (
    STATES,
    KnowledgeNode,
    KnowledgeSubgraph,
    as_dict,
    episode_node,
    fact_node,
    is_own,
    knowledge,
    told_category,
    told_score,
)
from recollect.derive.tasks.queue import Publisher, head_revision
from recollect.engines import open_store
from recollect.errors import StoreError
from recollect.index.passages import node_passages
from recollect.ingest.secrets import Withheld
from recollect.memory.settings import usual_store
from recollect.models.embedding.choose import LazyEmbedder
from recollect.record import Namespace, Node, NodeKind, utc_now
from recollect.runtime.files import Address, Place, read_place
from recollect.store import Change, View, Where
from recollect.store.passages import EmbedderId, Passage
from recollect.store.update import insist

FILE = "memory.db"
_FILES = (".db", ".sqlite", ".sqlite3")


def place_of(agent_name: str, db_path: str | Path | Address | None) -> Place:
    """A file, or the address of a server.

    A path that ends like a database file, or is a file, is that file; any other is a folder, which is made and holds
    `memory.db`. Without a path the folder is named after the agent and lies beside the memory of the command line.
    """
    if isinstance(db_path, Address):
        return db_path
    if db_path is None:
        default = usual_store()
        if isinstance(default, Address):
            return default
        return default.parent / "hierarchical_memory" / agent_name / FILE
    place = read_place(str(db_path))
    if isinstance(place, Address):
        return place
    path = place.expanduser()
    if path.is_file() or (path.suffix.lower() in _FILES and not path.is_dir()):
        return path
    return path / FILE


_AGENT = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_\-]{0,63}")
_MICROSECOND = timedelta(microseconds=1)
_UPKEEP = 1024  # facts after which the index is looked after
_UPKEEP_BUDGET = timedelta(seconds=5)
_DISCOVERY = "discovery"


class HierarchicalMemory:
    """Facts with their history, as a graph. Thread-safe; several processes may use one at once.

    `db_path` is a folder, a file or the address of a server; without one the memory lies beside the default memory of
    this library. Close it, or use it in a `with`. Raises ValueError for an agent without a proper name, StoreError.

    >>> from tempfile import mkdtemp
    >>> memory = HierarchicalMemory("agent", mkdtemp())
    >>> fact = memory.store_knowledge("Klaebo has 9 gold medals", "Klaebo medals")
    >>> [node.content for node in memory.retrieve_subgraph("Klaebo").nodes]
    ['Klaebo has 9 gold medals']
    >>> memory.close()
    """

    def __init__(
        self,
        agent_name: str,
        db_path: str | Path | Address | None = None,
        *,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        name = (agent_name or "").strip()
        if not name:
            raise ValueError("agent_name cannot be empty")
        if not _AGENT.fullmatch(name):
            raise ValueError(f"agent_name must be alphanumeric with hyphens/underscores, 1-64 chars, got: {name!r}")
        self.agent_name = name
        self.db_path = place_of(name, db_path)
        self._store = open_store(self.db_path)
        self._space = self._store.space(Namespace(name))
        self._embedder, self._classifier, self._clock = LazyEmbedder(), MemoryClassifier(), clock
        self._lock, self._last = Lock(), datetime.min.replace(tzinfo=utc_now().tzinfo)
        self._written, self._upkeep = 0, None  # type: int, Thread | None

    # --- storing ---------------------------------------------------------------------------------------------------
    def store_knowledge(
        self,
        content: str,
        concept: str = "",
        confidence: float = 0.8,
        category: MemoryCategory | None = None,
        source_id: str = "",
        tags: Sequence[str] | None = None,
        temporal_metadata: Mapping[str, Any] | None = None,
    ) -> str:
        """Stores a fact and returns its id. It is linked to its source (an episode), to facts like it, and, with a
        `temporal_index` above 0, to the fact that it replaces or is replaced by. Raises InvalidInput, StoreError.
        """
        fact = fact_node(
            content or "",
            concept or "",
            told_score(confidence),
            self._classifier.classify(content, concept or "") if category is None else told_category(category),
            source_id or "",
            tags or (),
            temporal_metadata or {},
            self._now(),
        )
        self._write_fact(fact)
        return fact.id

    def store_fact(self, content: str, concept: str = "", confidence: float = 0.8, **kwargs: Any) -> str:
        """The same as `store_knowledge`, under the name of a protocol."""
        return self.store_knowledge(content=content, concept=concept, confidence=confidence, **kwargs)

    def store_episode(self, content: str, source_label: str = "") -> str:
        """Stores what facts are drawn from, and returns its id. Raises ValueError, StoreError."""
        episode = episode_node(content or "", source_label or "", self._now())
        with self._space.view() as view:
            episode = Withheld.read(view).out_of(episode)
        self._space.write(Change(put=[episode]))
        return episode.id

    # --- finding ---------------------------------------------------------------------------------------------------
    def retrieve_subgraph(
        self, query: str, max_nodes: int = 20, similarity_threshold: float = 0.3, max_depth: int = 1
    ) -> KnowledgeSubgraph:
        """The facts that may answer a query, at most `max_nodes`, with all that relates them. `max_depth` is how many
        steps along SIMILAR_TO are taken, over edges of this similarity at least. Raises StoreError.
        """
        if not query or not query.strip() or max_nodes < 1:
            return KnowledgeSubgraph(query=query)
        with self._space.view() as view:
            return retrieving.retrieve(view, query, max_nodes, similarity_threshold, max_depth)

    def search_facts(self, query: str, max_nodes: int = 20, **kwargs: Any) -> list[dict[str, Any]]:
        """What `retrieve_subgraph` finds, as dictionaries."""
        return [as_dict(node) for node in self.retrieve_subgraph(query=query, max_nodes=max_nodes, **kwargs).nodes]

    def retrieve_by_entity(self, entity_name: str, limit: int = 50) -> list[KnowledgeNode]:
        """The newest facts about an entity (or a part of its name); where there are none, those that name it."""
        name = (entity_name or "").strip().lower()
        if not name or limit < 1:
            return []
        with self._space.view() as view:
            found = retrieving.of_entity(view, name, limit)
            return _newest(found or retrieving.holding(view, [name], limit))[:limit]

    def search_by_concept(self, keywords: Sequence[str], limit: int = 30) -> list[KnowledgeNode]:
        """Facts that hold one of the keywords in concept or content, at most so many a keyword."""
        found: dict[str, Node] = {}
        with self._space.view() as view:
            for keyword in keywords:
                for word in retrieving.keywords_of(keyword)[:1]:
                    found |= {node.id: node for node in retrieving.holding(view, [word], limit)}
        return [knowledge(node) for node in found.values()]

    def get_all_knowledge(self, limit: int = 50) -> list[KnowledgeNode]:
        """The newest facts first."""
        with self._space.view() as view:
            return [knowledge(node) for node in _first(_facts(view), limit)]

    def get_all_facts(self, limit: int = 50) -> list[dict[str, Any]]:
        """The newest facts first, as dictionaries."""
        return [as_dict(node) for node in self.get_all_knowledge(limit)]

    def execute_aggregation(self, query_type: str, entity_filter: str = "") -> dict[str, Any]:
        """Counts and lists (`recollect.compat.hierarchical.retrieving`): count_total, count_entities, list_entities,
        count_concepts, list_concepts, count_by_concept.
        """
        with self._space.view() as view:
            return retrieving.aggregate(_facts(view), query_type, entity_filter)

    def get_statistics(self) -> dict[str, Any]:
        """How many facts, episodes and edges there are."""
        with self._space.view() as view:
            return retrieving.statistics(view, self.agent_name)

    # --- export and import -----------------------------------------------------------------------------------------
    def export_graph(self) -> dict[str, Any]:
        """All of it: `nodes`, `edges`, `agent_name`, `exported_at`."""
        with self._space.view() as view:
            return exchange.graph(view, self.agent_name, self._clock())

    def import_graph(self, data: Mapping[str, Any], merge: bool = True) -> dict[str, Any]:
        """Takes in what `export_graph` or `export_to_json` gave, here or of another agent. What is there already stays;
        without `merge` it is removed first. Returns how many nodes and edges came in. Raises ValueError, StoreError.
        """
        exchange.check(data)
        if not merge:
            exchange.clear(self._space, self._embedder)
        return exchange.take_in(self._space, data, self._now(), self._embedder, self._passages)

    def export_to_json(self) -> dict[str, Any]:
        """All of it in the format of amplihack_memory (`semantic_nodes`, `similar_to_edges`, ...)."""
        return exchange.by_kind(self.export_graph())

    def import_from_json(self, data: Mapping[str, Any], merge: bool = False) -> dict[str, Any]:
        """As `import_graph`, but what is there is removed unless `merge`."""
        return self.import_graph(data, merge=merge)

    # --- discoveries -----------------------------------------------------------------------------------------------
    @staticmethod
    def store_discovery(db_path: str | Path | None, agent_name: str, discovery: Mapping[str, Any] | str) -> str:
        """Stores a discovery and returns its id. Its words are `content` (or `summary`, `description`, `text`), all of
        it comes back from `get_recent_discoveries`. Raises ValueError where it has no words.
        """
        given: dict[str, Any] = {"content": discovery} if isinstance(discovery, str) else dict(discovery)
        words = (given.get(name) for name in ("content", "summary", "description", "text", _DISCOVERY, "outcome"))
        with HierarchicalMemory(agent_name, db_path) as memory:
            return memory.store_knowledge(
                content=next((str(word) for word in words if word), ""),
                concept=str(given.get("concept") or given.get("category") or _DISCOVERY),
                confidence=given.get("confidence", 0.8),
                tags=[_DISCOVERY, *(tag for tag in given.get("tags") or () if tag != _DISCOVERY)],
                temporal_metadata={_DISCOVERY: given},
            )

    @staticmethod
    def get_recent_discoveries(db_path: str | Path | None, agent_name: str, limit: int = 10) -> list[dict[str, Any]]:
        """The newest discoveries: each as it was stored, with `content`, `concept`, `confidence`, `node_id` and
        `created_at`.
        """
        with HierarchicalMemory(agent_name, db_path) as memory, memory._space.view() as view:
            found = (node for node in _facts(view) if _DISCOVERY in (node.body.get("tags") or ()))
            shown = [as_dict(knowledge(node)) for node in _first(found, limit)]
        return [{**one, **(one["metadata"].get(_DISCOVERY) or {})} for one in shown]

    # --- the rest --------------------------------------------------------------------------------------------------
    @staticmethod
    def _extract_entity_name(content: str, concept: str) -> str:
        return extract_entity_name(content, concept)

    @staticmethod
    def _detect_contradiction(content_a: str, content_b: str, concept_a: str, concept_b: str) -> dict[str, Any]:
        return detect_contradiction(content_a, content_b, concept_a, concept_b)

    def maintain(self) -> None:
        """Looks after the index until there is nothing to do: after much was imported, say. Raises StoreError."""
        while self._space.maintain(_UPKEEP_BUDGET):
            pass

    def close(self) -> None:
        """Releases everything; a second time does nothing."""
        upkeep = self._upkeep
        if upkeep is not None:
            upkeep.join()
        self._store.close()

    def __enter__(self) -> HierarchicalMemory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write_fact(self, fact: Node) -> None:
        """Plans and writes a fact."""

        def once() -> None:
            with self._space.view() as view:
                revision = head_revision(view)
                plan = storing.plan_fact(view, Withheld.read(view).out_of(fact))
            if plan.settled is None:
                self._space.write(plan.change(self._embedder_id(), self._passages))
            else:
                self._space.write(Publisher(self._embedder).change(plan.effects, revision, begins=True))

        with self._lock:
            insist(once, "The facts are")
            self._look_after()

    def _look_after(self) -> None:
        """Now and then the index is looked after, beside what is being written."""
        self._written += 1
        if self._written % _UPKEEP == 0 and (self._upkeep is None or not self._upkeep.is_alive()):
            self._upkeep = Thread(target=self._maintain, name="recollect-upkeep", daemon=True)
            self._upkeep.start()

    def _maintain(self) -> None:
        with suppress(StoreError):  # the next one tries again
            self._space.maintain(_UPKEEP_BUDGET)

    def _embedder_id(self) -> EmbedderId:
        return EmbedderId(self._embedder.name, self._embedder.dimensions)

    def _passages(self, node: Node) -> list[Passage]:
        from recollect.models.embedding.tokenizer import count_tokens

        return node_passages(node, self._embedder, count_tokens)

    def _now(self) -> datetime:
        """The time, later at every call: facts are listed in the order in which they were stored."""
        with self._lock:
            self._last = max(self._clock(), self._last + _MICROSECOND)
            return self._last


def _facts(view: View) -> Iterator[Node]:
    """All facts that were stored through this class, the newest first."""
    where = Where(kinds=(NodeKind.FACT.value,), states=STATES, deleted=False, order="newest")
    after: str | None = None
    while True:
        page = view.find(Node, where, after=after, limit=200)
        yield from filter(is_own, page.items)
        if page.next is None:
            return
        after = page.next


def _first(nodes: Iterator[Node], limit: int) -> list[Node]:
    return [node for node, _ in zip(nodes, range(max(0, limit)), strict=False)]


def _newest(nodes: Sequence[Node]) -> list[KnowledgeNode]:
    return sorted(map(knowledge, nodes), key=lambda node: node.created_at, reverse=True)
