"""Names in a text, without a model: capitals that grammar does not ask for, names of code, what is known, and speakers.

Precision comes before number: what merely begins a sentence, a list or a heading is no name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.derive.entities import naming
from recollect.derive.entities.naming import (
    CUTS,
    FIRST_NAMES,
    GREETINGS,
    KNOWN,
    LABELS,
    NEVER,
    TIMES,
    TITLES,
    WITHIN,
    WORDS_TOO,
    folded,
    frequent_words,
    is_ordinary,
    type_of,
)
from recollect.text.language import is_english
from recollect.text.markdown import without_code
from recollect.text.terms import STOP_WORDS

_OUT = re.compile(
    r"""
      \$\$.*?\$\$ | \\\[.*?\\\] | \\\(.*?\\\)      # formulas
    | \$[^$\n]{1,80}\\[a-z]+[^$\n]*\$
    | (?:https?|ftp|file)://\S+ | www\.\S+          # addresses
    | [\w.+-]+@[\w-]+\.[\w.]+
    | </?[a-zA-Z][^<>\n]{0,200}>                      # tags
    | \[shared\ a\ photo:[^\]]*\]
    | !\[[^\]\n]*\]\([^)\n]*\)
    """,
    re.DOTALL | re.VERBOSE,
)
_SIGNS_OF_OUT = ("$", "\\", "://", "www.", "@", "<", "[")
_INLINE = re.compile(r"(`+)([^`\n]*)\1")
_ONE_NAME = re.compile(r"[A-Za-z][\w.+#-]*(?: [A-Z][\w.]*){0,2}")
_LINK = re.compile(r"\[([^\]\n]+)\]\([^)\n]*\)")
_BULLET = re.compile(r"^[\s>]*(?:[-*+•·–—]\s+|\(?\d{1,3}[.)]\s+|\(?[a-zA-Z][.)]\s+|\[[ xX]\]\s+)*")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s|^\s*(?:={3,}|-{3,}|\|)")
_LABEL = re.compile(r"^\s*(?:\*\*|__)([^*_\n]{1,80}?)(?::?(?:\*\*|__):?|:)")
_PLAIN_LABEL = re.compile(r"^(?!.*\b(?:decision|decided|settled)\b[^:]*:)([A-Z][^.!?:,\n]{0,48}):(?=\s|$)")
_EMPHASIS = re.compile(r"\*{1,3}|_{2,3}|~~")
_ENDS = (".", "!", "?", ";", ",", "…", "。", "！", "？", '"', "”", ")")


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line or label, without its bullet and emphasis. `start` is where it began in the text, roughly."""

    text: str
    start: int
    heading: bool = False


def lines(text: str) -> list[TextLine]:
    """The lines in order."""
    cleaned = without_code(text, "\n\n")
    cleaned = _OUT.sub(_blank, cleaned) if any(sign in cleaned for sign in _SIGNS_OF_OUT) else cleaned
    if "`" in cleaned:
        cleaned = _INLINE.sub(lambda m: m[2] if _ONE_NAME.fullmatch(m[2]) else " ", cleaned)
    if "](" in cleaned:
        cleaned = _LINK.sub(r"\1", cleaned)
    found: list[TextLine] = []
    at, end = 0, len(cleaned.rstrip())
    for raw in cleaned.split("\n"):
        if raw.strip():
            found += _read(raw, at, heads=at + len(raw) < end)
        at += len(raw) + 1
    return found


def _read(raw: str, at: int, *, heads: bool) -> list[TextLine]:
    """The line with its label. `heads`: others follow, which it may be the heading of."""
    if _HEADING.match(raw):
        return [TextLine(_EMPHASIS.sub("", raw.lstrip("# |=-")), at, heading=True)]
    body = _BULLET.sub("", raw, count=1)
    listed = len(body) != len(raw.lstrip())
    found: list[TextLine] = []
    label = _LABEL.match(body) or _PLAIN_LABEL.match(body)
    if label:
        found.append(TextLine(label[1].strip(), at, heading=True))
        body = body[label.end() :]
    body = _EMPHASIS.sub("", body).strip() if "*" in body or "_" in body else body.strip()
    if body:
        found.append(TextLine(body, at + 1, heading=_is_heading(body, listed=listed, heads=heads)))
    return found


def _is_heading(body: str, *, listed: bool, heads: bool) -> bool:
    """Whether most words of a line without an end have capitals. One that nothing follows is none as a rule: people
    leave out the full stop. There all of them must have one, as in a title.
    """
    if body.endswith(_ENDS):
        return _many(body, 0.85, least=5)
    if listed:
        return _many(body, 0.6, least=2)
    return _many(body, 0.65 if heads else 1.0, least=3)


