"""HTML, by lxml: what a reader of the page sees, as text with its headings.

The page is read as a stream of tags, without a tree; nothing that it names (images, styles, frames, DTDs) is loaded.
"""

from __future__ import annotations

import codecs
import re
from typing import BinaryIO

from recollect.errors import ImportProblem
from recollect.importers.documents.plain import Contents, decoded, marked_encoding, missing_library
from recollect.record.tree import Heading, outline
from recollect.text.clean import clean_text

_CHARSET = re.compile(rb"""<(?:meta|\?xml)\b[^>]{0,400}?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{1,40})""", re.I)
_HEAD = 2048
_PIECE = 1 << 16

_HIDDEN = frozenset({"script", "style", "noscript", "template", "svg", "head", "iframe", "object", "select"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_PARAGRAPHS = frozenset(
    {"p", "pre", "ul", "ol", "dl", "table", "blockquote", "section", "article", "figure"} | _HEADINGS.keys()
)
_LINES = frozenset(
    {"div", "br", "li", "tr", "dt", "dd", "hr", "header", "footer", "nav", "main", "aside", "form", "fieldset"}
    | {"address", "caption"}
)
_CELLS = frozenset({"td", "th"})


class Html:
    """The text of a page."""

    name = "html 1"
    endings = (".html", ".htm", ".xhtml")
    largest = 16 << 20

    def read(self, stream: BinaryIO) -> Contents:
        """The text with its headings. Raises ImportProblem."""
        try:
            from lxml import etree
        except ImportError as error:
            raise missing_library("HTML", error) from None
        text = _decoded(stream.read())
        page = _Page()
        parser = etree.HTMLParser(target=page, encoding="utf-8", no_network=True, huge_tree=True)
        try:
            for start in range(0, len(text), _PIECE):
                parser.feed(text[start : start + _PIECE].encode())
            parser.close()
        except etree.XMLSyntaxError:
            if not page.text():
                raise ImportProblem("it cannot be read as HTML") from None
        return Contents(page.text(), outline(headings=page.headings))


def _decoded(data: bytes) -> str:
    """The text, by the byte-order mark, or the encoding that the page declares, or else as UTF-8."""
    declared = None if marked_encoding(data) else _CHARSET.search(data, 0, _HEAD)
    name = declared[1].decode("ascii") if declared else "utf-8"
    try:
        codec = codecs.lookup(name)
    except LookupError:
        raise ImportProblem(f"its encoding {name} is not known") from None
    if codec.name == "utf-8" or name.lower().startswith("utf-16"):  # no page that says so in ASCII can be of UTF-16
        return decoded(data)
    try:
        return clean_text(data.decode("cp1252" if codec.name in ("iso8859-1", "ascii") else name))  # as browsers do
    except (UnicodeDecodeError, LookupError, TypeError):
        raise ImportProblem(f"it is not {name.upper()}, which it says it is; save it as UTF-8") from None


class _Page:
    """Takes a page in, tag by tag."""

    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self._parts: list[str] = []
        self._length = 0  # of the parts
        self._break = 0  # line ends that are due before the next word
        self._blank = False  # a blank is due before it
        self._hidden: list[str] = []  # elements that are not shown, from the outermost
        self._pre = 0
        self._cell = False  # the row has a cell already
        self._heading: tuple[str, int, int] | None = None  # its tag, where it begins, its first part

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        if self._hidden or tag in _HIDDEN or "hidden" in attributes:
            if tag not in ("br", "img", "hr", "input", "meta", "link"):
                self._hidden.append(tag)
            return
        self._break_before(tag)
        if tag == "pre":
            self._pre += 1
        elif tag == "tr":
            self._cell = False
        elif tag in _CELLS:
            if self._cell:
                self._put(" | ")
            self._cell = True
        elif tag == "li":
            self._put("- ")
        elif tag == "img" and (words := " ".join(attributes.get("alt", "").split())):
            self._put(f"[{words}]")
        if tag in _HEADINGS:
            self._heading = (tag, self._length + self._break, len(self._parts))

    def end(self, tag: str) -> None:
        """An element ends."""
        if self._hidden:
            if tag in self._hidden:
                while self._hidden.pop() != tag:
                    pass
            return
        if self._heading is not None and tag == self._heading[0]:
            _, begins, first = self._heading
            words = " ".join("".join(self._parts[first:]).split())
            if words:
                self.headings.append((begins, _HEADINGS[tag], words[:300]))
            self._heading = None
        if tag == "pre":
            self._pre = max(0, self._pre - 1)
        if tag != "br":
            self._break_before(tag)

    def data(self, text: str) -> None:
        """Some text."""
        if self._hidden:
            return
        if self._pre:
            self._put(text)
            return
        words = text.split()
        self._blank = self._blank or text[:1].isspace()
        if words:
            self._put(" ".join(words))
            self._blank = text[-1:].isspace()

    def comment(self, text: str) -> None:
        """Nothing that is shown."""

    def close(self) -> None:
        """The end of the page."""

    def text(self) -> str:
        """What was taken in."""
        return "".join(self._parts)

    def _break_before(self, tag: str) -> None:
        if self._length:
            self._break = max(self._break, 2 if tag in _PARAGRAPHS else 1 if tag in _LINES else 0)

    def _put(self, text: str) -> None:
        text = clean_text(text)
        before = "\n" * self._break or (" " if self._blank and self._length and not text.startswith(" ") else "")
        self._break, self._blank = 0, False
        for part in (before, text):
            if part:
                self._parts.append(part)
                self._length += len(part)
