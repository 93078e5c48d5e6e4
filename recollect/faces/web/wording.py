"""How times, numbers, names and excerpts are written on a page: the filters of the templates."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from recollect.faces.present.names import (
    ago,
    clock,
    day,
    documents_named,
    moment_after,
    month,
    number,
    percent,
    size,
    source_label,
    titled,
)
from recollect.faces.present.names import speaker as spoken_by
from recollect.record import Kind, Message, Role, iso, utc_now
from recollect.search.results.result import Snippet
from recollect.text.language import addressed

if TYPE_CHECKING:
    from recollect.search.results.result import DocumentHit


_OPEN, _CLOSE = "\ue000", "\ue001"  # where marks begin and end, while the text is worked on
_OWN = re.compile(f"[{_OPEN}{_CLOSE}]")

_CODE = re.compile(r"(`+)([^`\n]+?)\1")
_BOLD = re.compile(r"(\*\*|__)(?=[^\s*_])(.+?)(?<=[^\s*_])\1")
_ITALIC = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))*\)")
_RULE = re.compile(r"(?m)^[ \t]*\|?[ \t]*:?-{3,}[-:| \t]*$|^[ \t]*(?:\*[ \t]*){3,}$")
_HEAD = re.compile(r"(?m)^[ \t]{0,3}(?:#{1,6}[ \t]+|>[ \t]?)")
_FENCE = re.compile(r"(?m)^[ \t]*(?:```|~~~)[\w+#.-]*[ \t]*$")
_IS_CODE = re.compile(
    r"^\s{2,}\S|[;{}(\[=]\s*$|\):$|\s--\w|^\s*(?:[@$}\])]|//|/\*|#!|<\w)|\w\(.*\)|\s(?:=|==|=>|->|\+=|&&|\|\|)\s"
    r"|^\s*(?:def|class|import|from|return|const|let|var|func|fn|public|SELECT|CREATE|INSERT|UPDATE|sudo|npm|pip)\s"
)
_PIPE = re.compile(r"[ \t]*\|[ \t]*")
_TABLE = re.compile(r"\|.*\|| \| ")
_TAG = re.compile(r"</?(\w+)>")


def excerpt(snippet: Snippet) -> Markup:
    """The excerpt of a result as HTML; nothing in it is taken for HTML."""
    return inline(snippet.text, snippet.marks)


def inline(text: str, marks: Sequence[tuple[int, int]] = ()) -> Markup:
    """A text with its marks, and its simplest Markdown; of several lines each stands on its own.

    >>> str(inline("a **b** <i> `c`", [(4, 5)]))
    'a <b><mark>b</mark></b> &lt;i&gt; <code>c</code>'
    """
    lines = _RULE.sub("", _FENCE.sub("", _with_signs(text, marks))).split("\n")
    shown = [_line(line, among=len(lines)) for line in lines if _OWN.sub("", line).strip()]
    return Markup("<br>").join(map(Markup, shown))


def _line(line: str, *, among: int) -> str:
    """A line as HTML. Where tags would cross it is shown as it is."""
    if among > 1 and _IS_CODE.search(_OWN.sub("", line)) and " | " not in line:
        shown = f"<code>{escape(line.strip())}</code>"
    else:
        shown = _worked(line)
    tagged = _signs_as_tags(shown)
    return tagged if _nests(tagged) else _signs_as_tags(str(escape(line)))


def _with_signs(text: str, marks: Sequence[tuple[int, int]]) -> str:
    parts: list[str] = []
    at = 0
    clean = _OWN.sub(" ", text)
    for start, end in sorted(marks):
        if at <= start < end:
            parts += [clean[at:start], _OPEN, clean[start:end], _CLOSE]
            at = end
    return "".join([*parts, clean[at:]])


def _worked(text: str) -> str:
    """Markdown as tags. What is within code is no Markdown."""
    text = _HEAD.sub("", text)
    shown: list[str] = []
    at = 0
    for found in _CODE.finditer(text):
        shown += [_prose(text[at : found.start()]), f"<code>{escape(found[2].strip(' '))}</code>"]
        at = found.end()
    return "".join([*shown, _prose(text[at:])])


def _prose(text: str) -> str:
    text = _LINK.sub(r"\1", text)
    if _TABLE.search(text):
        text = _PIPE.sub(" · ", text.strip(" \t|"))
    escaped = str(escape(text))
    return _ITALIC.sub(r"<i>\1</i>", _BOLD.sub(r"<b>\2</b>", escaped))


def _signs_as_tags(text: str) -> str:
    return text.replace(_OPEN, "<mark>").replace(_CLOSE, "</mark>")


def _nests(html: str) -> bool:
    """Whether every tag is closed before the one around it."""
    open_tags: list[str] = []
    for tag in _TAG.finditer(html):
        if not tag[0].startswith("</"):
            open_tags.append(tag[1])
        elif not open_tags or open_tags.pop() != tag[1]:
            return False
    return not open_tags


_LONGEST_NAME = 60


def marked(text: str, marks: Sequence[tuple[int, int]]) -> Markup:
    """A text with what matched marked, as in `Snippet.marks`; everything in it escaped.

    >>> str(marked("a <b> c", [(2, 5)]))
    'a <mark>&lt;b&gt;</mark> c'
    """
    parts: list[Markup] = []
    at = 0
    for start, end in sorted(marks):
        if start < at or end <= start:
            continue
        parts += [escape(text[at:start]), Markup("<mark>"), escape(text[start:end]), Markup("</mark>")]
        at = end
    return Markup("").join([*parts, escape(text[at:])])


def speaker(message: Message, source: str) -> str:
    """Who speaks, with a capital: "You", "ChatGPT"."""
    named = short_name(spoken_by(message, source))
    return named if message.speaker and message.kind is Kind.SAID else named[:1].upper() + named[1:]


def short_name(name: str) -> str:
    """A name as it fits into a line: the beginning of one that is very long."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def is_you(message: Message) -> bool:
    """Whether these are the words of the person whose memory it is."""
    return message.kind is Kind.SAID and message.role is Role.USER


