"""Check all items: schema, offsets, duplicates, leaks between parts; print the counts.

python -m training.data.check [--writer W] [--complete]

One line an error: `file:line: what, fix`. With --writer, errors of that writer alone. With --complete, counts below
those that are required are errors, too.
"""

from __future__ import annotations

import argparse
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.data.archives import DATA, PARTS, Archive, UnknownArchive, family, read, read_file
from training.data.items import KINDS, SPAN_FIELDS, Fields, Item, load
from training.forbidden import forbidden_name

LANGUAGES = ("en", "de", "fr", "es", "zh", "ru", "pt", "ja", "it", "ko", "hi")
ASKED = ("now", "before", "change")
QUESTION_KINDS = ("plain", "none", "changed", "keywords", "topic")
MISSES = ("person", "attribute", "time", "absent")
STATEMENT_KINDS = (
    "identity", "family", "home", "work", "health", "possession", "preference", "rule", "decision", "plan", "budget",
    "event", "none",
)  # fmt: skip
TRAPS = (
    "question", "wish", "joke", "quotation", "task", "role play", "code", "negation", "correction", "hypothesis",
)  # fmt: skip
NAME_TYPES = ("person", "place", "organisation", "project", "tool", "animal", "work")
LETTER = {"questions": "q", "statements": "s", "followups": "f", "names": "n"}
SIMILAR = 0.8

#: What each kind must have, and may have, beside id, writer and language.
REQUIRED = {
    "questions": {"kind", "question", "archive"},
    "statements": {"before", "text", "kind", "whose", *SPAN_FIELDS, "trap", "archive"},
    "followups": {"turns", "question", "needed"},
    "names": {"text", "spans"},
}
POINTER = {"conversation", "message", "start", "end"}
ALLOWED = {
    "questions": {*POINTER, "sentence", "answer", "also", "near", "miss", "old", "asks", "cross"},
    "statements": POINTER,
    "followups": {"archive", "conversation", "message"},
    "names": {"trap"},
}


@dataclass(frozen=True, slots=True)
class Need:
    """A required count: items of a kind that satisfy a condition."""

    what: str
    kind: str
    number: int
    counts: Callable[[Fields], bool] = lambda fields: True


NEEDS = (
    Need("questions", "questions", 2000),
    *(
        Need(f"questions: {kind}", "questions", number, lambda f, kind=kind: f.get("kind") == kind)  # type: ignore[misc]
        for kind, number in (("none", 250), ("changed", 250), ("keywords", 250), ("topic", 100))
    ),
    Need("questions: not in English", "questions", 400, lambda f: f.get("language") != "en"),
    Need("questions: not in English, across", "questions", 200, lambda f: f.get("language") != "en" and _crosses(f)),
    Need("statements", "statements", 2500),
    Need("statements: not in English", "statements", 833, lambda f: f.get("language") != "en"),
    Need("statements: traps", "statements", 1250, lambda f: bool(f.get("trap"))),
    Need("followups", "followups", 500),
    Need("followups: none needed", "followups", 167, lambda f: not f.get("needed")),
    Need("names", "names", 1500),
    Need("names: without a name", "names", 600, lambda f: not f.get("spans")),
)


def _crosses(fields: Fields) -> bool:
    return fields.get("cross") is True


