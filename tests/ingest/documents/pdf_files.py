"""Small PDF files, written by hand."""

from __future__ import annotations

from collections.abc import Sequence


def pdf(pages: Sequence[str], *, encrypted: bool = False, packed: bytes = b"") -> bytes:
    """A PDF with these pages; `encrypted` asks for a password that nobody has; `packed` is a page as zlib packed it."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for page in pages:
        lines = " ".join(f"({line}) Tj T*" for line in page.split("\n"))
        content = f"BT /F1 12 Tf 72 720 Td 14 TL {lines} ET".encode()
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    if packed:
        objects[3] = b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(packed), packed)
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(kids))
    return _file(objects, _LOCK if encrypted else b"")


_LOCK = b" /ID [<%s> <%s>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >>" % (
    b"00" * 16,
    b"00" * 16,
    b"11" * 32,
    b"22" * 32,
)


def _file(objects: Sequence[bytes], trailer: bytes) -> bytes:
    made, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    made += b"xref\n0 %d\n0000000000 65535 f \n%s" % (count, table) + b"trailer << /Size %d /Root 1 0 R" % count
    return made + trailer + b" >>\nstartxref\n%d\n%%%%EOF\n" % (made.rfind(b"xref\n0 "))