def isotime(moment: datetime | None) -> str:
    """For the `datetime` attribute."""
    return iso(moment) or ""


def long_day(moment: datetime | None) -> str:
    """As in "Saturday 13 January 2024"."""
    if moment is None:
        return "no date"
    local = moment.astimezone()
    return f"{local:%A} {local.day} {local:%B} {local.year}"


def since(moment: datetime | None) -> str:
    """As in "2 h ago"."""
    return "" if moment is None else ago(moment, utc_now())


def seconds(length: float) -> str:
    """As in "1.9 s", "31 ms", "2 min"."""
    if length >= 120:
        return f"{length / 60:.0f} min"
    return f"{length:.1f} s" if length >= 0.95 else f"{max(1, round(length * 1000))} ms"


def money(dollars: float) -> str:
    """As in "$0.41", "$0.008"."""
    return f"${dollars:,.2f}" if dollars >= 0.1 or not dollars else f"${dollars:.3f}"


def kind(type: str) -> str:
    """The type of an entity for people: one that is not known is just a name."""
    return "name" if type == "concept" else type


def markdown(text: str, *, breaks: bool = False) -> Markup:
    """A text of Markdown, safely; with `breaks` a line's end is one."""
    from recollect.faces.web.text.markdown import html

    return Markup(html(text, breaks=breaks))


def headed(documents: Sequence[DocumentHit]) -> list[tuple[str, list[DocumentHit]]]:
    """Documents that were found, below their headings: files, then Recollect's own reports."""
    return [
        (heading, list(some)) for heading, some in groupby(documents, lambda hit: documents_named(hit.document.source))
    ]


FILTERS: Mapping[str, Callable[..., Any]] = {
    "day": day,
    "long_day": long_day,
    "clock": clock,
    "moment_after": moment_after,
    "month": month,
    "ago": since,
    "iso": isotime,
    "number": number,
    "size": size,
    "percent": percent,
    "seconds": seconds,
    "money": money,
    "source_label": source_label,
    "titled": titled,
    "speaker": speaker,
    "short_name": short_name,
    "is_you": is_you,
    "excerpt": excerpt,
    "inline": inline,
    "markdown": markdown,
    "marked": marked,
    "kind": kind,
    "addressed": addressed,
    "headed": headed,
    "capitalize_first": lambda text: text[:1].upper() + text[1:],
}
