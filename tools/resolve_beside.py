"""Sees that the newest agent frameworks can be installed beside Recollect: where a package manager cannot have both, it
silently takes a release of years ago.

python -m tools.resolve_beside [PACKAGE…]
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BESIDE = ("crewai", "google-adk", "strands-agents", "langgraph", "letta", "litellm", "openai-agents")

_PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
_PYTHON = "3.12"
_SECONDS = 180


def resolved(package: str, *beside: str) -> str:
    """The version that is chosen of a package, beside what a file requires. Raises SubprocessError."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-header", "--no-annotate"]
    command += ["--python-version", _PYTHON, *beside, "-"]
    made = subprocess.run(command, input=package, capture_output=True, text=True, timeout=_SECONDS, check=True)
    versions = dict(line.split("==", 1) for line in made.stdout.splitlines() if "==" in line)
    return versions[package]


def problem_of(package: str) -> str:
    """What keeps the newest version from being installed beside Recollect; empty where nothing does."""
    try:
        newest, beside = resolved(package), resolved(package, str(_PROJECT))
    except subprocess.CalledProcessError as error:
        return f"{package} cannot be resolved:\n{error.stderr.strip()}"
    except subprocess.TimeoutExpired:
        return f"{package} took longer than {_SECONDS} s to resolve"
    return "" if newest == beside else f"{package} {newest} cannot be installed beside Recollect, only {beside}"


def main(packages: list[str]) -> int:
    """Prints a line for each package that does not fit."""
    packages = packages or list(BESIDE)
    with ThreadPoolExecutor(2) as pool:
        problems = list(filter(None, pool.map(problem_of, packages)))
    print("\n".join(problems) or f"The newest {', '.join(packages)} can be installed beside Recollect.")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
