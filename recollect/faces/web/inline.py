"""An excerpt of Markdown on a line: bold, code and tables are shown as such, the words that matched are marked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markupsafe import Markup, escape

from recollect.search.results.result import Snippet

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