class Checker:
    """Collects error lines over all items of a folder."""

    def __init__(self, data: Path = DATA) -> None:
        self.data = data
        self.items, self.errors = load(data)
        self.archives: dict[str, Archive | str] = {}

    def run(self) -> list[str]:
        """Run every check and return the error lines."""
        self._check_own_archives()
        for item in self.items:
            unread = {
                a for a in self.archives.values() if isinstance(a, str)
            }  # said once, at the first item that needs it
            self.errors += [f"{item.place}: {problem}" for problem in self._problems(item) if problem not in unread]
        self._check_ids()
        self._check_parts()
        self._check_duplicates()
        return self.errors

    def _archive(self, name: str) -> Archive | str:
        if name not in self.archives:
            try:
                self.archives[name] = read(name, self.data)
            except UnknownArchive as error:
                self.archives[name] = str(error)
        return self.archives[name]

    def _check_own_archives(self) -> None:
        places: dict[str, Path] = {}
        for part in PARTS:
            for path in sorted((self.data / part / "archives").glob("*.jsonl")):
                if path.stem in places:
                    self.errors.append(f"{path}:1: {places[path.stem]} has the same name, keep one")
                places[path.stem] = path
                try:
                    archive = read_file(path)
                except UnknownArchive as error:
                    self.errors.append(str(error))
                    continue
                self.errors += [f"{path}:{line}: {problem}" for line, problem in _archive_problems(archive)]

    def _problems(self, item: Item) -> Iterator[str]:
        fields = item.fields
        missing = sorted(({"id", "writer", "language"} | REQUIRED[item.kind]) - fields.keys())
        if missing:
            yield f"{', '.join(missing)} missing, add what GUIDE.md says for {item.kind}"
            return
        unknown = sorted(fields.keys() - {"id", "writer", "language"} - REQUIRED[item.kind] - ALLOWED[item.kind])
        if unknown:
            yield f"{', '.join(unknown)} unknown, remove (or run `python -m training.data.items fill`)"
        if fields["writer"] != item.writer:
            yield f"writer is {fields['writer']!r} in the file of {item.writer}, make them the same"
        if not re.fullmatch(rf"{re.escape(item.writer)}-{LETTER[item.kind]}-\d{{4}}", str(fields["id"])):
            yield f"id {fields['id']!r}, write {item.writer}-{LETTER[item.kind]}-0001 and so on"
        if fields["language"] not in LANGUAGES:
            yield f"language {fields['language']!r}, use one of {', '.join(LANGUAGES)}"
        if forbidden := forbidden_name(str(fields.get("archive") or "")):
            yield f"archive is of {forbidden}, which we are measured on, delete the item"
            return
        try:
            yield from getattr(self, f"_{item.kind}")(fields)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            yield f"a field has the wrong form ({error!r}), compare with GUIDE.md"

    def _questions(self, f: Fields) -> Iterator[str]:
        yield from _one_of("kind", f["kind"], QUESTION_KINDS)
        if not f["question"].strip():
            yield "question is empty, write it"
        if f["kind"] == "keywords" and not 1 <= len(f["question"].split()) <= 4:
            yield "keywords are 1 to 4 words, shorten"
        archive = self._archive(f["archive"])
        if isinstance(archive, str):
            yield archive
            return
        if f["kind"] == "none":
            if f.get("message") or f.get("answer"):
                yield "a question without an answer has no message and no answer, remove (use `near`)"
            yield from _one_of("miss", f.get("miss"), MISSES)
            if f.get("near"):
                archive_message(archive, f["near"])
            elif f.get("miss") != "absent":
                yield "near is missing, give the id of the message that almost answers"
        elif f["kind"] == "topic":
            if not any(c.id == f.get("conversation") for c in archive.conversations):
                yield f"conversation {f.get('conversation')!r} is not in {archive.name}, give the id from `show`"
        else:
            yield from _pointer(archive, f, f.get("sentence"))
            yield from _answered(f)
            for also in f.get("also", []):
                archive_message(archive, also)
        if f["kind"] == "changed":
            old = f.get("old")
            if not old:
                yield "old is missing, point to the message with the old value"
                return
            yield from _one_of("asks", f.get("asks"), ASKED)
            yield from (f"old: {problem}" for problem in _pointer(archive, old, old.get("sentence")))
            yield from (f"old: {problem}" for problem in _answered(old))
            if not list(_pointer(archive, old, old.get("sentence"))) and _position(archive, old) >= _position(
                archive, f
            ):
                yield "old comes after the new value, swap them"
        if f["kind"] not in ("none", "keywords"):
            yield from self._language_of(archive, f)

    def _language_of(self, archive: Archive, f: Fields) -> Iterator[str]:
        conversation = next((c for c in archive.conversations if c.id == f.get("conversation")), None)
        if conversation and (conversation.language != f["language"]) != _crosses(f):
            yield (
                f"question in {f['language']}, conversation in {conversation.language}: "
                f"{'remove cross' if _crosses(f) else 'add `cross: true`'}"
            )

    def _statements(self, f: Fields) -> Iterator[str]:
        yield from _one_of("kind", f["kind"], STATEMENT_KINDS)
        if f["trap"]:
            yield from _one_of("trap", f["trap"], TRAPS)
        if not f["text"].strip():
            yield "text is empty, write it"
        for name in SPAN_FIELDS:
            if f[name] is not None:
                yield from _span(f["text"], name, f[name][0], f[name][1], f[name][2])
        if f["kind"] == "none":
            filled = [name for name in (*SPAN_FIELDS, "whose") if f[name]]
            if filled:
                yield f"kind none has {', '.join(filled)}, empty them or give a kind"
        else:
            if not f["whose"]:
                yield "whose is empty, write user, or the name or word that says who"
            if f["value"] is None:
                yield "value is missing, give the words that say it"
        if f["kind"] != "decision" and f["rejected"] is not None:
            yield "rejected belongs to decisions, remove"
        if f["archive"]:
            archive = self._archive(f["archive"])
            if isinstance(archive, str):
                yield archive
            else:
                yield from _pointer(archive, f, f["text"])

    def _followups(self, f: Fields) -> Iterator[str]:
        if not f["turns"]:
            yield "turns are empty, write at least the turn before"
        for turn in f["turns"]:
            yield from _one_of("role", turn["role"], ("user", "assistant"))
        for turn, start, end, words in f["needed"]:
            if not 0 <= turn < len(f["turns"]):
                yield f"needed: there is no turn {turn}, count from 0"
            else:
                yield from _span(f["turns"][turn]["text"], "needed", start, end, words)
        if f.get("message"):
            archive = self._archive(f["archive"])
            if isinstance(archive, str):
                yield archive
            else:
                archive_message(archive, f["message"])

    def _names(self, f: Fields) -> Iterator[str]:
        last = 0
        for start, end, type_, words in f["spans"]:
            yield from _one_of("type", type_, NAME_TYPES)
            yield from _span(f["text"], "spans", start, end, words)
            if start < last:
                yield "spans overlap or are out of order, sort them and keep the longer"
            last = end
        if "|" in f["text"] and "[" in f["text"]:
            yield "text still has marks, write it as `marked` and run fill"

    def _check_ids(self) -> None:
        seen: dict[str, Item] = {}
        for item in self.items:
            key = str(item.fields.get("id"))
            if key in seen:
                self.errors.append(f"{item.place}: id {key} is used in {seen[key].place}, number on")
            seen.setdefault(key, item)

    def _check_parts(self) -> None:
        """An archive, a writer, and a pointed-at sentence belong to one part."""
        own = {path.stem: part for part in PARTS for path in (self.data / part / "archives").glob("*.jsonl")}
        writers: dict[str, str] = {}
        archives: dict[str, str] = dict(own)
        sentences: dict[str, str] = {}
        for item in self.items:
            _in_one_part(self.errors, item, "writer", item.writer, writers)
            if item.fields.get("archive"):
                _in_one_part(self.errors, item, "archive", family(str(item.fields["archive"])), archives)
            for name in ("text", "sentence"):
                words = normalise(str(item.fields.get(name) or ""))
                if len(tokens(words)) > 3:
                    _in_one_part(self.errors, item, "sentence", words, sentences)

    def _check_duplicates(self) -> None:
        for kind in KINDS:
            for one, other, share in similar([item for item in self.items if item.kind == kind]):
                what = "the same as" if share == 1 else f"{share:.0%} the same words as"
                self.errors.append(f"{other.place}: {what} {one.place}, write another")