def _many(body: str, share: float, *, least: int) -> bool:
    words = [word for word in body.split() if len(word) > 2 and word[0].isalpha()]
    return len(words) >= least and sum(word[0].isupper() for word in words) >= share * len(words)


def _blank(match: re.Match[str]) -> str:
    """As long as what it stands for, so that places stay."""
    return "\n" if "\n" in match[0] else " "


_MOST = 60  # names of one message: a list of a thousand words is no talk
_LONGEST = 60  # characters of a name
_MOST_WORDS = 6
_SEEN = 50_000  # characters of a message

_EXTENDED = "".join(char for char in map(chr, range(0x100, 0x250)) if char.isupper())
_UPPER = f"A-ZÀ-ÖØ-ÞΑ-ΩЁА-Я{_EXTENDED}"
_CAPITAL = rf"(?:[{_UPPER}]|\b[a-z](?=[A-Z][a-z]))"  # an upper-case letter, or iPhone's i
_STOP = r"(?:(?<=\b[A-Z])\.|(?<=\b(?:Dr|Mr|Ms|St))\.|(?<=\bMrs)\.|(?<=\bProf)\.)"
_WORD = rf"{_CAPITAL}[\w']*(?:[.&/+-](?=\w)[\w']+)*(?:\+\+|\#(?!\w))?{_STOP}?"
_INNER = r"(?:of(?: the)?|de|del|della|di|da|do|dos|das|du|van|von|der|den|la|le|el|al|bin|ibn|y|&)"
_NUMBER = r"(?:\d+(?:\.\d+)*[a-z]?)(?![\w%:.,/-]*\d)"
RUN = re.compile(rf"(?<![\w@#$/\\.~-])(?:{_WORD})(?:[ ](?:{_INNER}[ ]){{0,2}}(?:{_WORD})|[ ]{_NUMBER}(?!\w))*")

_SMALL_WORD = re.compile(r"(?<![\w@#$/\\.~-])[a-z][\w+#]*(?:\.(?:js|io|py))?(?![\w/@-]|\.\w)")
_CODE = re.compile(
    r"(?<![\w@#$/\\.~'’-])(?:[A-Za-z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z][a-z0-9]+(?:_[a-z0-9]+)+|"
    r"[A-Za-z][\w-]*\.(?:js|py|ts|rs|go|sql|json|yaml|yml|toml|md|css|html))(?![\w(=\[]|\.\w)"
)
_QUOTES = ('"', "“", "«")
_HASHTAG = re.compile(r"(?<![\w&/#])#([^\W\d_][\w]{2,30})\b")
_TITLE = re.compile(r"[\"“«]([A-Z][^\"“”«»\n]{2,58}?)[,.!?]?[\"”»]")
_INITIAL = re.compile(
    r"(?:\A|[.!?:;…。！？]['\"”’)\]]*\s+|[(\[{\"“«‘|>•·–—*]\s*|(?:\s|\A|\()'|"
    r"\W[\U0001F000-\U0001FAFF☀-➿]\s*|\s-{1,2}\s+|\.\.+\s*)$|\A\s*['\"]$"
)
_SPEAKS = re.compile(
    r"(?:'s\b|,?\s(?:said|says|told|asked|thinks|thought|wants|called|texted|"
    r"and [A-Z][a-z]+ (?:are|were|is|have)|is|was|has|had|"
    r"lives|works|runs|uses|needs|does|can|will|helps|comes|goes|improves|replaces|supports|sent|gave|came|went)\b)"
)
_POSSESSIVE = re.compile(r"'s?$")
_LONE_LETTER = re.compile(r"( [A-Z])\.$")  # with the end of the sentence: "Project X."
_NO_NAME = re.compile(
    r"(?:[KQRBN][a-h]?x?[a-h][1-8][+#]?|[A-Z]\d{1,3}|[A-Z][a-z#b]|[A-Z]/\w+)$"
)  # chess, cells, chords
_ACRONYM = re.compile(r"[A-Z][A-Z0-9]{1,5}s?$")


@dataclass(frozen=True, slots=True)
class Mention:
    """A name as a text has it, the character where it first stands (of the lines that were read), and how sure its
    type is.
    """

    name: str
    type: str
    start: int


