"""Names that were guessed, by a part of a title or of an id: nothing is changed by a guess before somebody agrees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from recollect.faces.cli.terminal.session import Invocation
    from recollect.faces.present.names import Meant


def agrees(session: Invocation, found: Sequence[Meant], verb: str, *, asks: bool = True) -> bool:
    """Shows what was guessed and asks; True where nothing was. Raises InvalidInput where nobody can be asked."""
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.present.names import short, titled

    guessed = [one for one in found if not one.exact]
    if not guessed:
        return True
    out = session.out
    if session.json or not out.can_ask or not asks:
        first = guessed[0]
        raise InvalidInput(
            f'Nothing matches "{first.name}" exactly. Did you mean "{titled(first.title)}" ({short(first.id)})?',
            hint=f"Give the whole title, or its ID: {short(first.id)}",
        )
    for one in guessed:
        out.line(f"  {harmless(titled(one.title))}  {out.dim(short(one.id))}")
    return out.confirms(f"{verb} {'this' if len(guessed) == 1 else 'these'}?")
