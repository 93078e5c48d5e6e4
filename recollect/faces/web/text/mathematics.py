r"""Mathematics: LaTeX between $…$, $$…$$, \(…\) and \[…\] as MathML, which browsers draw themselves.

What the converter makes is not trusted: it passes text and attributes through as they are. It is read as XML and built
anew of nothing but the elements of MathML; what does not fit is shown as it was written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markupsafe import escape

#: What stands for a formula between the parser and the page; messages that hold these characters lose them.
SIGNS = ("\ue010", "\ue011")

_LONGEST = 2_000  # characters of a formula
_NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
_ELEMENTS = frozenset(
    [
        "math",
        "mrow",
        "mi",
        "mn",
        "mo",
        "ms",
        "mtext",
        "mspace",
        "mfrac",
        "msqrt",
        "mroot",
        "mstyle",
        "merror",
        "mpadded",
        "mphantom",
        "mfenced",
        "menclose",
        "msub",
        "msup",
        "msubsup",
        "munder",
        "mover",
        "munderover",
        "mmultiscripts",
        "mprescripts",
        "none",
        "mtable",
        "mtr",
        "mtd",
        "mlabeledtr",
    ]
)
_ATTRIBUTES = frozenset(
    [
        "display",
        "mathvariant",
        "stretchy",
        "fence",
        "separator",
        "form",
        "lspace",
        "rspace",
        "linethickness",
        "columnalign",
        "rowspacing",
        "columnspacing",
        "columnlines",
        "rowlines",
        "accent",
        "accentunder",
        "movablelimits",
        "largeop",
        "symmetric",
        "minsize",
        "maxsize",
        "width",
        "height",
        "depth",
        "displaystyle",
        "scriptlevel",
        "notation",
    ]
)
_PLAIN_VALUE = re.compile(r"[\w .%#+-]{0,60}\Z")
_SAYS_MATHS = re.compile(r"[\\^_=+*/<>|]|^-?\w$|^\w['′]?\(")
_ENDS = {"$$": "$$", "\\[": "\\]"}


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula as it was written, on a line or by itself."""

    latex: str
    is_block: bool


def formulas(parser: MarkdownIt) -> None:
    """Has a parser know formulas; each leaves a place for itself, and stands in `env["formulas"]`."""
    parser.inline.ruler.before("escape", "formula", _inline)
    parser.block.ruler.before("fence", "formula", _block, {"alt": ["paragraph", "blockquote", "list"]})
    parser.add_render_rule("formula", _place)


def _place(self: Any, tokens: Any, idx: int, options: Any, env: Any) -> str:
    return f"{SIGNS[0]}{tokens[idx].meta['number']}{SIGNS[1]}"


def _inline(state: StateInline, silent: bool) -> bool:
    """A formula in a line."""
    start, source = state.pos, state.src
    opening = next((sign for sign in ("$$", "\\(", "\\[", "$") if source.startswith(sign, start)), None)
    if opening is None:
        return False
    closing = {"\\(": "\\)", "\\[": "\\]"}.get(opening, opening)
    begin = start + len(opening)
    end = source.find(closing, begin, min(state.posMax, begin + _LONGEST))
    latex = source[begin:end] if end > begin else ""
    if not latex.strip() or (opening == "$" and not _is_maths(latex, source, end)):
        return False
    if not silent:
        _push(state, latex, is_block=opening in ("$$", "\\["))
    state.pos = end + len(closing)
    return True


def _is_maths(latex: str, source: str, end: int) -> bool:
    """Whether what stands between two dollar signs is a formula, and no price and no variable of a shell."""
    after = source[end + 1 : end + 2]
    clings = not latex[0].isspace() and not latex[-1].isspace() and not after.isalnum()
    return clings and "\n" not in latex and bool(_SAYS_MATHS.search(latex))


def _block(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """A formula by itself, of one line or several."""
    begin, end = state.bMarks[start_line] + state.tShift[start_line], state.eMarks[start_line]
    opening = state.src[begin : begin + 2]
    if opening not in _ENDS or state.is_code_block(start_line):
        return False
    closing, line = _ENDS[opening], start_line
    first = state.src[begin + 2 : end].rstrip()
    parts = [first]
    if not (first.endswith(closing) and first != closing) and not first.startswith(closing):
        while True:
            line += 1
            if line >= end_line or sum(map(len, parts)) > _LONGEST:
                return False
            text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()
            parts.append(text)
            if text.endswith(closing):
                break
    latex = "\n".join(parts)
    latex = latex[: latex.rindex(closing)].strip()
    if not latex or closing in latex:
        return False
    if silent:
        return True
    state.line = line + 1
    _push(state, latex, is_block=True)
    return True


def _push(state: Any, latex: str, *, is_block: bool) -> None:
    found: list[Formula] = state.env.setdefault("formulas", [])
    token = state.push("formula", "", 0)
    token.meta = {"number": len(found)}
    found.append(Formula(latex.strip(), is_block))


@lru_cache(maxsize=1024)
def math_html(formula: Formula) -> str:
    """A formula as HTML: MathML, or the LaTeX as code where it cannot be read."""
    made = _mathml(formula)
    if made is None:
        return f'<code class="latex">{escape(formula.latex)}</code>'
    if not formula.is_block:
        return made
    return f'<span class="formula" tabindex="0" role="group" aria-label="Formula">{made}</span>'


def _mathml(formula: Formula) -> str | None:
    from latex2mathml.converter import convert

    if len(formula.latex) > _LONGEST:
        return None
    try:
        made = convert(_readable(formula.latex), display="block" if formula.is_block else "inline")
        if "<!" in made or "<?" in made:
            return None
        clean = _rebuilt(ElementTree.fromstring(made))
    except Exception:  # the converter raises whatever it happens on
        return None
    return None if clean is None else ElementTree.tostring(clean, encoding="unicode", short_empty_elements=False)


#: Environments that the converter does not read, and those that look the same.
_SAME_LOOK = {"aligned": "split", "alignedat": "split", "gathered": "matrix"}
_ENVIRONMENT = re.compile(
    r"\\(begin|end)\{(aligned|alignedat|gathered)\}(?:\s*\[[tcb]\])?(?:(?<=alignedat\})\s*\{\d+\})?"
)


def _readable(latex: str) -> str:
    """The formula in the environments that the converter reads."""
    return _ENVIRONMENT.sub(lambda found: f"\\{found[1]}{{{_SAME_LOOK[found[2]]}}}", latex)


def _rebuilt(element: ElementTree.Element) -> ElementTree.Element | None:
    """The same of known elements and harmless attributes alone; None where another element is in it."""
    name = element.tag.removeprefix(_NAMESPACE)
    if name not in _ELEMENTS:
        return None
    kept = {k: v for k, v in element.attrib.items() if k in _ATTRIBUTES and _PLAIN_VALUE.match(v)}
    made = ElementTree.Element(name, kept)
    made.text, made.tail = element.text, element.tail
    for child in element:
        below = _rebuilt(child)
        if below is None:
            return None
        made.append(below)
    return made
