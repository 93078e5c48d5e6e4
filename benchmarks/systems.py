"""The product as a system that is measured: conversations in by its importer, questions through its search."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

from benchmarks.asking import conversation_ids, message_ids
from benchmarks.convert import write_openai
from benchmarks.datasets import History
from recollect.engines import open_store
from recollect.memory import Handle, Memory
from recollect.models.embedding.base import TokenEmbedder
from recollect.models.embedding.static import StaticEmbedder
from recollect.record import Namespace


class Product:
    """Recollect over one history, in a namespace of its own."""

    def __init__(self, history: History, place: str, folder: Path, model: TokenEmbedder | None) -> None:
        """Imports the history. Raises what the product raises, and RuntimeError where a message is not in."""
        namespace = Namespace(f"bench/{uuid4()}")
        self._memory = Memory(
            Handle(open_store(place), StaticEmbedder(), namespace, quality=(lambda: model) if model else None)
        )
        export = folder / "export.jsonl"
        write_openai(history.sessions, export)
        report = self._memory.import_file(export)
        if report.stored.messages < len({message.id for message in history.messages}):  # some sets repeat messages
            raise RuntimeError(f"{report.stored.messages} of {len(history.messages)} messages of {history.id} are in.")

    def close(self) -> None:
        """Closes the memory."""
        self._memory.close()

    def make_quality(self) -> None:
        """Makes the vectors of the quality mode."""
        self._memory.upkeep.embed()

    def messages(self, question: str, mode: str) -> list[str]:
        """The ids of the messages found, best first."""
        return message_ids(self._memory, question, mode)

    def sessions(self, question: str, mode: str) -> list[str]:
        """The ids of the conversations found, best first."""
        return conversation_ids(self._memory, question, mode)
