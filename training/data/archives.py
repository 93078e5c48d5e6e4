"""Read any archive that items may point into, as one simple form; a command line for the writers.

python -m training.data.archives list
python -m training.data.archives show NAME [CONVERSATION]
python -m training.data.archives grep NAME WORDS...
python -m training.data.archives locate NAME MESSAGE "the sentence"

Names: `sample` (the sample archive of the package), `lifebench-en/PERSON`, `lifebench-zh/PERSON`, `qmsum/ARCHIVE`,
`realmem/PERSON`, or the file name of an archive in `training/data/{train,dev,kept}/archives/`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from training.forbidden import forbidden_name

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "training" / "data"
EXTERNAL = ROOT / "training" / "external"
PARTS = ("train", "dev", "kept")

#: Files of `shared/data` that may be read, by the prefix of their archives, with the language of the messages.
SHARED = {
    "lifebench-en": ("lifebench-en-dev.json", "en"),
    "lifebench-zh": ("lifebench-zh-dev.json", "zh"),
    "qmsum": ("qmsum-dev.json", "en"),
}


class UnknownArchive(LookupError):
    """There is no such archive, conversation or message, or its file is not on this machine."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `time` is ISO 8601 as far as it is known; `speaker` is empty for an owner and their assistant."""

    id: str
    role: str
    speaker: str
    time: str
    text: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation: messages in the order they were written."""

    id: str
    title: str
    time: str
    language: str
    messages: tuple[Message, ...]


@dataclass(frozen=True)
class Archive:
    """All conversations of one owner (or of one team)."""

    name: str
    language: str
    conversations: tuple[Conversation, ...] = field(repr=False)

    @cached_property
    def messages(self) -> dict[str, tuple[Conversation, Message]]:
        """Each message with its conversation, by message id."""
        return {m.id: (c, m) for c in self.conversations for m in c.messages}

    def message(self, message_id: str) -> tuple[Conversation, Message]:
        """Return a message and its conversation. Raises UnknownArchive."""
        if message_id not in self.messages:
            raise UnknownArchive(f"{self.name} has no message {message_id!r}; see `show {self.name}`")
        return self.messages[message_id]

    def conversation(self, conversation_id: str) -> Conversation:
        """Return a conversation by its id. Raises UnknownArchive."""
        for conversation in self.conversations:
            if conversation.id == conversation_id:
                return conversation
        raise UnknownArchive(f"{self.name} has no conversation {conversation_id!r}; see `show {self.name}`")


def shared_folder() -> Path:
    """Folder of the shared conversation sets: `$TRAINING_SHARED`, or `../shared/data` beside the repository."""
    return Path(os.environ.get("TRAINING_SHARED") or ROOT.parent / "shared" / "data")


def family(name: str) -> str:
    """Return what may be in one part only: translations of one archive have one family.

    >>> family("lifebench-zh/maxiulan")
    'lifebench/maxiulan'
    """
    prefix, _, rest = name.partition("/")
    return f"lifebench/{rest}" if prefix in ("lifebench-en", "lifebench-zh") else name


def names(data: Path = DATA) -> list[str]:
    """Names of all archives that can be read on this machine."""
    found = ["sample"]
    for prefix, (file, _) in SHARED.items():
        if (shared_folder() / file).exists():
            found += [f"{prefix}/{raw['id']}" for raw in _shared(file)]
    found += [f"realmem/{path.name.removesuffix(_REALMEM)}" for path in sorted(_realmem_folder().glob(f"*{_REALMEM}"))]
    return found + [path.stem for part in PARTS for path in sorted((data / part / "archives").glob("*.jsonl"))]


def read(name: str, data: Path = DATA) -> Archive:
    """Read an archive by its name. Raises UnknownArchive with what to do about it."""
    if forbidden := forbidden_name(name):
        raise UnknownArchive(f"{name}: we are measured on {forbidden}; it is never read here")
    prefix, _, rest = name.partition("/")
    if name == "sample":
        return _sample()
    if prefix in SHARED and rest:
        return _from_shared(prefix, rest)
    if prefix == "realmem" and rest:
        return _from_realmem(rest)
    for part in PARTS:
        path = data / part / "archives" / f"{name}.jsonl"
        if path.exists():
            return read_file(path)
    raise UnknownArchive(f"no archive {name!r}; `python -m training.data.archives list` prints the names")


def read_file(path: Path) -> Archive:
    """Read an archive of our own: one conversation a line. Raises UnknownArchive for a line that cannot be read."""
    conversations = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            raw = json.loads(line)
            conversations.append(_conversation(raw, raw["language"]))
        except (ValueError, KeyError, TypeError) as error:
            raise UnknownArchive(f"{path}:{number}: {error!r} is missing or wrong; see GUIDE.md, archives") from error
    return Archive(path.stem, conversations[0].language if conversations else "", tuple(conversations))


def _conversation(raw: dict[str, Any], language: str) -> Conversation:
    messages = tuple(
        Message(m["id"], m["role"], m.get("speaker") or m.get("name") or "", _time(m), m.get("text") or m["content"])
        for m in raw["messages"]
    )
    return Conversation(raw["id"], raw["title"], raw.get("time") or raw.get("created") or "", language, messages)


def _time(message: dict[str, Any]) -> str:
    return message.get("time") or message.get("timestamp") or ""


def _sample() -> Archive:
    parts = sorted((ROOT / "recollect" / "sample").glob("part-*.jsonl"))
    raws = [json.loads(line) for part in parts for line in part.read_text(encoding="utf-8").splitlines()]
    return Archive("sample", "en", tuple(_conversation(raw, "en") for raw in raws))


@lru_cache(maxsize=4)
def _shared(file: str) -> list[dict[str, Any]]:
    """Read the conversations of a shared file; its questions are dropped, since nobody here may see them."""
    path = shared_folder() / file
    if not path.exists():
        raise UnknownArchive(f"{path} is missing; set TRAINING_SHARED to the folder that has it")
    conversations = json.loads(path.read_text(encoding="utf-8"))["conversations"]
    return [{"id": raw["id"], "messages": raw["messages"]} for raw in conversations]


def _from_shared(prefix: str, wanted: str) -> Archive:
    file, language = SHARED[prefix]
    raw = next((raw for raw in _shared(file) if raw["id"] == wanted), None)
    if raw is None:
        raise UnknownArchive(f"{prefix} has no archive {wanted!r}: " + ", ".join(r["id"] for r in _shared(file)))
    sessions: dict[str, list[Message]] = {}
    seen: dict[str, int] = {}
    for m in raw["messages"]:
        seen[m["id"]] = seen.get(m["id"], 0) + 1  # a few ids are used twice: the second is named apart
        unique = m["id"] if seen[m["id"]] == 1 else f"{m['id']}#{seen[m['id']]}"
        message = Message(unique, m["role"], m.get("speaker") or "", m["date"], m["content"])
        sessions.setdefault(f"s{m['session']}", []).append(message)
    return Archive(
        f"{prefix}/{wanted}",
        language,
        tuple(Conversation(key, "", ms[0].time, language, tuple(ms)) for key, ms in sessions.items()),
    )


_REALMEM = "_dialogues_256k.json"


def _realmem_folder() -> Path:
    return EXTERNAL / "realmem" / "dataset"


def _from_realmem(person: str) -> Archive:
    """Read the written sessions of a RealMem person.

    Its sessions called `Enhanced:` are left out: fillers that were not written for it, many of them the same for
    several people, so that they would leak between parts.
    """
    path = _realmem_folder() / f"{person}{_REALMEM}"
    if not path.exists():
        raise UnknownArchive(f"{path} is missing; run `python -m training.fetch realmem` (with --mirror where offline)")
    conversations = []
    for raw in json.loads(path.read_text(encoding="utf-8"))["dialogues"]:
        key, day = raw["session_identifier"], raw["current_time"][:10]
        if key.startswith("Enhanced:"):
            continue
        messages = tuple(
            Message(f"{key}/{turn}", t["speaker"].lower(), "", day, t["content"])
            for turn, t in enumerate(raw["dialogue_turns"])
        )
        conversations.append(Conversation(key, key.partition(":")[0].replace("_", " "), day, "en", messages))
    return Archive(f"realmem/{person}", "en", tuple(conversations))


def locate(text: str, sentence: str) -> list[tuple[int, int]]:
    """Return start and end of each place where a sentence stands in a text.

    >>> locate("Ja. Ja!", "Ja")
    [(0, 2), (4, 6)]
    """
    places, start = [], text.find(sentence) if sentence else -1
    while start >= 0:
        places.append((start, start + len(sentence)))
        start = text.find(sentence, start + 1)
    return places


def _grep(archive: Archive, words: Iterable[str]) -> Iterator[str]:
    wanted = [word.casefold() for word in words]
    for conversation in archive.conversations:
        for m in conversation.messages:
            if all(word in f"{m.speaker} {m.text}".casefold() for word in wanted):
                yield f"{conversation.id} {_line(m)}"


def _line(m: Message) -> str:
    return f"[{m.id}] {m.time} {m.speaker or m.role}: {m.text}"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m training.data.archives", description="Read archives.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="names of all archives, with their sizes")
    show = commands.add_parser("show", help="the conversations of an archive, or the messages of one")
    show.add_argument("name")
    show.add_argument("conversation", nargs="?")
    grep = commands.add_parser("grep", help="messages with all of the words (parts of words, any case)")
    grep.add_argument("name")
    grep.add_argument("words", nargs="+")
    find = commands.add_parser("locate", help="start and end of a sentence in a message")
    find.add_argument("name")
    find.add_argument("message")
    find.add_argument("sentence")
    options = parser.parse_args(arguments)
    try:
        return _run(options)
    except UnknownArchive as error:
        print(error, file=sys.stderr)
        return 1


def _run(options: argparse.Namespace) -> int:
    if options.command == "list":
        for name in names():
            archive = read(name)
            print(f"{name}  {archive.language}  {len(archive.conversations)} conversations, "
                  f"{len(archive.messages)} messages")  # fmt: skip
        return 0
    archive = read(options.name)
    if options.command == "grep":
        print(*_grep(archive, options.words), sep="\n")
        return 0
    if options.command == "locate":
        places = locate(archive.message(options.message)[1].text, options.sentence)
        print("\n".join(f"{start} {end}" for start, end in places) or "not in that message")
        return 0 if len(places) == 1 else 1
    if options.conversation:
        print(*map(_line, archive.conversation(options.conversation).messages), sep="\n\n")
        return 0
    for c in archive.conversations:
        print(f"{c.id}  {c.time[:10]}  {len(c.messages)} messages  {c.title or c.messages[0].text[:60]!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
