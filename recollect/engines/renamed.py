"""Namespaces of users as 0.2.0 named them, and what they are called today.

0.2.0 wrote `user/Anna-Smith-h1g7e6` for the user id `Anna Smith`: what a namespace cannot hold became hyphens, then 30
bits of a digest of the id. A user whose id *is* `Anna-Smith-h1g7e6` had the same namespace, and whoever chooses ids
finds others for it within minutes. So no request is ever given such a namespace on the strength of the id it brings.
Whose it is follows from its name alone, once, when the store is brought to version 3: of the ids that are written as
people write them (one sign, or a sign and a blank, where a hyphen stands), at most one in all likelihood has the
digest; there are some 69,000 such ids for three hyphens, and 2^30 digests. If one has, the namespace is renamed for it.
If none has, it stays what it is, and belongs to the user whose id is just that: see
docs/decisions/020-names-of-users.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product

from recollect.record import Namespace, namespace_part, stable_id

_OLD = re.compile(r"user/(.+)-([0-9a-hjkmnp-tv-z]{6})")
#: What may have stood where 0.2.0 wrote a hyphen.
_SIGNS = ("-", *" !\"#$%&'()*,/:;<=>?[\\]^`{|}~", ", ", ": ", "; ", " - ", " (", " | ", "://")
_MOST = 3  # hyphens: with more of them, ids that only happen to have the digest are too many
_LONGEST = 60


def renamed(names: Iterable[Namespace]) -> Iterator[tuple[Namespace, Namespace]]:
    """Those of some namespaces that have another name today, with that."""
    there = set(names)
    for name in sorted(there):
        if (user := user_of(name)) is not None:
            today = Namespace(f"user/{namespace_part(user)}")
            if today not in there:
                yield name, today


def user_of(name: str) -> str | None:
    """The user id that 0.2.0 made this namespace of by changing it; None where it changed none, or too much."""
    found = _OLD.fullmatch(name)
    if found is None or found[1].count("-") > _MOST or len(found[1]) > _LONGEST:
        return None
    first, *rest = found[1].split("-")
    for signs in product(_SIGNS, repeat=len(rest)):
        user = first + "".join(sign + piece for sign, piece in zip(signs, rest, strict=True))
        if user != found[1] and stable_id("name", user)[-6:].lower() == found[2]:
            return user
    return None
