"""An assistant that remembers: each exchange is stored as it happens, and earlier ones are looked up for the next.

python examples/remember_in_my_app.py

`answer` stands for your model. The memory lies in a namespace of its own, so that nothing else of yours is in reach.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import recollect

SAID = (
    "My daughter is allergic to hazelnuts.",
    "We are four at the weekend, and it will be hot.",
    "Which dessert could I make without nuts?",
)


def answer(question: str, remembered: list[str]) -> str:
    """What your model would say, given what was remembered."""
    return f"(with {len(remembered)} earlier messages at hand) I would think about: {question}"


def main(file: Path) -> None:
    """Talks, and remembers."""
    with recollect.open(file, namespace="kitchen/assistant") as memory:
        conversation = None
        for question in SAID:
            found = memory.search(question, role="user", group_by="message", limit=3)
            remembered = [hit.messages[0].message.content for hit in found]
            asked = memory.store_message(question, conversation_id=conversation, title="Weekend")
            conversation = asked.conversation_id
            memory.store_message(answer(question, remembered), "assistant", conversation_id=conversation)
            print("user:", question)
            for earlier in remembered:
                print("  remembered:", earlier)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        main(Path(folder) / "memory.db")