def mentions(text: str, speaker: str | None = None) -> list[Mention]:
    """The names in a text, each once, in order. A speaker's own name is no mention, and tells that it is a person's.

    >>> [(m.name, m.type) for m in mentions("We moved from React to Next.js. Maria Lopez in Porto likes it.")]
    [('React', 'technology'), ('Next.js', 'technology'), ('Maria Lopez', 'person'), ('Porto', 'place')]
    """
    text = text[:_SEEN].replace("’", "'")
    found: dict[str, Mention] = {}
    cut = [(line, _runs(line.text)) for line in lines(text)]
    mid = _mid_sentence(cut)
    strict = _many_capitals(text) and not is_english(text[:400])
    for line, runs in cut:
        for name, start in _names_of(line, runs, mid, strict=strict):
            key = folded(name)
            if key not in found and len(found) < _MOST:
                kind = type_of(name, line.text, start)
                if kind != "concept" or key not in frequent_words() or name.isupper():
                    found[key] = Mention(name, kind, line.start + start)
    if not text.isascii():
        for name, kind, start in naming.names(text):
            found.setdefault(folded(name), Mention(name, kind, start))
    return sorted(found.values(), key=lambda m: (m.start, m.name))


#: Runs of capitalised words, and whether a sentence begins with them.
_Runs = list[tuple[re.Match[str], bool]]


def _runs(text: str) -> _Runs:
    return [
        (run, _INITIAL.search(text, max(0, run.start() - 12), run.start()) is not None) for run in RUN.finditer(text)
    ]


def _names_of(line: TextLine, runs: _Runs, mid: frozenset[str], *, strict: bool) -> Iterator[tuple[str, int]]:
    text = line.text
    taken: list[tuple[int, int]] = []
    if not line.heading and any(sign in text for sign in _QUOTES):
        for match in _TITLE.finditer(text):
            if _is_title(match[1]):
                taken.append(match.span())
                yield match[1].strip(), match.start(1)
    for run, initial in runs:
        if any(a <= run.start() < b for a, b in taken):
            continue
        for name, start in _of_run(run, text, mid, initial=initial, heading=line.heading, strict=strict):
            taken.append((start, start + len(name)))
            yield name, start
    for match in _CODE.finditer(text):
        if not any(a <= match.start() < b for a, b in taken) and not _is_noise(match[0]):
            yield match[0], match.start()
    if "#" in text:
        for match in _HASHTAG.finditer(text):
            yield match[1], match.start(1)
    for word in sorted(_SMALL_KNOWN.intersection(_SMALL_WORD.findall(text))):
        yield word, text.find(word)


def _of_run(
    run: re.Match[str], text: str, mid: frozenset[str], *, initial: bool, heading: bool, strict: bool
) -> Iterator[tuple[str, int]]:
    """The names in a run of capitalised words: without what begins a sentence, greetings, weekdays."""
    for words, start, first in _pieces(run, initial):
        name = " ".join(words)
        end = start + len(name)
        if len(words) > _MOST_WORDS or len(name) > _LONGEST:
            continue
        if is_name(words, text[end : end + 24], mid, first=first, heading=heading, strict=strict):
            yield _LONE_LETTER.sub(r"\1", _POSSESSIVE.sub("", name)), start
        elif heading and len(words) > 1:
            yield from _known_in(words, start)


def _known_in(words: list[str], start: int) -> Iterator[tuple[str, int]]:
    """Of a heading's words those that are names wherever they stand: "JavaScript" of "JavaScript Implementation"."""
    for word in words:
        if word.lower() in KNOWN and word.lower() not in WORDS_TOO and word.lower() not in FIRST_NAMES:
            yield word, start
        start += len(word) + 1


def _pieces(run: re.Match[str], initial: bool) -> Iterator[tuple[list[str], int, str]]:
    """The run cut at words that are never part of a name: each piece, where it begins, and what it comes first in.

    That is "begins" where a sentence begins with it, "cut" where it follows a word that was cut off, else "".
    """
    piece: list[str] = []
    start, at, first = run.start(), run.start(), "begins" if initial else ""
    words = run[0].split(" ")
    initial = initial and not _is_kind_of(words)
    for number, word in enumerate(words):
        plain = _POSSESSIVE.sub("", word).rstrip(".").lower()
        inner = plain in WITHIN and word[:1].islower()
        if (
            not inner
            and plain not in TITLES
            and _is_out(word, plain, begins=not piece, initial=initial and number == 0)
        ):
            yield from _closed(piece, start, first)
            piece, first = [], "" if plain in GREETINGS or plain in STOP_WORDS else "cut"
        else:
            if not piece:
                start = at
            piece.append(word)
            if word.endswith("'s"):
                yield from _closed(piece, start, first)
                piece, first = [], ""
        at += len(word) + 1
    yield from _closed(piece, start, first)


def _is_kind_of(words: list[str]) -> bool:
    """Whether the first word says what kind of thing the second names: "Project X", but not "Project Management"."""
    if len(words) < 2 or is_ordinary(words[1].rstrip(".").lower()):
        return False
    return type_of(f"{words[0]} {words[1]}", "", 0) == "project"


