"""`recollect entities`: who and what is mentioned, and corrections by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from recollect.faces.cli.parser import Command, Option, Words, WrongUsage, one_of, whole
from recollect.faces.cli.terminal.session import Session
from recollect.faces.cli.views.waiting import none_found
from recollect.faces.present.knowledge import entity_as_json

if TYPE_CHECKING:
    from recollect.derive.entities.entity import Entity
    from recollect.faces.cli.terminal.output import Output
    from recollect.memory import Memory

_LIMIT = 30
_TYPES = (
    "person", "animal", "place", "organisation", "technology", "project", "product", "work", "event", "concept",
)  # fmt: skip
#: What can be done by hand, with the names that it needs.
_ACTIONS = {"add": 1, "edit": 1, "pin": 1, "unpin": 1, "merge": 2, "unmerge": 1, "forget": 1, "undo": 1}


def entities(
    session: Session,
    what: list[str] | None = None,
    type: str | None = None,
    name: str | None = None,
    limit: int = _LIMIT,
) -> int:
    """List who and what is mentioned, and correct it.

    The most salient come first: those that are mentioned often and lately. With a NAME: its other names, and why they
    are taken for the same.

    What you correct outranks what was derived, now and later: `edit NAME --name NEW --type TYPE`, `pin NAME` and
    `unpin NAME`, `merge NAME INTO`, `unmerge NAME`, `forget NAME` (the messages stay), and `undo NAME`, which takes
    corrections back. `add NAME --type TYPE` adds one that no message mentions.
    """
    words = what or []
    memory = session.memory() if words[:1] == ["add"] else session.existing_memory()
    if words and words[0] in _ACTIONS:
        return _correct(session, memory, words[0], words[1:], name, type)
    if name is not None:
        raise WrongUsage("--name is for edit.", hint="For example: recollect entities edit postgres --name PostgreSQL")
    if words:
        _show(session, memory.knowledge.entity(" ".join(words)))
        return 0
    found = memory.entities(type=type, limit=limit + 1)
    if session.json:
        session.out.document({"entities": [entity_as_json(e) for e in found[:limit]], "more": len(found) > limit})
    else:
        _print(session, found[:limit], more=len(found) > limit)
        if not found:
            none_found(session, memory, "No entities match." if type else "No entities yet.")
    return 0 if found else 1


def _correct(
    session: Session, memory: Memory, action: str, names: list[str], name: str | None, type: str | None
) -> int:
    if len(names) != _ACTIONS[action]:
        wanted = "NAME INTO" if action == "merge" else "NAME"
        raise WrongUsage(f"recollect entities {action} needs {wanted}.", hint="Quote names of several words.")
    done: dict[str, Callable[[], Entity]] = {
        "add": lambda: memory.knowledge.add_entity(names[0], type or "concept", provenance="by hand"),
        "edit": lambda: memory.knowledge.edit_entity(names[0], name, type=type),
        "pin": lambda: memory.knowledge.pin_entity(names[0]),
        "unpin": lambda: memory.knowledge.pin_entity(names[0], pinned=False),
        "merge": lambda: memory.knowledge.merge_entities(names[0], names[1]),
        "unmerge": lambda: memory.knowledge.unmerge_entity(names[0]),
        "forget": lambda: memory.knowledge.forget_entity(names[0]),
        "undo": lambda: memory.knowledge.undo_entity(names[0]),
    }
    entity = done[action]()
    if session.json:
        session.out.document({"done": action, "entity": entity_as_json(entity)})
    elif action == "forget":
        from recollect.faces.cli.terminal.output import harmless

        undo = session.out.hint(f'recollect entities undo "{harmless(names[0])}"')
        session.out.line(f"{harmless(entity.name)} is no longer shown. To undo: {undo}")
    else:
        _show(session, entity)
    return 0


def _show(session: Session, entity: Entity) -> None:
    from recollect.faces.cli.terminal.output import harmless

    if session.json:
        session.out.document({"entity": entity_as_json(entity)})
        return
    session.out.line(title(entity, session.out))
    for alias in entity.aliases:
        session.out.line(f"  {harmless(alias.name)}  {session.out.dim(alias.why)}")


def title(entity: Entity, out: Output) -> str:
    """An entity in a line."""
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.present.times import day, number

    facts = [entity.type, number(entity.mentions, "message")]
    facts += [f"last {day(entity.last)}"] if entity.last else []
    facts += ["pinned"] if entity.pinned else []
    return f"{out.bold(harmless(entity.name))}  {out.dim(f' {out.symbols.dot} '.join(facts))}"


def _print(session: Session, found: list[Entity], *, more: bool) -> None:
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.cli.terminal.wrapping import padded
    from recollect.faces.present.times import day

    out = session.out
    for entity in found:
        facts = f"{entity.mentions:>6,}  {day(entity.last) if entity.last else '':>11}  {padded(entity.type, 12)}  "
        others = ", ".join(harmless(alias.name) for alias in entity.aliases[:4])
        pinned = f" {out.symbols.ok}" if entity.pinned else ""
        out.line(out.dim(facts) + harmless(entity.name) + pinned + (out.dim(f"  {others}") if others else ""))
    if more:
        out.note(f"There are more: add -n {2 * len(found)}, or narrow it down with --type.")


COMMAND = Command(
    entities,
    (
        "recollect entities --type person",
        "recollect entities Postgres",
        'recollect entities merge "Maria" "Maria Lopez"',
        'recollect entities add "Sam Berg" --type person',
    ),
    (
        Option(("--type",), f"Of this type: {', '.join(_TYPES)}.", "TYPE", read=one_of(*_TYPES), values=_TYPES),
        Option(("--name",), "With edit: the new name.", "NAME"),
        Option(("--limit", "-n"), "How many are listed.", "N", default=_LIMIT, read=whole(1)),
    ),
    Words("NAME|ACTION", "what", several=True, values=tuple(_ACTIONS)),
)