def archive_message(archive: Archive, message_id: str) -> None:
    """Raise KeyError if an archive has no such message."""
    if message_id not in archive.messages:
        raise KeyError(f"{archive.name} has no message {message_id}")


def _pointer(archive: Archive, f: Fields, sentence: str | None) -> Iterator[str]:
    """Yield what is wrong with a pointer to a sentence."""
    absent = sorted(name for name in POINTER if f.get(name) is None)
    if absent or not sentence:
        yield f"{', '.join(absent) or 'sentence'} missing, give message and sentence, and run fill"
        return
    if f["message"] not in archive.messages:
        yield f"message {f['message']!r} is not in {archive.name}, give the id from `show`"
        return
    conversation, message = archive.messages[f["message"]]
    if conversation.id != f["conversation"]:
        yield f"message {message.id} is in conversation {conversation.id}, write that"
    yield from _span(message.text, "start and end", f["start"], f["end"], sentence)


def _answered(f: Fields) -> Iterator[str]:
    answer = f.get("answer")
    if not answer:
        yield "answer is missing, write it in a few words"
    elif len(answer.split()) > 25 or len(answer) > 200:
        yield "answer is too long, at most 25 words"


def _span(text: str, name: str, start: Any, end: Any, words: str) -> Iterator[str]:
    if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(text)):
        yield f"{name}: {start}..{end} is outside of the text, run `python -m training.data.items fill`"
    elif text[start:end] != words:
        yield f"{name}: {start}..{end} is {text[start:end]!r}, not {words!r}; copy the words exactly and run fill"


