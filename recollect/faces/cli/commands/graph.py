"""`recollect graph`: what an entity is related to, or how two are connected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.faces.cli.parser import Command, Option, Words, WrongUsage, whole
from recollect.faces.cli.terminal.session import Session

if TYPE_CHECKING:
    from recollect.derive.graph.relation import Graph, Paths, Relation

_LIMIT = 20


def graph(session: Session, names: list[str], depth: int = 1, limit: int = _LIMIT, past: bool = False) -> int:
    """Show what an entity is related to, or how two are connected.

    Relations of people, places and work are facts, with the time since which they hold; --past shows what no longer
    holds as well. Other relations are plain statements in messages, and MENTIONED_WITH is what the same messages
    mention. The number counts messages; open one with `recollect show ID`. With a second name: the shortest ways from
    one to the other, or the neighbours of each where there is none.
    """
    if len(names) > 2:
        raise WrongUsage(
            "recollect graph takes one or two names.", hint=f'Quote names of several words: "{" ".join(names)}"'
        )
    memory = session.existing_memory()
    if len(names) == 2:
        paths = memory.knowledge.paths(*names, include_past=past)
        if session.json:
            session.out.document(_paths_as_json(paths))
        else:
            _print_paths(session, paths)
        return 0 if paths.paths else 1
    found = memory.knowledge.graph(names[0], depth, limit, include_past=past)
    if session.json:
        session.out.document(_graph_as_json(found))
    else:
        _print_graph(session, found)
    return 0


def _print_graph(session: Session, found: Graph) -> None:
    from recollect.faces.cli.commands.entities import title

    out = session.out
    out.line(title(found.center, out))
    if not found.relations:
        out.line("Nothing is related to it.")
    for relation in found.relations:
        out.line(f"  {line(session, relation)}")


def _print_paths(session: Session, paths: Paths) -> None:
    from recollect.faces.cli.terminal.output import harmless

    out = session.out
    if not paths.paths:
        out.line(harmless(f"No path leads from {paths.source.name} to {paths.target.name}."))
        for relation in paths.neighbours:
            out.line(f"  {line(session, relation)}")
    for path in paths.paths:
        out.line(out.bold(harmless(str(path))))
        for relation in path.relations:
            out.line(f"  {line(session, relation)}")


def line(session: Session, relation: Relation) -> str:
    """A relation in a line: since when it holds, by how many messages, and which."""
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.present.names import short
    from recollect.faces.present.times import day

    proofs = " ".join(short(i) for i in relation.evidence[:3])
    notes = "  ".join(filter(None, (relation.when(day), f"{relation.weight:,}", proofs)))
    return f"{harmless(str(relation))}  {session.out.dim(notes)}"


def _graph_as_json(found: Graph) -> dict[str, Any]:
    from recollect.faces.present.knowledge import entity_as_json, relation_as_json

    return {
        "entity": entity_as_json(found.center),
        "entities": [entity_as_json(entity) for entity in found.entities],
        "relations": [relation_as_json(relation) for relation in found.relations],
    }


def _paths_as_json(paths: Paths) -> dict[str, Any]:
    from recollect.faces.present.knowledge import entity_as_json, relation_as_json

    return {
        "source": entity_as_json(paths.source),
        "target": entity_as_json(paths.target),
        "paths": [
            {
                "text": str(path),
                "entities": list(path.entities),
                "relations": [relation_as_json(relation) for relation in path.relations],
            }
            for path in paths.paths
        ],
        "neighbours": [relation_as_json(relation) for relation in paths.neighbours],
    }


COMMAND = Command(
    graph,
    ('recollect graph "Maria Lopez"', "recollect graph Next.js SEO"),
    (
        Option(("--depth",), "Steps around the entity.", "N", default=1, read=whole(1, 3)),
        Option(("--past",), "Also relations that no longer hold.", default=False),
        Option(("--limit", "-n"), "How many entities are shown.", "N", default=_LIMIT, read=whole(1, 1000)),
    ),
    Words("ENTITY", "names", required=True, several=True),
)
