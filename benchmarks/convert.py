"""Conversation sets as OpenAI-format JSON Lines, which the product imports like any export; and LoCoMo as it is
published as a set, so that anyone can measure on the conversations that nobody here tuned on.

python -m benchmarks.convert SET.json OUT.jsonl
python -m benchmarks.convert locomo10.json FOLDER/locomo-others.json --without SET.json

Then: python -m benchmarks.quality --data FOLDER
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.datasets import Said, Session, public_set
from benchmarks.locomo import locomo


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
    parser = argparse.ArgumentParser(prog="benchmarks.convert", description=__doc__.partition("\n\n")[0])
    parser.add_argument("source", type=Path, help="a set, or LoCoMo's published file")
    parser.add_argument("target", type=Path, help="OUT.jsonl for the product, OUT.json for a set")
    parser.add_argument("--without", type=Path, help="a set whose conversations are left out")
    options = parser.parse_args(arguments)
    if options.target.suffix == ".json":
        known = {history.id for history in public_set(options.without).histories} if options.without else set()
        given = json.loads(options.source.read_text(encoding="utf-8"))
        conversations = [locomo(sample) for sample in given if sample["sample_id"] not in known]
        options.target.parent.mkdir(parents=True, exist_ok=True)
        options.target.write_text(json.dumps({"conversations": conversations}, ensure_ascii=False), encoding="utf-8")
        print(f"{len(conversations)} conversations in {options.target}")
        return 0
    sessions = [session for history in public_set(options.source).histories for session in history.sessions]
    print(f"{write_openai(sessions, options.target)} conversations in {options.target}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
