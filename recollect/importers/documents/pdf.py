"""PDF, by PDFium: the text of each page. Each file is read in a process of its own, with a bound on memory and time.

A megabyte of PDF can unfold to gigabytes, and a damaged one can crash what reads it: then that file is reported, and
the import goes on.
"""

from __future__ import annotations

import json
import subprocess
import sys
from io import BufferedReader, BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO

from recollect.errors import ImportProblem
from recollect.importers.documents.plain import Contents, missing_library
from recollect.record.tree import outline
from recollect.text.clean import clean_text

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

_MOST_CHARACTERS = 16_000_000
_MOST_MEMORY = 1 << 30  # of address space
_MOST_SECONDS = 120
_BETWEEN_PAGES = "\n\n"
_ERROR_PASSWORD = 4  # of PDFium: FPDF_ERR_PASSWORD
_STANDARD_INPUT = "-"


class Pdf:
    """The text of a PDF, page by page."""

    name = "pdf 1"
    endings = (".pdf",)
    largest = 512 << 20

    def read(self, stream: BinaryIO) -> Contents:
        """The text with where its pages begin. Raises ImportProblem, also where no page holds any text."""
        on_disk = isinstance(stream, BufferedReader) and isinstance(stream.name, str | bytes)
        place = str(stream.name) if on_disk else _STANDARD_INPUT
        command = [sys.executable, "-P", "-m", __name__, place]  # -P: no module of the working directory
        given = b"" if on_disk else stream.read()
        try:
            ran = subprocess.run(command, input=given, capture_output=True, timeout=_MOST_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise ImportProblem(f"it takes longer than {_MOST_SECONDS} seconds to read") from None
        if ran.returncode:
            raise ImportProblem("it is damaged, or takes too much memory to read")
        told: dict[str, Any] = json.loads(ran.stdout)
        if "problem" in told:
            raise ImportProblem(told["problem"])
        return Contents(told["text"], outline(pages=told["pages"]), told["missing"])


def main(place: str) -> None:
    """Reads a file, or standard input, and writes what is in it as JSON: the other end of `Pdf.read`."""
    _bound_memory()
    source = BytesIO(sys.stdin.buffer.read()) if place == _STANDARD_INPUT else place
    try:
        told = _read(source)
    except ImportProblem as problem:
        told = {"problem": problem.message}
    sys.stdout.write(json.dumps(told))


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))


def _read(source: str | BytesIO) -> dict[str, Any]:
    try:
        import pypdfium2
    except ImportError as error:
        raise missing_library("PDF", error) from None
    try:
        document = pypdfium2.PdfDocument(source)
    except pypdfium2.PdfiumError as error:
        raise ImportProblem(_why_not(error)) from None
    return _pages(document, pypdfium2.PdfiumError)


def _why_not(error: Exception) -> str:
    if getattr(error, "err_code", None) == _ERROR_PASSWORD or "password" in str(error).lower():
        return "it is encrypted: save a copy of it without its password"
    return "it is not a PDF, or a damaged one"


def _pages(document: PdfDocument, pdfium_error: type[Exception]) -> dict[str, Any]:
    parts: list[str] = []
    pages: list[int] = []
    length, damaged, count, missing = 0, 0, len(document), ""
    for number in range(count):
        pages.append(length)
        try:
            text = _page_text(document[number])
        except pdfium_error:
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
    return {"text": whole, "pages": pages, "missing": missing}


def _page_text(page: PdfPage) -> str:
    textpage = page.get_textpage()
    try:
        text = str(textpage.get_text_bounded())
    finally:
        textpage.close()
        page.close()
    # U+FFFE and U+0002 stand for a hyphen at which a word was cut.
    text = text.replace("\r\n", "\n").replace("\ufffe\n", "").replace("\x02\n", "")
    return clean_text(text.replace("\ufffe", "").replace("\x02", "").strip())


if __name__ == "__main__":
    main(sys.argv[1])
