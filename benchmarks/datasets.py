"""Conversation sets for measuring retrieval, in one shape: the public ones where they are, and our own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from dateutil.parser import ParserError
from dateutil.parser import parse as parse_date

ROOT = Path(__file__).resolve().parent.parent

#: The public sets lie beside the repo; none of them may be shipped with it.
PUBLIC = ROOT.parent / "shared" / "data"
SAMPLE = ROOT / "recollect" / "sample"
SAMPLE_QUESTIONS = Path(__file__).resolve().parent / "sample"

#: The public sets by name, and the one that is made of several: chats of people beside chats with an assistant, as in
#: any real archive, which alone shows whether the scores of both are on one scale.
PUBLIC_NAMES = ("locomo-dev", "beam-dev", "lifebench-en-dev", "lifebench-zh-dev", "qmsum-dev")
MIX, MIXED = "mix", ("sample", "locomo-dev", "beam-dev")

#: Our own: questions about the sample archive, searches of the kind people type in it, and an archive in eight scripts.
SAMPLE_NAME, TYPED, SCRIPTS = "sample", "typed", "scripts"
ALL_NAMES = (SAMPLE_NAME, TYPED, SCRIPTS, *PUBLIC_NAMES, MIX)

#: Names that stand for the sides of a chat, not for people.
SIDES = frozenset({"user", "assistant"})


@dataclass(frozen=True, slots=True)
class Said:
    """A message. `speaker` is a person's name, None in a chat with an assistant."""

    id: str
    role: str
    speaker: str | None
    content: str
    time: datetime | None

    @property
    def line(self) -> str:
        """What a transcript shows: a person's words after the name."""
        return f"{self.speaker}: {self.content}" if self.speaker else self.content


@dataclass(frozen=True, slots=True)
class Session:
    """One sitting, imported as a conversation of its own."""

    id: str
    title: str
    created: datetime | None
    messages: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the ids of the messages that answer it. `origin` is the set that it was written for; `answer` is
    what a person would say, where the set tells it.
    """

    text: str
    category: str
    evidence: frozenset[str]
    origin: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """The sessions of one pair of people, or of one user, with what is asked about them."""

    id: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]

    @property
    def messages(self) -> list[Said]:
        """All messages, in order."""
        return [message for session in self.sessions for message in session.messages]

    def session_of(self) -> dict[str, str]:
        """Ids of messages to ids of their sessions."""
        return {message.id: session.id for session in self.sessions for message in session.messages}


@dataclass(frozen=True, slots=True)
class DataSet:
    """Histories that are measured together."""

    name: str
    histories: tuple[History, ...]

    def joined(self) -> DataSet:
        """The same as one history: a person's archive is one."""
        sessions = tuple(session for history in self.histories for session in history.sessions)
        questions = tuple(question for history in self.histories for question in history.questions)
        return DataSet(self.name, (History(self.name, sessions, questions),))

    def head(self, histories: int, questions: int) -> DataSet:
        """The first histories with their first questions, for a quick look."""
        cut = (History(h.id, h.sessions, h.questions[:questions]) for h in self.histories[:histories])
        return DataSet(self.name, tuple(cut))


def sets_named(names: Iterable[str], folder: Path = PUBLIC) -> tuple[list[DataSet], list[str]]:
    """Those of the sets that are here, and one line about those that are not. The public ones are files in `folder`."""
    found, missing = [], []
    for name in names:
        parts = MIXED if name == MIX else (name,)
        absent = [part for part in parts if part not in _OWN and not (folder / f"{part}.json").is_file()]
        missing += absent
        if not absent:
            sets = [_OWN[part]() if part in _OWN else public_set(folder / f"{part}.json") for part in parts]
            found.append(mixed(MIX, sets) if name == MIX else sets[0])
    listed = ", ".join(dict.fromkeys(missing))
    return found, [f"Not measured, for these conversation sets are not in {folder}: {listed}."] if missing else []


def mixed(name: str, sets: Iterable[DataSet]) -> DataSet:
    """Sets as one archive with all their questions. Raises ValueError where two messages or sessions share an id."""
    joined = [data.joined().histories[0] for data in sets]
    sessions = tuple(session for history in joined for session in history.sessions)
    together = History(name, sessions, tuple(question for history in joined for question in history.questions))
    ids = [message.id for message in together.messages]
    if len(set(ids)) < len(ids) or len({session.id for session in sessions}) < len(sessions):
        raise ValueError(f"The sets of {name} use the same ids.")
    return DataSet(name, (together,))


