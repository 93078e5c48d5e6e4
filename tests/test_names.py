"""Names of classes: each is used once in the package, so that a name in a trace or a review says which class it is."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import recollect

_PACKAGE = Path(recollect.__file__).parent


def test_a_class_name_is_used_once() -> None:
    where = defaultdict(list)
    for path in _PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                where[node.name].append(str(path.relative_to(_PACKAGE)))
    assert {name: files for name, files in where.items() if len(files) > 1} == {}
