"""The text of an answer or report: Markdown as HTML, in which [1] is a link to the message that proves it."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererProtocol
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_CITE = re.compile(r"\[(\d{1,3})\]")
_TAGS = {
    *("a", "p", "br", "hr", "em", "strong", "del", "code", "pre", "blockquote", "ul", "ol", "li", "h2", "h3", "h4"),
    *("table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "button", "div"),
}
_ATTRIBUTES = {
    "a": {"href", "class", "aria-label", "data-source"},
    "ol": {"start"},
    "figure": {"class"},
    "pre": {"tabindex"},
    "button": {"type", "class", "data-copy"},
    "div": {"class", "tabindex", "role", "aria-label"},
}


def answer(text: str, links: Mapping[int, str] | None = None) -> Markup:
    r"""The HTML of an answer. `links` are the addresses of what its numbers stand for; as long as they are not known,
    each number leads to its place among the sources.

    >>> str(answer("Postgres. [1]", {1: "/c/7Q2K"}))
    '<p>Postgres. <a class="cite" href="/c/7Q2K" data-source="1" aria-label="Source 1" rel="noopener">1</a></p>\n'
    """
    import nh3

    made = _markdown().render(text, {"links": links})
    return Markup(
        nh3.clean(made, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes={"http", "https"}, link_rel="noopener")
    )


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"]).disable("image")
    made.inline.ruler.before("link", "cite", _read)
    made.add_render_rule("cite", _cite)
    made.add_render_rule("fence", _code)
    made.add_render_rule("code_block", _code)
    made.add_render_rule("heading_open", lambda self, tokens, at, options, env: f"<{_level(tokens[at].tag)}>")
    made.add_render_rule("heading_close", lambda self, tokens, at, options, env: f"</{_level(tokens[at].tag)}>\n")
    made.add_render_rule(
        "table_open", lambda *_: '<div class="tablebox" tabindex="0" role="region" aria-label="Table"><table>'
    )
    made.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return made


def _read(state: StateInline, silent: bool) -> bool:
    """The rule: a number in brackets."""
    found = _CITE.match(state.src, state.pos, state.posMax)
    if found is None or state.src[found.end() : found.end() + 1] in ("(", "["):
        return False
    if not silent:
        state.push("cite", "", 0).content = found[1]
    state.pos = found.end()
    return True


def _cite(self: RendererProtocol, tokens: Sequence[Token], at: int, options: Any, env: MutableMapping[str, Any]) -> str:
    number, links = int(tokens[at].content), env["links"]
    if links is not None and number not in links:
        return f"[{number}]"
    href = escape(f"#s{number}" if links is None else links[number])
    return f'<a class="cite" href="{href}" data-source="{number}" aria-label="Source {number}">{number}</a>'


def _code(self: RendererProtocol, tokens: Sequence[Token], at: int, options: Any, env: MutableMapping[str, Any]) -> str:
    token = tokens[at]
    language = escape(token.info.split()[0] if token.info.split() else "")
    copy = '<button type="button" class="plain" data-copy>Copy</button>'
    shown = escape(token.content.rstrip("\n"))
    return (
        f'<figure class="codebox"><figcaption>{language or "text"} {copy}</figcaption>'
        f'<pre tabindex="0"><code>{shown}</code></pre></figure>\n'
    )


def _level(tag: str) -> str:
    """Headings below that of the page."""
    return {"h1": "h2", "h2": "h2", "h3": "h3"}.get(tag, "h4")


def extract(text: str, links: Mapping[int, str]) -> Markup:
    """The same of an answer in the words of the conversations: lists end where their lines do, and who speaks is set
    apart.
    """
    return answer(_BY.sub(_spoken, _AFTER_LIST.sub(r"\1\n", text)), links)


_AFTER_LIST = re.compile(r"(^- .*\n)(?=[^\s\-`>|])", re.MULTILINE)
_BY = re.compile(r"^(- )?([^\n:]{1,60}?(?:, \d{1,2} [A-Z][a-z]+ \d{4})?(?:, “[^”\n]{1,100}”)?): (?=\S)", re.MULTILINE)


def _spoken(found: re.Match[str]) -> str:
    return f"{found[1] or ''}**{found[2]}** "
