"""Writes the table of the score's terms in docs/explanation/ranking.md from the table that scores.

python -m tools.write_terms_reference
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from recollect.search.scoring import TERMS
from recollect.search.weights import INSTANT, QUALITY

PAGE = Path(__file__).resolve().parent.parent / "docs" / "explanation" / "ranking.md"

_MARKED = re.compile(r"(?<=<!-- terms -->\n).*?(?=<!-- /terms -->)", re.DOTALL)


def page() -> str:
    """The page with the table as it is now."""
    head = "| term | whose messages | what it is | instant | quality |\n|---|---|---|---:|---:|\n"
    cells = ((t.name, t.whose, t.says, _weight(INSTANT, t.name), _weight(QUALITY, t.name)) for t in TERMS)
    rows = (f"| {' | '.join(row)} |\n" for row in cells)
    return _MARKED.sub(lambda _: head + "".join(rows), PAGE.read_text(encoding="utf-8"))


def _weight(weights: dict[str, float], name: str) -> str:
    return f"{weights[name]:g}" if weights.get(name) else ""


def main() -> int:
    """Writes the page."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
