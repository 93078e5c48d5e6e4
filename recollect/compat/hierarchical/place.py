"""Where a hierarchical memory lies: what its users give as `db_path`."""

from __future__ import annotations

from pathlib import Path

from recollect.memory.settings import usual_store
from recollect.runtime.files import Address, Place, read_place

FILE = "memory.db"
_FILES = (".db", ".sqlite", ".sqlite3")


def place_of(agent_name: str, db_path: str | Path | Address | None) -> Place:
    """A file, or the address of a server.

    A path that ends like a database file, or is a file, is that file; any other is a folder, which is made and holds
    `memory.db`. Without a path the folder is named after the agent and lies beside the memory of the command line.
    """
    if isinstance(db_path, Address):
        return db_path
    if db_path is None:
        default = usual_store()
        if isinstance(default, Address):
            return default
        return default.parent / "hierarchical_memory" / agent_name / FILE
    place = read_place(str(db_path))
    if isinstance(place, Address):
        return place
    path = place.expanduser()
    if path.is_file() or (path.suffix.lower() in _FILES and not path.is_dir()):
        return path
    return path / FILE
