"""Documents by what people call them."""

from __future__ import annotations

from recollect.errors import InvalidInput, NotFound
from recollect.ingest.documents.importing import PATH
from recollect.record import REPORTS, Document, NodeId
from recollect.store import View, Where
from recollect.store.transfer import every

_SHORT = 6  # characters of an id, from its end, that tell it apart
_MOST_NAMED = 8


def named(view: View, name: str, *, hidden_reports: bool = False) -> Document:
    """The document of an id, the end of one, a path or a title; with `hidden_reports` also research that is not
    finished and reports that were made of something deleted. Raises NotFound, InvalidInput where several fit.
    """
    wanted = name.strip()
    if not wanted:
        raise InvalidInput("A name is empty.", hint="Give an ID, a path or a title.")
    by_id = view.get(Document, [NodeId(wanted)])
    found = [document for document in by_id if not document.erased] or _fitting(view, wanted)
    found = [one for one in found if not one.hidden or (hidden_reports and one.source == REPORTS)]
    if not found:
        raise NotFound(f"No document matches {name!r}.", hint="To find documents: recollect search --kind document")
    if len(found) > 1:
        lines = [f"\n  {document.id[-_SHORT:]}  {document.title}" for document in found[:_MOST_NAMED]]
        raise InvalidInput(f"{name!r} matches several documents:{''.join(lines)}", hint="Name one by its ID.")
    return found[0]


def by_id(view: View, id: str) -> Document:
    """The document of an id, or of the end of one. Raises NotFound, InvalidInput where several fit."""
    found = [document for document in view.get(Document, [NodeId(id)]) if not (document.erased or document.hidden)]
    if not found and len(id) >= _SHORT:
        ending = id.casefold()
        living = every(view, Document, Where(deleted=False))
        found = [document for document in living if document.id.casefold().endswith(ending) and not document.hidden]
    if not found:
        raise NotFound(f"No document has the ID {id}.")
    if len(found) > 1:
        raise InvalidInput(f"{id!r} is the end of several ids.", hint="Use more of the one that is meant.")
    return found[0]


def _fitting(view: View, name: str) -> list[Document]:
    """Those whose name it is; else those in whose title it stands, or whose id ends so."""
    folded = name.casefold()
    titled = list(every(view, Document, Where(title=name, deleted=False)))
    if exact := [document for document in titled if folded in (document.title.casefold(), _path(document))]:
        return exact
    rest = [
        document
        for document in every(view, Document, Where(deleted=False))
        if _path(document) == folded or (len(name) >= _SHORT and document.id.casefold().endswith(folded))
    ]
    return rest or titled


def _path(document: Document) -> str:
    return str(document.metadata.get(PATH, "")).casefold()
