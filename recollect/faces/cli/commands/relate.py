"""`recollect relate`: adds a relation that no message says."""

from __future__ import annotations

from recollect.faces.cli.parser import Command, Option, Words, WrongUsage
from recollect.faces.cli.terminal.session import Session


def relate(
    session: Session,
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
    from recollect.faces.cli.commands.graph import line
    from recollect.faces.cli.terminal.options import period
    from recollect.faces.present.knowledge import relation_as_json

    if len(names) != 3:
        raise WrongUsage(
            "recollect relate takes SOURCE RELATION TARGET.", hint='Quote names of several words: "Sam Berg"'
        )
    memory = session.memory()
    begins, ends = period(since, until, None)
    found = [memory.resolve(one)[1] for one in from_ or ()]
    if not all(found):
        raise WrongUsage("--from takes the ID of a message.", hint="The end of its ID is enough.")
    sources = [message.id for message in found if message is not None]
    source, name, target = names
    relation = memory.knowledge.add_relationship(
        source, target, name, since=begins, until=ends, sources=sources, provenance="by hand"
    )
    if session.json:
        session.out.document({"relation": relation_as_json(relation)})
    else:
        session.out.line(line(session, relation))
    return 0


COMMAND = Command(
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
    Words("SOURCE RELATION TARGET", "names", required=True, several=True),
)
