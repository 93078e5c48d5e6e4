"""The reference embedders, imported where they lie beside the repository."""

import importlib
import sys
from types import ModuleType

import pytest

from tests.paths import SHARED

needs_reference = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared fixtures are not here")


def reference() -> ModuleType:
    """The module with the reference's `Static` and `MiniLM`."""
    folder = str(SHARED / "reference")
    sys.path.insert(0, folder)
    try:
        return importlib.import_module("check")
    finally:
        sys.path.remove(folder)
