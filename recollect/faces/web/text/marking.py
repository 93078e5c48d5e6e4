"""Marking in HTML what was sought in its text: words, or a quotation wherever tags cross it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import unescape

from markupsafe import escape

Range = tuple[int, int]

_TAG = re.compile(r"<[^>]*>")
_MARKING_NAME = re.compile(r"</?([a-zA-Z0-9]+)")
_INLINE = frozenset(("a", "b", "code", "em", "i", "mark", "s", "span", "strong", "sub", "sup", "wbr"))
_MARKING_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^()\s]*\)")
_LEAST = 12  # letters of a quotation that are looked for


def marked_html(html: str, places: Callable[[str], Iterable[Range]], kind: str = "") -> str:
    """HTML with `places` of its plain text marked; blocks stand on lines of their own in that text.

    >>> marked_html("<p>a <b>bc</b></p>", lambda text: [(text.index("c"), text.index("c") + 1)])
    '<p>a <b>b<mark>c</mark></b></p>'
    """
    parts = _parts(html)
    ranges = sorted(places("".join(text for text, _ in parts)))
    if not ranges:
        return html
    opening = f'<mark class="{kind}">' if kind else "<mark>"
    shown: list[str] = []
    at, which = 0, 0
    for text, raw in parts:
        end = at + len(text)
        if raw is not None:
            shown.append(raw)
        else:
            begin = at
            while which < len(ranges) and ranges[which][1] <= begin:
                which += 1
            own = which
            while own < len(ranges) and ranges[own][0] < end:
                start, stop = max(ranges[own][0], begin), min(ranges[own][1], end)
                if start < stop:
                    words = str(escape(text[start - at : stop - at]))
                    shown += [str(escape(text[begin - at : start - at])), opening, words, "</mark>"]
                    begin = stop
                own += 1
            shown.append(str(escape(text[begin - at :])))
        at = end
    return "".join(shown)


def _parts(html: str) -> list[tuple[str, str | None]]:
    """The text of the HTML piece by piece; beside it the tag, where it is one. Formulas and buttons say nothing."""
    parts: list[tuple[str, str | None]] = []
    at, silent = 0, 0
    for tag in [*_TAG.finditer(html), None]:
        end = tag.start() if tag else len(html)
        if end > at:
            raw = html[at:end]
            parts.append(("", raw) if silent else (unescape(raw), None))
        if tag is None:
            break
        named = _MARKING_NAME.match(tag[0])
        name = named[1].lower() if named else ""
        if name in ("math", "button"):
            silent += -1 if tag[0].startswith("</") else 1
        parts.append(("" if name in _INLINE or silent else "\n", tag[0]))
        at = tag.end()
    return parts


def quoted(quotations: Sequence[str]) -> Callable[[str], list[Range]]:
    """Where quotations stand in a text, by their letters and figures alone: Markdown between them does not count."""

    def places(text: str) -> list[Range]:
        letters, where = _letters(text)
        found: list[Range] = []
        for quotation in quotations:
            wanted, _ = _letters(_MARKING_LINK.sub(r"\1", quotation.strip("… ")))
            at = letters.find(wanted) if wanted else -1
            while at < 0 and len(wanted) > 2 * _LEAST:  # what is not text on the page may stand at its end
                wanted = wanted[: len(wanted) * 3 // 4]
                at = letters.find(wanted)
            if at >= 0:
                found.append((where[at], where[at + len(wanted) - 1] + 1))
        return _apart(found)

    return places


def _letters(text: str) -> tuple[str, list[int]]:
    kept = [(character.casefold()[:1], at) for at, character in enumerate(text) if character.isalnum()]
    return "".join(character for character, _ in kept), [at for _, at in kept]


def _apart(ranges: Iterable[Range]) -> list[Range]:
    """Without what lies over another."""
    kept: list[Range] = []
    for start, end in sorted(ranges):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept
