"""Of several workers of pytest one has all tests that need a Neo4j server: two would be started and warmed up."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from xdist.scheduler import LoadFileScheduling

#: What the name of such a test has in it: names are all that who hands them out knows.
SIGN = "neo4j"


class OneServer(LoadFileScheduling):
    """The tests of a file to one worker; those of a server to one as well."""

    def _split_scope(self, nodeid: str) -> str:
        return SIGN if SIGN in nodeid else str(super()._split_scope(nodeid))


def require_sign(items: Iterable[pytest.Item]) -> None:
    """Raises UsageError where a test needs the server and does not say so in its name."""
    unsigned = [i.nodeid for i in items if "neo4j_address" in getattr(i, "fixturenames", ()) and SIGN not in i.nodeid]
    if unsigned:
        raise pytest.UsageError(f"Name these with {SIGN!r}, for one worker to get all of them: {', '.join(unsigned)}")
