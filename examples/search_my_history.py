"""Searches your memory and prints the messages, with the one that was answered or asked beside each.

python examples/search_my_history.py "what you remember of it"
"""

from __future__ import annotations

import sys

import recollect


def main(question: str) -> int:
    """Prints up to three messages; 1 where there are none, as grep does."""
    with recollect.open() as memory:
        results = memory.search(question, limit=3, group_by="message")
        for hit in results:
            found = hit.messages[0]
            print(f"{hit.conversation.title} ({hit.conversation.source})")
            print(f"  {found.message.role}: {found.snippet.text}")
            if found.beside is not None:
                print(f"  {found.beside.role}: {found.beside.content[:80]}")
    return 0 if results else 1


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:]) or "what did I decide"))
