"""Writes the table of packages in docs/explanation/architecture.md from the import rules and the packages' docstrings.

python -m tools.write_architecture_reference
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "explanation" / "architecture.md"

_MARKED = re.compile(r"(?<=<!-- packages -->\n).*?(?=<!-- /packages -->)", re.DOTALL)


def page() -> str:
    """The page with the table as it is now."""
    table = "".join(f"| {' | '.join(row)} |\n" for row in _rows())
    head = "| layer | folder | what it does |\n|---:|---|---|\n"
    return _MARKED.sub(lambda _: head + table, PAGE.read_text(encoding="utf-8"))


def layers() -> list[list[str]]:
    """The names of the packages in each layer, highest first, as import-linter checks them."""
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    return [[name.strip().removeprefix("recollect.") for name in layer.split("|")] for layer in rules[0]["layers"]]


def _rows() -> Iterator[tuple[str, str, str]]:
    for number, names in enumerate(layers(), 1):
        for name in names:
            folder = ROOT / "recollect" / name
            if not folder.is_dir():
                yield str(number), f"`{name}.py`", _first_line(folder.with_suffix(".py"))
                continue
            yield str(number), f"**`{name}/`**", _first_line(folder / "__init__.py")
            for inner in sorted(folder.glob("*/__init__.py")):
                yield "", f"`{name}/{inner.parent.name}/`", _first_line(inner)


def _first_line(file: Path) -> str:
    return (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def main() -> int:
    """Writes the page."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
