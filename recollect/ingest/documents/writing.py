"""Records that are no conversations: documents that came or were made here, and edges and nodes of an import."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from recollect.importers.records.assemble import chunks_of
from recollect.importers.records.forgotten import COUNT, Tombstones, of_dump
from recollect.importers.records.merge import replaced, updated
from recollect.ingest.changes import DRAWN_FROM
from recollect.ingest.secrets import WITHHELD, Withheld
from recollect.ingest.writer import Writer
from recollect.record import Chunk, Document, Edge, Message, Node, NodeId
from recollect.store import Change
from recollect.store.passages import Passage
from recollect.store.update import insist


class Documents(Writer):
    """Writes documents, edges and nodes."""

    def documents(
        self,
        documents: Sequence[tuple[Document, Sequence[Chunk]]],
        *,
        again: bool = False,
        newest: bool = False,
        forgotten: Tombstones | None = None,
    ) -> Set[NodeId]:
        """Writes documents with their chunks; where none are given, chunks are made.

        An earlier text of a document is nothing new, as it comes from an older export; unless these are the `newest`.
        What `forgotten` knows by its text stays away, unless it is asked for `again`. Returns which these are.
        """
        return insist(lambda: self._documents(documents, again, newest, forgotten, {}), "These documents are")

    def documents_as_read(self, documents: Sequence[Document], read: Mapping[NodeId, int]) -> None:
        """Writes the newest of documents in the place of what was `read`, by the numbers of its revisions (0: nothing
        was there). Raises Stale where any of it was changed since.
        """
        self._documents([(document, ()) for document in documents], True, True, None, read)

    def _documents(
        self,
        documents: Sequence[tuple[Document, Sequence[Chunk]]],
        again: bool,
        newest: bool,
        forgotten: Tombstones | None,
        read: Mapping[NodeId, int],
    ) -> Set[NodeId]:
        ids = [document.id for document, _ in documents]
        with self._space.view() as view:
            revisions = view.revisions(ids)
            known = {document.id: document for document in view.get(Document, ids)}
            withheld = Withheld.read(view)
            stored = {own: one.content for own, one in known.items() if not one.erased}
            told = [one for one, _ in documents if stored.get(one.id) != one.content]
            expect = {COUNT: forgotten.as_of(view)} if forgotten is not None else {}
            gone = {one.id: forgotten.of_document(one) for one in told} if forgotten is not None else {}
        left_out = {own for own, of in gone.items() if of and not again}
        documents = [(document, chunks) for document, chunks in documents if document.id not in left_out]
        if withheld and not again:
            left = [(one, withheld.of(one.source).out_of(one), chunks) for one, chunks in documents]
            documents = [(new, chunks if new is old else ()) for old, new, chunks in left]
        merge = replaced if newest else updated
        fresh = [
            (document, chunks)
            for given, chunks in documents
            if (document := merge(given, known.get(given.id), now=self._clock(), again=again)) is not None
        ]
        if not fresh:
            return left_out
        put: list[Document | Chunk | Node] = [one.revived() for of in gone.values() for one in of if again]
        passages: dict[NodeId, list[Passage]] = {}
        for document, given in fresh:
            put += [document, *(given or chunks_of(document.id, document.content, count_tokens=self._count_tokens))]
            passages[document.id] = self.document_passages(document)
        expect |= {d.id: revisions[d.id].number if d.id in revisions else 0 for d, _ in fresh}
        self._space.write(
            Change(
                expect={**expect, **read},
                put=put,
                revive=again,
                index=self._index_change(passages),
            )
        )
        return left_out

    def made(
        self,
        document: Document,
        sources: Sequence[NodeId],
        allows: Callable[[Document | None], None] = lambda _: None,
    ) -> bool:
        """Writes a document that was made of messages and documents, in the place of what it was, with edges to them.

        Nothing is written where it was erased meanwhile, or one of the sources was deleted: then it says no. `allows`
        is shown what it was, and may raise.
        """
        return insist(lambda: self._made(document, sources, allows), f"Document {document.id} is")

    def _made(self, document: Document, sources: Sequence[NodeId], allows: Callable[[Document | None], None]) -> bool:
        with self._space.view() as view:
            known = next(iter(view.get(Document, [document.id])), None)
            allows(known)
            messages = [found for found in view.get(Message, sources) if not (found.deleted or found.erased)]
            files = [found for found in view.get(Document, sources) if not (found.hidden or found.erased)]
            there = {*(found.id for found in messages), *(found.id for found in files)}
            if (known is not None and known.erased) or not set(sources) <= there:
                return False
            ids = [document.id, *(m.conversation_id for m in messages), *(found.id for found in files)]
            revisions = view.revisions(ids)
            had = view.edges([document.id], (DRAWN_FROM,), "out")
            document = Withheld.read(view).out_of(document)
        self._space.write(
            Change(
                expect={i: revisions[i].number if i in revisions else 0 for i in dict.fromkeys(ids)},
                put=[document, *self._pieces(document)],
                edges=[Edge(document.id, DRAWN_FROM, source) for source in sources],
                cut=[e.key for e in had if e.target_id not in sources],
                index=self._index_change({document.id: self.document_passages(document)}),
            )
        )
        return True

    def others(self, records: Sequence[Edge | Node]) -> None:
        """Writes edges and nodes."""
        from recollect.derive.facts.correct import due as decisions_due

        if records:
            with self._space.view() as view:
                withheld = Withheld.read(view)
                nodes = of_dump(view, [record for record in records if isinstance(record, Node)])
            edges = [withheld.out_of(record) for record in records if isinstance(record, Edge)]
            nodes = [
                withheld.joined(Withheld.of_node(node)).node() if node.id == WITHHELD else withheld.out_of(node)
                for node in nodes
            ]
            passages = {node.id: self.node_passages(node) for node in nodes}
            index = self._index_change(passages)
            self._space.write(Change(put=nodes, edges=edges, index=index, tasks=decisions_due(nodes)))