def _one_of(name: str, value: Any, allowed: Sequence[str]) -> Iterator[str]:
    if value not in allowed:
        yield f"{name} {value!r}, use one of {', '.join(allowed)}"


def _position(archive: Archive, pointer: Fields) -> tuple[str, int, int]:
    order = list(archive.messages)
    return archive.messages[pointer["message"]][1].time[:10], order.index(pointer["message"]), pointer["start"]


def _archive_problems(archive: Archive) -> Iterator[tuple[int, str]]:
    seen: set[str] = set()
    last = ""
    for line, c in enumerate(archive.conversations, 1):
        if c.language not in LANGUAGES:
            yield line, f"language {c.language!r}, use one of {', '.join(LANGUAGES)}"
        if not c.messages:
            yield line, "no messages, write some or remove the conversation"
            continue
        if not re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d", c.time):
            yield line, f"time {c.time!r}, write 2024-03-09T18:20:00"
        if c.time < last:
            yield line, "begins before the conversation above, sort by time"
        last = c.time
        for m in c.messages:
            if m.id in seen:
                yield line, f"message id {m.id} is used twice, number on"
            seen.add(m.id)
            if m.role not in ("user", "assistant") or not m.text.strip():
                yield line, f"message {m.id}: role is user or assistant, and text is not empty"
        if [m.time for m in c.messages] != sorted(m.time for m in c.messages):
            yield line, "messages are not in order of time, sort them"
        if c.id in seen:
            yield line, f"id {c.id} is used twice, rename"
        seen.add(c.id)


def _in_one_part(errors: list[str], item: Item, what: str, key: str, parts: dict[str, str]) -> None:
    if parts.setdefault(key, item.part) != item.part:
        errors.append(f"{item.place}: {what} {key[:60]!r} is in {parts[key]} and in {item.part}, keep it in one part")


def normalise(text: str) -> str:
    """Lower case, compatibility forms, no punctuation, single spaces.

    >>> normalise("Who’s  there?")
    'who s there'
    """
    flat = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in flat).split())


_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def tokens(normalised: str) -> frozenset[str]:
    """Words; in scripts without spaces, pairs of characters.

    >>> sorted(tokens("wifi 密码"))
    ['wifi', '密码']
    """
    found: set[str] = set()
    for word in normalised.split():
        pairs = {word[i : i + 2] for i in range(len(word) - 1)} if _UNSPACED.search(word) else set()
        found |= pairs or {word}
    return frozenset(found)


def duplicate_key(item: Item) -> str:
    """Text in which two items of a kind must differ: the same words may be asked of two archives."""
    f = item.fields
    if item.kind == "followups":
        turns = [str(turn.get("text", "")) for turn in f.get("turns", []) if isinstance(turn, dict)]
        return normalise(" ".join([*turns[-1:], str(f.get("question", ""))]))
    return normalise(str(f.get("question") or f.get("text") or ""))


