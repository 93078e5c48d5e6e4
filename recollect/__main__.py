"""`python -m recollect`."""

from recollect.faces.cli.main import run

run()
