"""What Recollect promises to the outside, written down: a change of these files is a change that users notice.

`GOLDEN=write .venv/bin/pytest tests/golden` writes them again; say in the commit what changed and why. The help of
every command is held by docs/reference/cli.md in the same way.
"""
