"""`recollect facts`, `entities`, `graph` and `relate`: what is known, and corrections by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from recollect.faces.cli.commands.search import print_none_yet
from recollect.faces.cli.invocation import Invocation
from recollect.faces.cli.output import harmless, padded
from recollect.faces.cli.parser import Arguments, Command, Option, WrongUsage, limit, one_of, period, whole
from recollect.faces.present.names import day, number, short
from recollect.text.language import addressed

if TYPE_CHECKING:
    from recollect.derive.entities.entity import Entity
    from recollect.derive.facts.fact import Fact
    from recollect.derive.graph.reader import Graph, Paths, Relation
    from recollect.faces.cli.output import Output
    from recollect.memory import Memory


_LIMIT = 30
_PROOFS = 3  # that are printed of a fact
#: What can be done by hand.
_ACTIONS = ("edit", "pin", "unpin", "merge", "forget", "undo")


def facts(
    run: Invocation,
    what: list[str] | None = None,
    as_of: str | None = None,
    history: bool = False,
    to: str | None = None,
    value: str | None = None,
    rules: bool = False,
    limit: int = _LIMIT,
) -> int:
    """List known facts with their sources, and correct them.

    ABOUT names whom or what it concerns ("me", "Luna"); without it everything is listed, the newest first. Each fact is
    followed by who said it, when, and the message that proves it, which `recollect show` opens. --as-of asks what was
    believed at a time, --history adds what held before.

    What you correct outranks what was derived, now and later: `edit ID --to TEXT` or `edit ID --value VALUE`, `pin ID`
    and `unpin ID`, `merge ID OTHER...`, `forget ID` (the messages stay), and `undo ID`, which takes corrections back.

    --rules lists your rules for every answer (`recollect remember --always`), and what you said that may be one: no
    model is given it before you confirm it with `pin ID`; `forget ID` dismisses it.

    The six characters at the left are the end of the id, and enough.
    """
    words = what or []
    if words and words[0] in _ACTIONS:
        return _correct(run, words[0], words[1:], to, value)
    if to is not None or value is not None:
        raise WrongUsage(
            "--to and --value are for edit.", hint='For example: recollect facts edit 7Q2KAB --value "Leeds"'
        )
    if rules:
        if words or as_of or history:
            raise WrongUsage("--rules lists all rules: leave out ABOUT, --as-of and --history.")
        return _rules(run)
    memory = run.existing_memory()
    found = memory.facts(" ".join(words) or None, as_of, include_past=False)
    if not run.in_json(lambda: {"facts": found[:limit], "more": len(found) > limit}):
        _print(run.out, found[:limit], more=len(found) > limit, history=history)
        if not found:
            print_none_yet(run, memory, "No facts match." if words or as_of else "No facts yet.")
    return 0 if found else 1


def _rules(run: Invocation) -> int:
    memory = run.existing_memory()
    rules, offered = memory.knowledge.rules(), memory.knowledge.rules(offered=True)
    if not run.in_json(lambda: {"rules": rules, "offered": offered}):
        for rule in rules:
            _print_fact(run.out, rule)
        if offered:
            run.out.line(run.out.dim("Heard, but not followed until you confirm it:"))
        for rule in offered:
            _print_offered(run.out, rule)
        if not rules and not offered:
            run.out.line("No rules yet.")
            run.out.note(run.out.hint('To add one: recollect remember --always "answer in metric units"'))
    return 0 if rules or offered else 1


def _print_offered(out: Output, rule: Fact) -> None:
    _print_fact(out, rule)
    if not rule.proofs:
        out.line(f"        {out.dim(f'said by {harmless(rule.said_by)}')}")
    own = short(rule.id)
    out.line(f"        {out.hint(f'To confirm: recollect facts pin {own}. To dismiss: recollect facts forget {own}')}")


def _correct(run: Invocation, action: str, ids: list[str], to: str | None, value: str | None) -> int:
    fewest = 2 if action == "merge" else 1
    if len(ids) < fewest or (action != "merge" and len(ids) > 1):
        wanted = "the IDs of two facts or more" if fewest == 2 else "the ID of one fact"
        raise WrongUsage(f"recollect facts {action} needs {wanted}.", hint="See recollect facts --help")
    if action == "edit" and to is None and value is None:
        raise WrongUsage("recollect facts edit needs --to TEXT or --value VALUE.")
    memory = run.existing_memory()
    ids = [memory.knowledge.resolve_fact(name) for name in ids]
    done: dict[str, Callable[[], Fact]] = {
        "edit": lambda: memory.knowledge.edit_fact(ids[0], to, value=value),
        "pin": lambda: memory.knowledge.pin_fact(ids[0]),
        "unpin": lambda: memory.knowledge.pin_fact(ids[0], pinned=False),
        "merge": lambda: memory.knowledge.merge_facts(ids[0], *ids[1:]),
    }
    if action in done:
        shown = [done[action]()]
    elif action == "undo":
        shown = memory.knowledge.undo_fact(ids[0])
    else:
        return _forgotten(run, memory.knowledge.forget_fact(ids[0]))
    if not run.in_json(lambda: {"done": action, "facts": shown}):
        _print(run.out, shown, more=False, history=False)
    return 0


def _forgotten(run: Invocation, fact_id: str) -> int:
    if not run.in_json(lambda: {"done": "forget", "id": fact_id}):
        undo = run.out.hint(f"recollect facts undo {short(fact_id)}")
        run.out.line(run.out.joined("It will not be derived from these messages again.", f"To undo: {undo}"))
    return 0


def _print(out: Output, found: list[Fact], *, more: bool, history: bool) -> None:
    for fact in found:
        _print_fact(out, fact)
        for older in fact.history if history else ():
            _print_older(out, older)
    if more:
        out.more(len(found), "name whom or what they are about")


def _print_fact(out: Output, fact: Fact) -> None:
    known = (("pinned", fact.pinned), ("corrected by hand", fact.corrected and fact.category != "rule"))
    marks = [mark for mark, holds in known if holds]
    notes = out.dotted(fact.when(day), *marks)
    out.line(f"{out.dim(short(fact.id))}  {out.bold(harmless(addressed(fact.content)))}  {out.dim(notes)}")
    for proof in fact.proofs[:_PROOFS]:
        if proof.episode:
            out.line(f"        {out.dim(f'from {harmless(proof.episode)}')}")
            continue
        said = f"{harmless(proof.said_by or fact.said_by)}, {day(proof.said_at)}"
        quote = harmless(" ".join(proof.quote.split()))
        out.line(f'        {out.dim(said)}  "{quote}"  {out.hint(f"recollect show {short(proof.message_id)}")}')
    if len(fact.proofs) > _PROOFS:
        out.line(out.dim(f"        and {len(fact.proofs) - _PROOFS} more"))


def _print_older(out: Output, fact: Fact) -> None:
    held = f"before, {fact.when(day)}".removesuffix(", ")
    proof = next((one for one in fact.proofs if not one.episode), None)
    opens = out.hint(f"recollect show {short(proof.message_id)}") if proof else ""
    out.line(f"        {out.dim(f'{held}:')}  {harmless(addressed(fact.content))}  {opens}")


FACTS = Command(
    facts,
    (
        "recollect facts Luna",
        "recollect facts me --as-of 2025-03",
        'recollect facts edit 7Q2KAB --value "Leeds"',
        "recollect facts --rules",
    ),
    (
        Option(("--as-of",), "Show what was believed then: 2025-03, 2025-03-14, last spring …", "TIME"),
        Option(("--history",), "Include earlier values.", default=False),
        Option(("--to",), "With edit: the fact in your words.", "TEXT"),
        Option(("--value",), "With edit: the right value.", "VALUE"),
        Option(("--rules",), "List your rules for every answer, and those to confirm.", default=False),
        limit(_LIMIT),
    ),
    Arguments("ABOUT|ACTION", "what", several=True, values=_ACTIONS),
)


_TYPES = (
    "person", "animal", "place", "organisation", "technology", "project", "product", "work", "event", "concept",
)  # fmt: skip
#: What can be done by hand, with the names that it needs.
_ENTITIES_ACTIONS = {"add": 1, "edit": 1, "pin": 1, "unpin": 1, "merge": 2, "unmerge": 1, "forget": 1, "undo": 1}


def entities(
    run: Invocation,
    what: list[str] | None = None,
    type: str | None = None,
    name: str | None = None,
    limit: int = _LIMIT,
) -> int:
    """List the people and things you mention, and correct them.

    The most salient come first: those that are mentioned often and lately. With a NAME: its other names, and why they
    are taken for the same.

    What you correct outranks what was derived, now and later: `edit NAME --name NEW --type TYPE`, `pin NAME` and
    `unpin NAME`, `merge NAME INTO`, `unmerge NAME`, `forget NAME` (the messages stay), and `undo NAME`, which takes
    corrections back. `add NAME --type TYPE` adds one that no message mentions.
    """
    words = what or []
    memory = run.memory() if words[:1] == ["add"] else run.existing_memory()
    if words and words[0] in _ENTITIES_ACTIONS:
        return _correct_entities(run, memory, words[0], words[1:], name, type)
    if name is not None:
        raise WrongUsage("--name is for edit.", hint="For example: recollect entities edit postgres --name PostgreSQL")
    if words:
        _show(run, memory.knowledge.entity(" ".join(words)))
        return 0
    found = memory.entities(type=type, limit=limit + 1)
    if not run.in_json(lambda: {"entities": found[:limit], "more": len(found) > limit}):
        _print_entities(run, found[:limit], more=len(found) > limit)
        if not found:
            print_none_yet(run, memory, "No entities match." if type else "No entities yet.")
    return 0 if found else 1


def _correct_entities(
    run: Invocation, memory: Memory, action: str, names: list[str], name: str | None, type: str | None
) -> int:
    if len(names) != _ENTITIES_ACTIONS[action]:
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
    if run.json:
        run.out.document({"done": action, "entity": entity})
    elif action == "forget":
        undo = run.out.hint(f'recollect entities undo "{harmless(names[0])}"')
        run.out.line(f"{harmless(entity.name)} is no longer shown. To undo: {undo}")
    else:
        _show(run, entity)
    return 0


def _show(run: Invocation, entity: Entity) -> None:
    if run.in_json(lambda: {"entity": entity}):
        return
    run.out.line(title(entity, run.out))
    for alias in entity.aliases:
        run.out.line(f"  {harmless(alias.name)}  {run.out.dim(alias.why)}")


def title(entity: Entity, out: Output) -> str:
    """An entity in a line."""
    facts = [entity.type, number(entity.mentions, "message")]
    facts += [f"last {day(entity.last)}"] if entity.last else []
    facts += ["pinned"] if entity.pinned else []
    return f"{out.bold(harmless(entity.name))}  {out.dim(f' {out.symbols.dot} '.join(facts))}"


def _print_entities(run: Invocation, found: list[Entity], *, more: bool) -> None:
    out = run.out
    for entity in found:
        facts = f"{entity.mentions:>6,}  {day(entity.last) if entity.last else '':>11}  {padded(entity.type, 12)}  "
        others = ", ".join(harmless(alias.name) for alias in entity.aliases[:4])
        pinned = f" {out.symbols.ok}" if entity.pinned else ""
        out.line(out.dim(facts) + harmless(entity.name) + pinned + (out.dim(f"  {others}") if others else ""))
    if more:
        out.more(len(found), "narrow down with --type")


ENTITIES = Command(
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
        limit(_LIMIT),
    ),
    Arguments("NAME|ACTION", "what", several=True, values=tuple(_ENTITIES_ACTIONS)),
)


_GRAPH_LIMIT = 20


def graph(run: Invocation, names: list[str], depth: int = 1, limit: int = _GRAPH_LIMIT, past: bool = False) -> int:
    """Show what someone or something is linked to, or how two are linked.

    Relations of people, places and work are facts, with the time since which they hold; --past shows what no longer
    holds as well. Other relations are plain statements in messages, and MENTIONED_WITH is what the same messages
    mention. The number counts messages; open one with `recollect show ID`. With a second name: the shortest ways from
    one to the other, or the neighbours of each where there is none.
    """
    if len(names) > 2:
        raise WrongUsage(
            "recollect graph takes one or two names.", hint=f'Quote names of several words: "{" ".join(names)}"'
        )
    memory = run.existing_memory()
    if len(names) == 2:
        paths = memory.knowledge.paths(*names, include_past=past)
        if not run.in_json(lambda: paths):
            _print_paths(run, paths)
        return 0 if paths.paths else 1
    found = memory.knowledge.graph(names[0], depth, limit, include_past=past)
    if not run.in_json(lambda: found):
        _print_graph(run, found)
    return 0


def _print_graph(run: Invocation, found: Graph) -> None:

    out = run.out
    out.line(title(found.center, out))
    if not found.relations:
        out.line("Nothing is linked to it.")
    for relation in found.relations:
        out.line(f"  {line(run, relation)}")


def _print_paths(run: Invocation, paths: Paths) -> None:
    out = run.out
    if not paths.paths:
        out.line(harmless(f"No path leads from {paths.source.name} to {paths.target.name}."))
        for relation in paths.neighbours:
            out.line(f"  {line(run, relation)}")
    for path in paths.paths:
        out.line(out.bold(harmless(str(path))))
        for relation in path.relations:
            out.line(f"  {line(run, relation)}")


def line(run: Invocation, relation: Relation) -> str:
    """A relation in a line: since when it holds, by how many messages, and which."""
    proofs = " ".join(short(i) for i in relation.evidence[:3])
    notes = "  ".join(filter(None, (relation.when(day), f"{relation.weight:,}", proofs)))
    return f"{harmless(str(relation))}  {run.out.dim(notes)}"


GRAPH = Command(
    graph,
    ('recollect graph "Maria Lopez"', "recollect graph Next.js SEO"),
    (
        Option(("--depth",), "Steps around the entity.", "N", default=1, read=whole(1, 3)),
        Option(("--past",), "Include links that no longer hold.", default=False),
        limit(_GRAPH_LIMIT, "How many entities are shown.", 1000),
    ),
    Arguments("ENTITY", "names", required=True, several=True),
)


def relate(
    run: Invocation,
    names: list[str],
    since: str | None = None,
    until: str | None = None,
    from_: list[str] | None = None,
) -> int:
    """Add a relation between two people, places or things.

    It is a fact like those of messages and settles with them: of LIVES_IN, WORKS_AT and the like one is current. Use
    "you" for yourself, and any name for the relation, such as DEPENDS_ON. Names that are not known are added. To take
    it back: `recollect facts forget ID`.
    """
    if len(names) != 3:
        raise WrongUsage(
            "recollect relate takes SOURCE RELATION TARGET.", hint='Quote names of several words: "Sam Berg"'
        )
    memory = run.memory()
    begins, ends = period(since, until, None)
    found = [memory.resolve(one)[1] for one in from_ or ()]
    if not all(found):
        raise WrongUsage("--from takes the ID of a message.", hint="The end of its ID is enough.")
    sources = [message.id for message in found if message is not None]
    source, name, target = names
    relation = memory.knowledge.add_relationship(
        source, target, name, since=begins, until=ends, sources=sources, provenance="by hand"
    )
    run.show(lambda: {"relation": relation}, line(run, relation))
    return 0


RELATE = Command(
    relate,
    (
        'recollect relate "Sam Berg" LIVES_IN Porto --since 2024-05',
        "recollect relate you WORKS_AT Bosch",
        "recollect relate Tidepool DEPENDS_ON Kafka",
    ),
    (
        Option(("--since",), "When it began to hold.", "WHEN"),
        Option(("--until",), "When it ceased to hold.", "WHEN"),
        Option(("--from",), "A message that it is drawn from (repeatable).", "ID", name="from_", several=True),
    ),
    Arguments("SOURCE RELATION TARGET", "names", required=True, several=True),
)
