"""Writes docs/reference/formats.md from the formats: what each says of itself is the documentation.

python -m tools.write_formats_reference
"""

from __future__ import annotations

from pathlib import Path

from recollect.importers.registry import READERS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "formats.md"

_HEAD = """\
# Formats

<!-- Written by tools/write_formats_reference.py from the formats themselves. Do not edit. -->

What is read of each, and what becomes of it. None of the vendors documents these formats and all change them; they \
are read leniently: an unknown key goes into `metadata`, an unknown kind of content is kept as text and counted, a \
value of the wrong type counts as absent. What cannot be read is told with its place and reason, and what is good \
beside it is in.

Which words count as said is told in [Whose words](../explanation/whose-words.md). \
Other formats can be [added](../how-to/add-a-format.md) by any package.

| name (`source:`, `--format`) | called | recognised by |
|---|---|---|
"""
_BELOW_TABLE = """
Judged is the content, by several keys, not the file's name. A file that only half fits is refused; `--format` reads \
every file as the format named, whatever it looks like. An export that is known and not read yet is called by its name.
"""
_TAIL = """
## Archives

Zips are read without unpacking, also zips within zips and within folders. A cut zip gives what can be read of it. \
Names that lead out of the archive, links that lead out of the folder, encrypted members and zip bombs are left out, \
and told.
"""


def reference() -> str:
    """The page."""
    rows = "".join(f"| `{one.name}` | {one.label} | {one.recognised} |\n" for one in READERS)
    sections = "".join(f"\n## {one.label}\n\n{one.about.strip()}\n" for one in READERS)
    return _HEAD + rows + _BELOW_TABLE + sections + _TAIL


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
