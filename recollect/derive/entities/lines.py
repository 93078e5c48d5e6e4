"""A text as lines of prose: no code, addresses or markup; headings and labels told apart from what is said."""

from __future__ import annotations

import re
from dataclasses import dataclass

from recollect.text.markdown import without_code

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
class Line:
    """A line or label, without its bullet and emphasis. `start` is where it began in the text, roughly."""

    text: str
    start: int
    heading: bool = False


def lines(text: str) -> list[Line]:
    """The lines in order."""
    cleaned = without_code(text, "\n\n")
    cleaned = _OUT.sub(_blank, cleaned) if any(sign in cleaned for sign in _SIGNS_OF_OUT) else cleaned
    if "`" in cleaned:
        cleaned = _INLINE.sub(lambda m: m[2] if _ONE_NAME.fullmatch(m[2]) else " ", cleaned)
    if "](" in cleaned:
        cleaned = _LINK.sub(r"\1", cleaned)
    found: list[Line] = []
    at, end = 0, len(cleaned.rstrip())
    for raw in cleaned.split("\n"):
        if raw.strip():
            found += _read(raw, at, heads=at + len(raw) < end)
        at += len(raw) + 1
    return found


def _read(raw: str, at: int, *, heads: bool) -> list[Line]:
    """The line with its label. `heads`: others follow, which it may be the heading of."""
    if _HEADING.match(raw):
        return [Line(_EMPHASIS.sub("", raw.lstrip("# |=-")), at, heading=True)]
    body = _BULLET.sub("", raw, count=1)
    listed = len(body) != len(raw.lstrip())
    found: list[Line] = []
    label = _LABEL.match(body) or _PLAIN_LABEL.match(body)
    if label:
        found.append(Line(label[1].strip(), at, heading=True))
        body = body[label.end() :]
    body = _EMPHASIS.sub("", body).strip() if "*" in body or "_" in body else body.strip()
    if body:
        found.append(Line(body, at + 1, heading=_is_heading(body, listed=listed, heads=heads)))
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