def own_set() -> DataSet:
    """The sample archive that comes with the package, and our questions about it."""
    sessions = tuple(_own_session(line) for line in _lines(SAMPLE, "part-*.jsonl"))
    questions = tuple(_question(line, SAMPLE_NAME) for line in _lines(SAMPLE_QUESTIONS, "questions-*.jsonl"))
    return DataSet(SAMPLE_NAME, (History(SAMPLE_NAME, sessions, questions),))


def typed_set() -> DataSet:
    """The sample archive and the searches of `sample/typed.jsonl`: found is any message of the conversation meant."""
    (own,) = own_set().histories
    within = {session.id: frozenset(message.id for message in session.messages) for session in own.sessions}
    searches = (
        Question(line["query"], line["kind"], within[line["conversation"]], TYPED)
        for line in _lines(SAMPLE_QUESTIONS, "typed.jsonl")
    )
    return DataSet(TYPED, (History(TYPED, own.sessions, tuple(searches)),))


def scripts_set() -> DataSet:
    """The same six chats with an assistant in eight scripts other than the Latin one, in one archive: a question for a
    message of each, and a few typed words for each.
    """
    sessions, questions = [], []
    for number, line in enumerate(_lines(SAMPLE_QUESTIONS, "scripts.jsonl")):
        name, created = f"scripts-{number + 1}", datetime(2024, 1, 1, 9, tzinfo=UTC) + timedelta(days=number)
        said = tuple(
            Said(
                f"{name}-{place + 1}", ("user", "assistant")[place % 2], None, text, created + timedelta(minutes=place)
            )
            for place, text in enumerate(line["messages"])
        )
        sessions.append(Session(name, line["title"], created, said))
        answer, every = frozenset({said[line["evidence"]].id}), frozenset(message.id for message in said)
        questions.append(Question(line["question"], line["script"], answer, SCRIPTS))
        questions.append(Question(line["typed"], f"{line['script']}, typed", every, SCRIPTS))
    return DataSet(SCRIPTS, (History(SCRIPTS, tuple(sessions), tuple(questions)),))


_OWN = {SAMPLE_NAME: own_set, TYPED: typed_set, SCRIPTS: scripts_set}


def public_set(path: Path) -> DataSet:
    """A set as `conversations[]` of messages with session numbers, and questions."""
    given = json.loads(path.read_text(encoding="utf-8"))["conversations"]
    return DataSet(path.stem, tuple(_history(conversation, path.stem) for conversation in given))


def read_time(text: str | None) -> datetime | None:
    """The moment that a date in words names, such as "1:56 pm on 8 May, 2023"; in UTC."""
    if not text:
        return None
    try:
        return parse_date(text, default=datetime(2000, 1, 1)).replace(tzinfo=UTC)
    except ParserError:
        return None


def _history(conversation: Mapping[str, Any], origin: str) -> History:
    name = str(conversation["id"])
    sessions = (
        _session(f"{name}/{number}", list({(m["id"], m["content"]): m for m in messages}.values()))
        for number, messages in groupby(conversation["messages"], key=lambda message: message["session"])
    )  # a few messages stand twice in a session, id and words
    return History(name, tuple(sessions), tuple(_question(question, origin) for question in conversation["questions"]))


def _session(name: str, messages: Sequence[Mapping[str, Any]]) -> Session:
    """A sitting of which only the day or the first minute is known: its messages follow a minute apart."""
    title = messages[0]["date"] or ""
    created = read_time(title)
    said = (
        _said(message, created + timedelta(minutes=number) if created else None)
        for number, message in enumerate(messages)
    )
    return Session(name, title, created, tuple(said))


def _said(message: Mapping[str, Any], time: datetime | None) -> Said:
    speaker = message.get("speaker") or message.get("name")
    return Said(
        id=str(message["id"]),
        role=message["role"],
        speaker=None if not speaker or speaker.lower() in SIDES else speaker,
        content=message["content"],
        time=time,
    )


def _own_session(line: Mapping[str, Any]) -> Session:
    messages = tuple(_said(message, read_time(message["timestamp"])) for message in line["messages"])
    return Session(line["id"], line["title"], read_time(line["created"]), messages)


def _question(given: Mapping[str, Any], origin: str) -> Question:
    evidence, answer = frozenset(map(str, given["evidence"])), str(given.get("answer") or "")
    return Question(given["question"], str(given["category"]), evidence, origin, answer)


def _lines(folder: Path, pattern: str) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob(pattern)):
        yield from _objects(path.read_text(encoding="utf-8").splitlines())


def _objects(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in lines if line.strip())
