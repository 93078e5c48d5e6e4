"""`recollect facts`: what is held true, who said so and where; and correcting it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from recollect.faces.cli.parser import Command, Option, Words, WrongUsage, whole
from recollect.faces.cli.terminal.session import Session
from recollect.faces.cli.views.waiting import none_found
from recollect.faces.present.knowledge import fact_as_json
from recollect.text.addressed import addressed

if TYPE_CHECKING:
    from recollect.derive.facts.fact import Fact
    from recollect.faces.cli.terminal.output import Output

_LIMIT = 30
_PROOFS = 3  # that are printed of a fact
#: What can be done by hand.
_ACTIONS = ("edit", "pin", "unpin", "merge", "forget", "undo")


def facts(
    session: Session,
    what: list[str] | None = None,
    as_of: str | None = None,
    history: bool = False,
    to: str | None = None,
    value: str | None = None,
    rules: bool = False,
    limit: int = _LIMIT,
) -> int:
    """List what is known, who said it and where, and correct it.

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
        return _correct(session, words[0], words[1:], to, value)
    if to is not None or value is not None:
        raise WrongUsage(
            "--to and --value are for edit.", hint='For example: recollect facts edit 7Q2KAB --value "Leeds"'
        )
    if rules:
        if words or as_of or history:
            raise WrongUsage("--rules lists all rules: leave out ABOUT, --as-of and --history.")
        return _rules(session)
    memory = session.existing_memory()
    found = memory.facts(" ".join(words) or None, as_of, include_past=False)
    if session.json:
        session.out.document({"facts": [fact_as_json(fact) for fact in found[:limit]], "more": len(found) > limit})
    else:
        _print(session.out, found[:limit], more=len(found) > limit, history=history)
        if not found:
            none_found(session, memory, "No facts match." if words or as_of else "No facts yet.")
    return 0 if found else 1


def _rules(session: Session) -> int:
    memory = session.existing_memory()
    rules, offered = memory.knowledge.rules(), memory.knowledge.rules(offered=True)
    if session.json:
        shown = {"rules": rules, "offered": offered}
        session.out.document({name: [fact_as_json(one) for one in some] for name, some in shown.items()})
    else:
        for rule in rules:
            _print_fact(session.out, rule)
        if offered:
            session.out.line(session.out.dim("Heard, and not followed before you confirm it:"))
        for rule in offered:
            _print_offered(session.out, rule)
        if not rules and not offered:
            session.out.line("No rules yet.")
            session.out.note(session.out.hint('To add one: recollect remember --always "answer in metric units"'))
    return 0 if rules or offered else 1


def _print_offered(out: Output, rule: Fact) -> None:
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.present.names import short

    _print_fact(out, rule)
    if not rule.proofs:
        out.line(f"        {out.dim(f'said by {harmless(rule.said_by)}')}")
    own = short(rule.id)
    out.line(f"        {out.hint(f'To confirm: recollect facts pin {own}. To dismiss: recollect facts forget {own}')}")


def _correct(session: Session, action: str, ids: list[str], to: str | None, value: str | None) -> int:
    fewest = 2 if action == "merge" else 1
    if len(ids) < fewest or (action != "merge" and len(ids) > 1):
        wanted = "the IDs of two facts or more" if fewest == 2 else "the ID of one fact"
        raise WrongUsage(f"recollect facts {action} needs {wanted}.", hint="See recollect facts --help")
    if action == "edit" and to is None and value is None:
        raise WrongUsage("recollect facts edit needs --to TEXT or --value VALUE.")
    memory = session.existing_memory()
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
        return _forgotten(session, memory.knowledge.forget_fact(ids[0]))
    if session.json:
        session.out.document({"done": action, "facts": [fact_as_json(fact) for fact in shown]})
    else:
        _print(session.out, shown, more=False, history=False)
    return 0


def _forgotten(session: Session, fact_id: str) -> int:
    from recollect.faces.cli.terminal.layout import joined
    from recollect.faces.present.names import short

    if session.json:
        session.out.document({"done": "forget", "id": fact_id})
    else:
        undo = session.out.hint(f"recollect facts undo {short(fact_id)}")
        session.out.line(joined("It will not be drawn from these messages again.", f"To undo: {undo}", session.out))
    return 0


def _print(out: Output, found: list[Fact], *, more: bool, history: bool) -> None:
    for fact in found:
        _print_fact(out, fact)
        for older in fact.history if history else ():
            _print_older(out, older)
    if more:
        out.note(f"There are more: add -n {2 * len(found)}, or name whom or what they are about.")


def _print_fact(out: Output, fact: Fact) -> None:
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.present.names import short
    from recollect.faces.present.times import day

    known = (("pinned", fact.pinned), ("corrected by hand", fact.corrected and fact.category != "rule"))
    marks = [mark for mark, holds in known if holds]
    notes = f" {out.symbols.dot} ".join(filter(None, (fact.when(day), *marks)))
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
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.present.names import short
    from recollect.faces.present.times import day

    held = f"before, {fact.when(day)}".removesuffix(", ")
    proof = next((one for one in fact.proofs if not one.episode), None)
    opens = out.hint(f"recollect show {short(proof.message_id)}") if proof else ""
    out.line(f"        {out.dim(f'{held}:')}  {harmless(addressed(fact.content))}  {opens}")


COMMAND = Command(
    facts,
    (
        "recollect facts Luna",
        "recollect facts me --as-of 2025-03",
        'recollect facts edit 7Q2KAB --value "Leeds"',
        "recollect facts --rules",
    ),
    (
        Option(("--as-of",), "What was believed then: 2025-03, 2025-03-14, last spring …", "TIME"),
        Option(("--history",), "Print what held before as well.", default=False),
        Option(("--to",), "With edit: the fact in your words.", "TEXT"),
        Option(("--value",), "With edit: the right value.", "VALUE"),
        Option(("--rules",), "List your rules for every answer, and those to confirm.", default=False),
        Option(("--limit", "-n"), "How many are listed.", "N", default=_LIMIT, read=whole(1)),
    ),
    Words("ABOUT|ACTION", "what", several=True, values=_ACTIONS),
)
