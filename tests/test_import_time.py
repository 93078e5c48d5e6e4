"""`import recollect` is light: whoever only imports it pays for nothing that is loaded when it is used."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("numpy", "apsw", "typer", "rich", "tokenizers", "onnxruntime", "orjson", "pydantic")


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_recollect_loads_nothing_heavy() -> None:
    assert not loaded_by("import recollect").intersection(HEAVY)


def test_help_loads_neither_the_store_nor_the_models() -> None:
    loaded = loaded_by(
        "import io, contextlib\nfrom recollect.faces.cli.main import main\n"
        "with contextlib.redirect_stdout(io.StringIO()): main(['--help'])"
    )
    assert not loaded.intersection({"numpy", "apsw", "tokenizers", "onnxruntime", "pydantic"})


def test_what_is_public_is_there() -> None:
    import recollect

    assert all(getattr(recollect, name) for name in recollect.__all__)
