"""What stands in a file, and where: text, Markdown, HTML, PDF."""

from __future__ import annotations

import random
import socket
import time
import zlib
from io import BytesIO
from typing import Any

import pytest

from recollect.errors import ImportProblem
from recollect.importers.documents.html import Html
from recollect.importers.documents.markdown import Markdown, headings
from recollect.importers.documents.pdf import Pdf
from recollect.importers.documents.plain import Contents, PlainText
from recollect.record import Document, NodeId
from recollect.record.tree import outline, place_in
from tests.ingest.documents.pdf_files import pdf


def text(data: bytes) -> Contents:
    return PlainText().read(BytesIO(data))


def markdown(words: str) -> Contents:
    return Markdown().read(BytesIO(words.encode()))


def html(page: str | bytes) -> Contents:
    return Html().read(BytesIO(page.encode() if isinstance(page, str) else page))


def place(found: Contents, words: str) -> str:
    document = Document(NodeId("d"), "documents", "a", found.text, metadata=found.outline)
    return str(place_in(document, found.text.index(words)))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_text_is_read_in_the_encodings_that_say_what_they_are(encoding: str) -> None:
    assert text("Grüße,\r\n日本".encode(encoding)).text == "Grüße,\n日本"


def test_text_in_another_encoding_is_refused_with_its_line() -> None:
    with pytest.raises(ImportProblem, match=r"not UTF-8 \(line 2\)"):
        text("one\nGrüße".encode("latin-1"))


def test_bytes_are_no_text() -> None:
    with pytest.raises(ImportProblem, match="binary"):
        text(b"PK\0\1\2")


def test_a_place_in_a_text_is_its_line() -> None:
    assert place(text(b"one\ntwo\nthree"), "three") == "line 3"


MARKDOWN = """---
title: not a heading
---
# Travel `policy`

Words.

## Trains ##

```sh
# a comment
```

Second
class
------

    # code

> # quoted

- item
---

[Planes](http://there.invalid)
==========

#no heading
###### Deep
end"""


def test_headings_are_those_of_markdown() -> None:
    found = [(level, words) for _, level, words in headings(MARKDOWN)]
    assert found == [(1, "Travel policy"), (2, "Trains"), (2, "Second class"), (1, "Planes"), (6, "Deep")]


def test_a_place_in_markdown_is_its_headings() -> None:
    found = markdown(MARKDOWN)
    assert found.text == MARKDOWN
    assert place(found, "a comment") == "Travel policy > Trains"
    assert place(found, "end") == "Planes > Deep"


def test_headings_are_where_a_whole_parser_finds_them() -> None:
    """But for those in lists and quotations, which are left out."""
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark")
    pieces = ("# a", "## b #", "word", "more words", "===", "---", "- item", "> said", "```", "~~~", "    code", "", "")
    chance = random.Random(7)
    for _ in range(1000):
        lines = ["", *(chance.choice(pieces) for _ in range(chance.randint(1, 9)))]
        tokens = parser.parse("\n".join(lines))
        told = [
            (opened.map[0], int(opened.tag[1]))
            for opened in tokens
            if opened.type == "heading_open" and opened.level == 0
        ]
        found = [("\n".join(lines).count("\n", 0, at), level) for at, level, _ in headings("\n".join(lines))]
        assert found == told, lines


def test_html_is_what_a_reader_sees() -> None:
    found = html(
        "<html><head><title>T</title><style>p {}</style></head><body><h1>Bread &amp; <i>water</i></h1>"
        "<p>Hold  back <b>50&nbsp;g</b>.<script>alert(1)</script><p hidden>unseen</p>"
        "<h2>Oven</h2><table><tr><th>a<th>b<tr><td>1<td>2</table><ul><li>x<li>y</ul><pre> a\n  b</pre>"
        "<img src='http://there.invalid/x.png' alt='a loaf'>"
    )
    assert found.text == ("Bread & water\n\nHold back 50 g.\n\nOven\n\na | b\n1 | 2\n\n- x\n- y\n\n a\n  b\n\n[a loaf]")
    assert place(found, "1 | 2") == "Bread & water > Oven"
    assert place(found, "50") == "Bread & water"


