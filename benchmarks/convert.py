"""Conversation sets as OpenAI-format JSON Lines, which the product imports like any export.

python -m benchmarks.convert SET.json OUT.jsonl
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.datasets import Said, Session, public_set


def write_openai(sessions: Iterable[Session], path: Path) -> int:
    """Writes a conversation a line; the ids become the `source_id`s of what is imported. Returns how many."""
    written = 0
    with path.open("w", encoding="utf-8") as stream:
        for session in sessions:
            stream.write(json.dumps(openai_conversation(session), ensure_ascii=False) + "\n")
            written += 1
    return written


def openai_conversation(session: Session) -> dict[str, Any]:
    """A session in the OpenAI format with the optional keys that the importer knows."""
    created = {"created": session.created.isoformat()} if session.created else {}
    messages = [_message(said) for said in session.messages]
    return {"id": session.id, "title": session.title, **created, "messages": messages}


def _message(said: Said) -> dict[str, Any]:
    message: dict[str, Any] = {"id": said.id, "role": said.role, "content": said.content}
    if said.speaker:
        message["name"] = said.speaker
    if said.time:
        message["timestamp"] = said.time.isoformat()
    return message


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    source, target = map(Path, arguments)
    sessions = [session for history in public_set(source).histories for session in history.sessions]
    print(f"{write_openai(sessions, target)} conversations in {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
