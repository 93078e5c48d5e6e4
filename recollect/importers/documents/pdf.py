"""PDF, by PDFium: the text of each page. Pages are read one at a time, from the file where it lies."""

from __future__ import annotations

import threading
from typing import BinaryIO

from recollect.errors import ImportProblem
from recollect.importers.documents.base import Contents, missing_library
from recollect.record.outline import outline
from recollect.text.clean import clean_text

_MOST_CHARACTERS = 16_000_000
_BETWEEN_PAGES = "\n\n"
_ERROR_PASSWORD = 4  # of PDFium: FPDF_ERR_PASSWORD

#: PDFium must not be used by two threads at once.
_ONE_AT_A_TIME = threading.Lock()


class Pdf:
    """The text of a PDF, page by page."""

    name = "pdf 1"
    endings = (".pdf",)
    largest = 512 << 20

    def read(self, stream: BinaryIO) -> Contents:
        """The text with where its pages begin. Raises ImportProblem, also where no page holds any text."""
        try:
            import pypdfium2
        except ImportError as error:
            raise missing_library("PDF", error) from None
        with _ONE_AT_A_TIME:
            try:
                document = pypdfium2.PdfDocument(stream)
            except pypdfium2.PdfiumError as error:
                raise ImportProblem(_why_not(error)) from None
            try:
                return _read(document)
            except pypdfium2.PdfiumError:
                raise ImportProblem("it is a damaged PDF") from None
            finally:
                document.close()


def _why_not(error: Exception) -> str:
    if getattr(error, "err_code", None) == _ERROR_PASSWORD or "password" in str(error).lower():
        return "it is encrypted: save a copy of it without its password"
    return "it is not a PDF, or a damaged one"


def _read(document: object) -> Contents:
    import pypdfium2

    assert isinstance(document, pypdfium2.PdfDocument)
    parts: list[str] = []
    pages: list[int] = []
    length, damaged, count = 0, 0, len(document)
    missing = ""
    for number in range(count):
        pages.append(length)
        try:
            text = _page_text(document[number])
        except pypdfium2.PdfiumError:
            damaged, text = damaged + 1, ""
        parts.append(text + _BETWEEN_PAGES)
        length += len(parts[-1])
        if length > _MOST_CHARACTERS:
            missing = f"it is very long: its first {number + 1:,} pages of {count:,} are in"
            break
    whole = "".join(parts)
    if not whole.strip():
        raise ImportProblem("there is no text on its pages: were they scanned?" if count else "it has no pages")
    if damaged:
        missing = f"{damaged:,} of its {count:,} pages are damaged"
    return Contents(whole, outline(pages=pages), missing)


def _page_text(page: object) -> str:
    import pypdfium2

    assert isinstance(page, pypdfium2.PdfPage)
    textpage = page.get_textpage()
    try:
        text = str(textpage.get_text_bounded())
    finally:
        textpage.close()
        page.close()
    # U+FFFE and U+0002 stand for a hyphen at which a word was cut.
    text = text.replace("\r\n", "\n").replace("\ufffe\n", "").replace("\x02\n", "")
    return clean_text(text.replace("\ufffe", "").replace("\x02", "").strip())