@pytest.mark.parametrize(
    "page",
    [
        "<meta charset=iso-8859-1><p>Grüße".encode("latin-1"),
        '<?xml version="1.0" encoding="windows-1252"?><html><p>Grüße</p></html>'.encode("cp1252"),
        "<meta http-equiv=Content-Type content='text/html; charset=utf-8'><p>Grüße".encode(),
        "<p>Grüße".encode(),
        "<p>Grüße".encode("utf-16"),
        "<meta charset=shift_jis><p>Grüße 日本".replace("ü", "u").replace("ß", "s").encode("shift_jis"),
    ],
)
def test_html_is_read_in_its_own_encoding(page: bytes) -> None:
    assert html(page).text.startswith(("Grüße", "Gruse 日本"))


@pytest.mark.parametrize("page", [b"<meta charset=klingon><p>x", b"<meta charset=utf-8><p>\xff", b"<p>Gr\xfc"])
def test_html_in_a_wrong_encoding_is_refused(page: bytes) -> None:
    with pytest.raises(ImportProblem, match=r"encoding|UTF-8"):
        html(page)


def test_html_loads_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    secret = tmp_path / "secret"
    secret.write_text("swordfish", encoding="utf-8")

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refused)
    found = html(
        f'<!DOCTYPE html [<!ENTITY x SYSTEM "file://{secret}">]><link rel=stylesheet href=http://there.invalid/a.css>'
        f'<iframe src="file://{secret}"></iframe><object data="file://{secret}"></object><p>Said: &x; here</p>'
        '<base href="http://there.invalid/"><img src=b.png><meta http-equiv=refresh content="0;url=http://c.invalid">'
    )
    assert "here" in found.text
    assert "swordfish" not in found.text


@pytest.mark.parametrize("piece", ["<", "<a ", "<!-- ", "</", "<![CDATA[", "<a='", "<div>", "<b><p>", "&#", "<pre>"])
def test_html_made_to_be_slow_is_not(piece: str) -> None:
    began = time.perf_counter()
    html(piece * 50_000 + "<p>the end")
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize("piece", ["#", "# ", "```\n", "-\n", "a\n", "[a](", "![", "> ", "=", "\t", "a\n=\n"])
def test_markdown_made_to_be_slow_is_not(piece: str) -> None:
    began = time.perf_counter()
    markdown(piece * 100_000)
    assert time.perf_counter() - began < 5


def test_a_place_in_a_pdf_is_its_page() -> None:
    found = Pdf().read(BytesIO(pdf(["The first page.", "Revenue grew\nin the north."])))
    assert found.text.split() == ["The", "first", "page.", "Revenue", "grew", "in", "the", "north."]
    assert (place(found, "first"), place(found, "north")) == ("page 1", "page 2")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (pdf(["Secret."], encrypted=True), "encrypted"),
        (pdf([""]), "scanned"),
        (b"%PDF-1.7 nothing", "not a PDF"),
        (pdf(["One.", "Two."])[:200], "not a PDF|scanned|damaged"),
    ],
)
def test_a_pdf_that_cannot_be_read_says_why(data: bytes, why: str) -> None:
    with pytest.raises(ImportProblem, match=why):
        Pdf().read(BytesIO(data))


def packed_blanks(size: int, times: int) -> bytes:
    """A zlib stream of so many times as many blanks, packed once: blocks that end with a full flush can be repeated."""
    blanks, packer = b" " * size, zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    block = packer.compress(blanks) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = 1
    for _ in range(times):
        checksum = zlib.adler32(blanks, checksum)
    return b"\x78\xda" + block * times + b"\x03\x00" + checksum.to_bytes(4, "big")


def test_a_small_stream_unfolds_to_all_its_blanks() -> None:
    assert zlib.decompress(packed_blanks(1000, 3)) == b" " * 3000


def test_a_pdf_that_unfolds_to_gigabytes_takes_none() -> None:
    resource = pytest.importorskip("resource")  # without it there is no limit
    with pytest.raises(ImportProblem, match=r"memory|no text"):
        Pdf().read(BytesIO(pdf(["x"], packed=packed_blanks(1 << 24, 128))))
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    assert used < 1100


def test_an_outline_without_anything_says_nothing() -> None:
    assert str(place_in(Document(NodeId("d"), "s", "t", "text", metadata=outline()), 2)) == ""
