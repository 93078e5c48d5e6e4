"""Attacks on the pages: odd values in every field of every address, foreign sites and namespaces, many at once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import httpx2 as httpx
import pytest

import recollect
from recollect.record import NodeId
from tests.faces.web.conftest import Running, serving

pytestmark = pytest.mark.long

SECRET = "zyxwvut"
PAYLOAD = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>"
ODD = (
    *(
        "",
        " ",
        "0",
        "-1",
        "1",
        "99999",
        "9" * 30,
        "9" * 5_000,
        "²",
        "²-³",
        f"0-{'9' * 5_000}",
        "5-1",
        "a-b",
        "1e5",
        "NaN",
    ),
    *("null", "\x00", "a\x00b", "\ud800", "..", "../../etc/passwd", "//evil.example", "javascript:alert(1)", PAYLOAD),
    *("{{7*7}}", "' OR 1=1 --", '"', "*", "(", "NEAR(", "AND", "-", "\u202e", "🚀", "窯", "a" * 8_000, "x y " * 2_000),
    *("in:", "since:", "since:99999-99", "until:9999-12-31", "10000-01-01", "0000-00-00", "2024-02-30", "2024-Q5"),
    *("9999", "0001", "last week", "\r\nX-Evil: 1", "acme/rex", "/", "\\", "%", "C++"),
)
FIELDS = {
    "/search?q=kiln": (
        "q",
        "source",
        "role",
        "kind",
        "since",
        "until",
        "month",
        "in",
        "sort",
        "group",
        "literal",
        "from",
    ),
    "/c/{talk}?at={message}": ("q", "at", "span", "mark", "first", "last", "way"),
    "/c/{talk}?first=99999": ("last", "way", "q"),
    "/c/{talk}?last=0": ("first", "way"),
    "/document/{document}?": ("at", "to"),
    "/entities?": ("q", "kind", "start"),
    "/entity?name=Luna": ("name", "edit", "done"),
    "/facts?": ("about", "tab", "as_of", "start", "edit", "merge", "forgotten"),
    "/forget?": ("what", "source", "since", "until", "everything"),
    "/deleted?": ("done", "restored"),
    "/graph?from=Luna": ("from", "grow", "kind", "depth", "limit"),
    "/graph/between?a=Luna&b=Luna": ("a", "b"),
    "/topics?": ("topic", "in"),
    **{f"/{name}?": ("q",) for name in ("palette", "research")},
    **{f"/{name}?": ("in",) for name in ("timeline", "import", "status")},
    "/scope?": ("namespace",),
    "/?": ("namespace", "token"),
}
PATHS = (
    "c",
    "document",
    "story",
    "research",
    "research/run",
    "forget",
    "import",
    "export",
    "runs",
    "assets/x",
    "assets",
)
POSTS = (
    "/forget",
    "/delete",
    "/restore",
    "/import",
    "/import/found",
    "/sample/remove",
    "/ask",
    "/research",
    "/facts/x/edit",
)
FOREIGN: tuple[dict[str, str], ...] = (
    {},
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    {"Sec-Fetch-Site": "same-site"},
)
OTHERS = ("127.0.0.1.evil.example", "127.1", "0.0.0.0", "2130706433", "localhost.", "127.0.0.1@evil.example")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("pages")
    memory = recollect.open(folder / "memory.db", durable=False, background=False)
    said = (f"My dog Luna {SECRET} weighs 12 kg, says Ana.", f"The kiln of Luna {SECRET} is hot. {PAYLOAD}")
    for text in said:
        memory.store_message(text, conversation_id="C1", title=f"Luna {SECRET} {PAYLOAD}", speaker=PAYLOAD)
    (folder / "kiln.md").write_text(f"# Kiln {SECRET}\n\nThe kiln is hot.\n")
    memory.import_documents(folder / "kiln.md")
    memory.store_fact(f"Luna {SECRET} weighs 12 kg.", entity="Luna", concept=PAYLOAD)
    memory.upkeep.consolidate()
    with serving(memory, folder / "home") as there:
        yield there


@pytest.fixture(scope="module")
def client(running: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=running.url, headers={"Accept": "text/html"}, timeout=120) as opened:
        yield opened


def named(running: Running, address: str) -> str:
    message = running.memory.conversation("C1").messages[0].id
    return address.format(talk="C1", message=message, document=next(iter(running.memory.documents())).id)


def assert_harmless(answer: httpx.Response, asked: str) -> None:
    assert answer.status_code < 500, asked[:200]
    assert "x-evil" not in answer.headers, asked[:200]
    if answer.headers.get("content-type", "").startswith("text/html"):
        assert "<script>alert" not in answer.text, asked[:200]
        assert "<img src=x" not in answer.text, asked[:200]


@pytest.mark.parametrize("address", FIELDS)
def test_no_value_of_a_field_is_a_fault_of_the_server(running: Running, client: httpx.Client, address: str) -> None:
    page = named(running, address)
    for field in FIELDS[address]:
        kept = "&".join(part for part in page.partition("?")[2].split("&") if not part.startswith(f"{field}="))
        for value in ODD:
            asked = f"{page.partition('?')[0]}?{kept}&{field}={quote(value, safe='', errors='surrogatepass')}"
            assert_harmless(client.get(asked), asked)


@pytest.mark.parametrize("path", PATHS)
def test_no_path_is_a_fault_of_the_server(client: httpx.Client, path: str) -> None:
    for value in filter(None, ODD):
        asked = f"/{path}/{quote(value, safe='', errors='surrogatepass')}"
        answer = client.get(asked)
        assert_harmless(answer, asked)
        assert "root:" not in answer.text


def test_another_namespace_shows_nothing(running: Running, client: httpx.Client) -> None:
    ids: list[NodeId] = [one.id for some in (running.memory.facts(), running.memory.topics()) for one in some]
    pages = [*FIELDS, "/story/{talk}?", "/export/{talk}.md?", "/search?q=Luna&in={talk}", "/deleted?restored={talk}"]
    for page in [*pages, *(f"/{field}={own}" for own in ids for field in ("facts?edit", "topics?topic"))]:
        answer = client.get(named(running, page) + "&namespace=acme/other")
        assert answer.status_code < 500, page
        assert SECRET not in answer.text, page


@pytest.mark.parametrize("path", POSTS)
def test_no_form_of_another_site_is_taken(running: Running, client: httpx.Client, path: str) -> None:
    for headers in FOREIGN:
        for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"):
            answer = client.post(path, content=b"what=C1&q=Luna&path=x", headers=headers | {"Content-Type": kind})
            assert answer.status_code == 403, (headers, kind)
    assert len(running.memory.conversation("C1").messages) == 2


@pytest.mark.parametrize("name", OTHERS)
def test_no_other_host_is_answered(client: httpx.Client, name: str) -> None:
    port = client.base_url.port
    assert client.get("/search?q=Luna", headers={"Host": f"{name}:{port}"}).status_code == 421


def test_two_hundred_at_once_are_answered(client: httpx.Client) -> None:
    with ThreadPoolExecutor(50) as threads:
        asked = [f"/search?q={word}" for word in ("kiln", "Luna", "dog", "hot")] * 50
        answers = list(threads.map(lambda path: client.get(path).status_code, asked))
    assert answers == [200] * 200
