"""Markdown as HTML that can do no harm.

Three walls: HTML in a message is text for the parser; what the parser makes passes a cleaner that lets only what is
named here through; and the page's policy runs no script of a message and loads nothing from elsewhere. Images become
links: to show one would be to tell another server who reads what, and when.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from functools import cache, lru_cache
from html import unescape
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import escape

from recollect.faces.web.text.mathematics import SIGNS, Formula, formulas, math_html

_CODE_LONGEST = 30_000  # characters that are coloured
_NAME = re.compile(r"[^\w+#.-]+")
_LABELS = {"js": "JavaScript", "ts": "TypeScript", "py": "Python", "sh": "Shell", "bash": "Shell", "yml": "YAML"}
_PLAIN = ("", "text", "txt", "plain", "plaintext", "output", "console")


def code_html(code: str, language: str) -> str:
    """The box, as HTML."""
    name = _NAME.sub("", language)[:30]
    coloured, label = _coloured(code.rstrip("\n"), name)
    what = f"{label} code" if label else "Code"
    return (
        f'<figure class="codebox"><figcaption><span>{escape(label or "Text")}</span>'
        f'<button class="plain" type="button" data-copy="">Copy</button></figcaption>'
        f'<pre tabindex="0" role="group" aria-label="{escape(what)}"><code>{coloured}</code></pre></figure>\n'
    )


def _coloured(code: str, name: str) -> tuple[str, str]:
    """The code with its words in spans, and the name of its language; as it is where nobody knows that."""
    plain = str(escape(code))
    if name.lower() in _PLAIN:
        return plain, ""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    label = _LABELS.get(name.lower())
    try:
        lexer = get_lexer_by_name(name.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return plain, label or name
    if len(code) > _CODE_LONGEST:
        return plain, label or str(lexer.name)
    return highlight(code, lexer, HtmlFormatter(nowrap=True)).rstrip("\n"), label or str(lexer.name)


_LONGEST = 400_000  # characters; of longer messages the rest is plain text
_KEPT = 512  # messages that are not drawn again
_SMALL = 20_000  # characters
_DEEPEST = 30  # levels, two for each item of a list; the parser drops what is deeper

_TAGS = {
    *("p", "br", "hr", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "strong", "em", "s", "a", "wbr"),
    *("table", "thead", "tbody", "tr", "th", "td", "div", "code", "pre", "span", "figure", "figcaption", "button"),
}
_ATTRIBUTES = {
    "*": {"class"},
    "a": {"href"},
    "ol": {"start"},
    "th": {"scope"},
    "div": {"tabindex", "role", "aria-label"},
    "pre": {"tabindex", "role", "aria-label"},
    "button": {"type", "data-copy"},
}
_SCHEMES = {"http", "https", "mailto"}
_LINK = re.compile(r"^(?:https?:|mailto:)", re.IGNORECASE)
_BREAKS = re.compile(r"(?<=[._/])(?=[^\s._/])")
_PLACE = re.compile(f"{SIGNS[0]}(\\d+){SIGNS[1]}")


def html(text: str, *, breaks: bool = False) -> str:
    r"""The HTML of a message; with `breaks` a line's end is one, as in what people type.

    >>> html("a **b** <script>")
    '<p>a <strong>b</strong> &lt;script&gt;</p>\n'
    """
    return _short(text, breaks) if len(text) <= _SMALL else _drawn(text, breaks)


@lru_cache(maxsize=_KEPT)
def _short(text: str, breaks: bool) -> str:
    return _drawn(text, breaks)


def _drawn(text: str, breaks: bool) -> str:
    text, rest = text[:_LONGEST], text[_LONGEST:]
    found: list[Formula] = []
    env: MutableMapping[str, Any] = {"formulas": found}
    parser = _parser(breaks)
    tokens = parser.parse(_without_signs(text), env)
    if any(token.level >= _DEEPEST - 1 for token in tokens):
        return f'<p class="plain-text">{escapeHtml(text + rest)}</p>'
    made = parser.renderer.render(tokens, parser.options, env)
    clean = nh3.clean(
        made,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )
    shown = _PLACE.sub(lambda m: math_html(found[int(m[1])]) if int(m[1]) < len(found) else "", clean)
    shown = shown.replace('<th scope="col"></th>', "<td></td>")  # a column without a name has no header
    return shown + (f'<p class="plain-text">{escapeHtml(rest)}</p>' if rest else "")


def _without_signs(text: str) -> str:
    return text.translate({ord(sign): None for sign in SIGNS})


@cache
def _parser(breaks: bool) -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "breaks": breaks, "maxNesting": _DEEPEST}, renderer_cls=_Renderer)
    made.enable(["table", "strikethrough"])
    made.use(formulas)
    made.core.ruler.push("headings", _flatten_headings)
    return made


def _flatten_headings(state: Any) -> None:
    """A message's headings stand below the page's own, whatever they began with, and skip no level."""
    headings = [token for token in state.tokens if token.type in ("heading_open", "heading_close")]
    levels = sorted({token.tag for token in headings})
    for token in headings:
        token.tag = f"h{min(2 + levels.index(token.tag), 6)}"


class _Renderer(RendererHTML):
    """As CommonMark, but with code in boxes, tables that scroll, and images as links."""

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """A box of code."""
        return code_html(tokens[idx].content, tokens[idx].info.strip().split(" ")[0])

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """The same of code that is indented."""
        return code_html(tokens[idx].content, "")

    def code_inline(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """Code in a line, which may break at its dots."""
        words = _BREAKS.split(tokens[idx].content)
        return f"<code>{'<wbr>'.join(map(escapeHtml, words))}</code>"

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """A link in place of an image."""
        source = str(tokens[idx].attrGet("src") or "")
        named = escapeHtml(self.renderInlineAsText(tokens[idx].children, options, env).strip() or "image")
        if _LINK.match(source):
            return f'<a class="image" href="{escapeHtml(source)}">{named}</a>'
        return f'<span class="image">{named}</span>'

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """A link to elsewhere; a link that leads nowhere from here is text."""
        href = str(tokens[idx].attrGet("href") or "")
        return f'<a href="{escapeHtml(href)}">' if _LINK.match(href) else "<span>"

    def link_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """The end of it."""
        depth = 0
        for token in reversed(tokens[:idx]):
            depth += token.type == "link_close"
            if token.type == "link_open":
                if not depth:
                    return "</a>" if _LINK.match(str(token.attrGet("href") or "")) else "</span>"
                depth -= 1
        return ""

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """A table that scrolls in a box of its own."""
        return '<div class="tablebox" tabindex="0" role="group" aria-label="Table"><table>'

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """The end of it."""
        return "</table></div>"

    def th_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """A column's name."""
        return '<th scope="col">'

    def td_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """A cell; how it was aligned is not kept, since that would need a style."""
        return "<td>"


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