def _is_out(word: str, plain: str, *, begins: bool, initial: bool) -> bool:
    """Whether a word is no part of the name that it stands in."""
    if plain in CUTS:
        return not (word.isupper() and plain in KNOWN)
    if plain in KNOWN:
        return False
    return (begins and plain in LABELS) or (initial and is_ordinary(plain))


def _closed(piece: list[str], start: int, first: str) -> Iterator[tuple[list[str], int, str]]:
    """The piece without small words at its ends."""
    while piece and (piece[-1].lower() in WITHIN and piece[-1][:1].islower()):
        piece = piece[:-1]
    while piece and ((piece[0].lower() in WITHIN and piece[0][:1].islower()) or piece[0][:1].isdigit()):
        start += len(piece[0]) + 1
        piece = piece[1:]
    if piece:
        yield piece, start, first


def is_name(words: list[str], after: str, mid: frozenset[str], *, first: str, heading: bool, strict: bool) -> bool:
    """Whether capitalised words name something here."""
    plain = [_POSSESSIVE.sub("", word).rstrip(".").lower() for word in words]
    whole = " ".join(plain)
    if whole in KNOWN and whole not in WORDS_TOO:
        return True
    if len(words) == 1:
        return _is_single(words[0], plain[0], after, mid, first=first, heading=heading, strict=strict)
    if plain[0] in TITLES:
        return len(plain[1]) > 1
    if heading:
        return False
    if strict:
        return any(word in KNOWN and word not in WORDS_TOO for word in plain) and not all(map(is_ordinary, plain))
    if first == "begins" and all(is_ordinary(word) and word not in KNOWN for word in plain):
        return False
    return not all(word in GREETINGS or len(word) == 1 for word in plain)


def _is_single(
    word: str, plain: str, after: str, mid: frozenset[str], *, first: str, heading: bool, strict: bool
) -> bool:
    one = plain.removesuffix("s")
    if len(plain) < 2 or plain in NEVER or plain in TITLES or _NO_NAME.match(word) or one in LABELS:
        return False
    if one.endswith("day") and one in TIMES:  # "on Sundays"; "Summers" is a name
        return False
    if plain in WORDS_TOO:
        return not first and not heading and not strict
    if _looks_like_code(word):
        return not (_ACRONYM.match(word) and (heading or is_ordinary(plain)))
    if heading or strict:
        return False
    if first:
        return plain in mid or (bool(_SPEAKS.match(after)) and not is_ordinary(plain))
    if "-" in plain and all(is_ordinary(part) for part in plain.split("-")):
        return False
    return not word.isupper() or not is_ordinary(plain)


def _looks_like_code(word: str) -> bool:
    """Capitals, digits or dots within: PostgreSQL, GPT-4, Next.js, AWS."""
    inner = word[1:]
    return any(char.isupper() or char.isdigit() for char in inner) or "." in inner.rstrip(".")


def _is_title(quoted: str) -> bool:
    """Whether what stands in quotes is a title: its longer words have capitals, and it is no sentence."""
    words = quoted.split()
    long = [word for word in words if len(word) > 3]
    if not 2 <= len(words) <= 8 or not long:
        return False
    return all(not word[0].islower() for word in long) and not quoted.rstrip().endswith(("?", "!"))


_SMALL_KNOWN = frozenset(
    word
    for word in KNOWN
    if " " not in word
    and word not in WORDS_TOO
    and type_of(word, "", 0) == "technology"
    and not (
        word.isalpha()
        and is_ordinary(word)
        and word not in {"python", "javascript", "linux", "java", "mysql", "html", "css", "sql", "android"}
    )
)


def _is_noise(word: str) -> bool:
    return len(word) > 40 or len(word) < 4


def _mid_sentence(cut: list[tuple[TextLine, _Runs]]) -> frozenset[str]:
    """Single capitalised words that stand within sentences somewhere in the text, folded."""
    found = set()
    for line, runs in cut:
        for run, initial in runs if not line.heading else ():
            if not initial:
                word = _POSSESSIVE.sub("", run[0].partition(" ")[0]).lower()
                if word not in NEVER and not (" " in run[0] and is_ordinary(word)):
                    found.add(word)
    return frozenset(found)


def _many_capitals(text: str) -> bool:
    """Whether capitals are so frequent that nouns must have them, as in German."""
    words = [word for word in text.split()[:200] if word[:1].isalpha()]
    return len(words) >= 8 and sum(word[0].isupper() for word in words) > 0.2 * len(words)
