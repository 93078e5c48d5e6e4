"""Writes docs/reference/cli.md from the help of the commands: the help text is the documentation.

python -m tools.write_cli_reference
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from unittest.mock import patch

from recollect.faces.cli.commands import SUMMARIES, load
from recollect.faces.cli.help import help_of
from recollect.faces.cli.parser import PROGRAM

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "cli.md"

_HEAD = """\
# The command line

<!-- Written by tools/write_cli_reference.py from the commands' own help. Do not edit. -->

What holds for all commands:

- **Streams.** Results go to standard output; progress, notes and errors to standard error. Where the output is no
  terminal there is no colour, no pager and no cutting to width; it is UTF-8 whatever the locale.
- **Exit codes.** 0 found or done; 1 nothing found or imported; 2 an error or wrong usage; 130 interrupted. An import
  that brought some conversations and could not read others ends with 0, and says so.
- **Asking.** What removes something for good asks first; without a terminal it does nothing unless told `--yes`.
- **JSON.** With `--json` a command prints one document, errors too. [json.md](json.md) has the shapes.
- **Common options.** `--store`, `--namespace`, `--color` and `--json` may stand before the command's name or after it.
  [configuration.md](configuration.md) has the file and the variables behind them.

How to ask, in words and filters, is in [Search well](../how-to/search-well.md).
"""


def reference() -> str:
    """The page."""
    with patch.dict(os.environ, {"COLUMNS": "80"}):
        commands = [
            _section(" ".join(filter(None, (PROGRAM, name, part))), help_of(name, part))
            for name in SUMMARIES
            for part in ("", *load(name).parts)
        ]
        return "\n".join([_HEAD, _section(PROGRAM, help_of()), *commands])


def _section(title: str, text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return f"## {title}\n\n```text\n{lines}\n```\n"


def main() -> int:
    """Writes the page."""
    PAGE.write_text(reference(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