def similar(items: Sequence[Item], threshold: float = SIMILAR) -> Iterator[tuple[Item, Item, float]]:
    """Yield pairs whose words are the same or overlap by more than a share (Jaccard), each later item once.

    Fewer than four words count only if they are the same and are asked of the same archive.
    """
    exact: dict[tuple[str, str], Item] = {}
    index: dict[str, list[int]] = defaultdict(list)
    kept: list[tuple[Item, frozenset[str]]] = []
    frequency = Counter(word for item in items for word in tokens(duplicate_key(item)))
    for item in items:
        key = duplicate_key(item)
        words = tokens(key)
        scope = str(item.fields.get("archive") or "") if len(words) < 4 else ""
        if not key:
            continue
        if (key, scope) in exact:
            yield exact[key, scope], item, 1.0
            continue
        exact[key, scope] = item
        if len(words) < 4:
            continue
        # two sets that overlap by more than t share one of the rarest (1 - t) words of each
        rarest = sorted(words, key=lambda word: (frequency[word], word))[: int(len(words) * (1 - threshold)) + 1]
        for number in sorted({number for word in rarest for number in index[word]}):
            other, others = kept[number]
            share = len(words & others) / len(words | others)
            if share > threshold:
                yield other, item, share
                break
        for word in rarest:
            index[word].append(len(kept))
        kept.append((item, words))


def counts(items: Sequence[Item]) -> list[str]:
    """Lines with what there is, by kind, part and language."""
    lines = []
    for kind in KINDS:
        mine = [item for item in items if item.kind == kind]
        by_part = Counter(item.part for item in mine)
        by_language = Counter(str(item.fields.get("language")) for item in mine)
        parts = ", ".join(f"{part} {by_part[part]}" for part in PARTS)
        lines.append(f"{kind}: {len(mine)} ({parts})")
        lines.append("  " + ", ".join(f"{language} {n}" for language, n in by_language.most_common()))
        for field in ("kind", "trap"):
            values = Counter(str(item.fields.get(field)) for item in mine if item.fields.get(field))
            if values:
                lines.append(f"  {field}: " + ", ".join(f"{value} {n}" for value, n in values.most_common()))
    return lines


def needs(items: Sequence[Item]) -> list[tuple[str, int, int]]:
    """Return (what, have, need) of each required count."""
    found = [
        (need.what, sum(item.kind == need.kind and need.counts(item.fields) for item in items), need.number)
        for need in NEEDS
    ]
    four = Counter(item.fields.get("language") for item in items if item.kind == "statements")
    del four["en"]
    found.append(("statements: languages with 80 or more beside English", sum(n >= 80 for n in four.values()), 4))
    languages = Counter(item.fields.get("language") for item in items if item.kind == "names")
    found.append(("names: languages with 80 or more", sum(n >= 80 for n in languages.values()), 10))
    kept = sum(item.part == "kept" for item in items)
    return [*found, ("kept apart, percent", round(100 * kept / len(items)) if items else 0, 20)]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m training.data.check", description="Check all items.")
    parser.add_argument("--writer", help="print the errors and counts of one writer")
    parser.add_argument("--complete", action="store_true", help="counts below the required ones are errors")
    parser.add_argument("--data", type=Path, default=DATA, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    checker = Checker(options.data)
    errors = checker.run()
    items = checker.items
    if options.writer:
        # archives of the writer are in no file of the writer's name: their errors are always printed
        errors = [e for e in errors if f"/{options.writer}.jsonl:" in e or "/archives/" in e.split(":")[0]]
        items = [item for item in items if item.writer == options.writer]
    print(*errors, sep="\n", end="\n" if errors else "", file=sys.stderr)
    print(*counts(items), sep="\n")
    failed = bool(errors)
    if not options.writer:
        for what, have, need in needs(items):
            print(f"{'ok  ' if have >= need else 'miss'} {what}: {have} of {need}")
            failed |= options.complete and have < need
    print(f"{len(errors)} errors")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
