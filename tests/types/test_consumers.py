"""The types take right code: a consumer's file and the README's Python lines, by mypy --strict and pyright."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """What is checked, outside of the repository."""
    consumer, readme = tmp_path / "consumer.py", tmp_path / "readme.py"
    shutil.copy(Path(__file__).with_name("consumer.py"), consumer)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    assert blocks
    readme.write_text("\n".join(blocks), encoding="utf-8")
    return [consumer, readme]


def test_mypy_takes_them(files: list[Path]) -> None:
    ran = subprocess.run([sys.executable, "-m", "mypy", "--strict", *files], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_pyright_takes_them(files: list[Path]) -> None:
    # an editable install may be a hook that only an interpreter follows
    (files[0].parent / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT)]}), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    told = json.loads(subprocess.run(command, cwd=files[0].parent, capture_output=True, text=True).stdout)
    assert [one for one in told["generalDiagnostics"] if one["severity"] == "error"] == []
    assert told["summary"]["filesAnalyzed"] == len(files)
