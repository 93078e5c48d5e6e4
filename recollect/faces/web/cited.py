"""The text of an answer or report: Markdown as HTML, in which [1] is a link to the message that proves it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from markupsafe import Markup, escape

from recollect.faces.web.text.markdown import html
from recollect.text.markdown import code_blocks

_OPEN, _CLOSE = "\ue020", "\ue021"  # where numbers stand, while the text is drawn
_NO_SIGNS = {ord(_OPEN): None, ord(_CLOSE): None}
_CITE = re.compile(r"(?<!\]\()\[(\d{1,3})\](?!\()")
_CODE = re.compile(r"(<pre\b.*?</pre>|<code\b.*?</code>)", re.DOTALL)
_PLACED = re.compile(f"{_OPEN}(\\d+){_CLOSE}")

_TICKS = re.compile(r"(?<!`)(`+)(?!`)(?:[^\n]*?(?<!`)\1(?!`))?")
_AFTER_LIST = re.compile(r"(^- .*\n)(?=[^\s\-`>|])", re.MULTILINE)
_BY = re.compile(r"^(- )?([^\n:]{1,60}?(?:, \d{1,2} [A-Z][a-z]+ \d{4})?(?:, “[^”\n]{1,100}”)?): (?=\S)", re.MULTILINE)


def answer(text: str, links: Mapping[int, str] | None = None) -> Markup:
    r"""The HTML of an answer. `links` are the addresses of what its numbers stand for; as long as they are not known,
    each number leads to its place among the sources.

    >>> str(answer("Postgres. [1]", {1: "/c/7Q2K"}))
    '<p>Postgres. <a class="cite" href="/c/7Q2K" data-source="1" aria-label="Source 1">1</a></p>\n'
    """

    def cite(found: re.Match[str]) -> str:
        number = int(found[1])
        if links is not None and number not in links:
            return f"[{number}]"
        href = escape(f"#s{number}" if links is None else links[number])
        return f'<a class="cite" href="{href}" data-source="{number}" aria-label="Source {number}">{number}</a>'

    drawn = html(_CITE.sub(rf"{_OPEN}\1{_CLOSE}", text.translate(_NO_SIGNS)), breaks=True)
    parts = _CODE.split(drawn)
    parts[::2] = [_PLACED.sub(cite, part) for part in parts[::2]]
    parts[1::2] = [_PLACED.sub(r"[\1]", part) for part in parts[1::2]]
    return Markup("".join(parts))


def extract(text: str, links: Mapping[int, str]) -> Markup:
    """The same of an answer in the words of the conversations: lists end where their lines do, who speaks is set
    apart, and a backtick that a quotation was cut at reaches no further than its line.
    """
    parts, at = list[str](), 0
    for block in code_blocks(text):
        parts += [_TICKS.sub(_within_line, text[at : block.start]), text[block.start : block.end]]
        at = block.end
    parts.append(_TICKS.sub(_within_line, text[at:]))
    return answer(_BY.sub(_spoken, _AFTER_LIST.sub(r"\1\n", "".join(parts))), links)


def with_caret(drawn: Markup) -> Markup:
    """An answer that is still being written: a caret stands behind its last word."""
    text = str(drawn).rstrip()
    body, end = (text[:-4], text[-4:]) if text.endswith("</p>") else (text, "")
    return Markup(f'{body}<span class="caret" aria-hidden="true"></span>{end}') if text else drawn


def _within_line(found: re.Match[str]) -> str:
    return found[0] if len(found[0]) > len(found[1]) else "\\`" * len(found[1])


def _spoken(found: re.Match[str]) -> str:
    return f"{found[1] or ''}**{found[2]}** "
