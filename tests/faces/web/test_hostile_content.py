"""What was said, named or called to do harm is shown, and does nothing: in a real browser, on every page."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

import recollect
from tests.faces.web.conftest import Running, serving, watched_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from recollect.memory import Memory

pytestmark = pytest.mark.browser

EVIL = "http://evil.example"
PAYLOADS = (
    "<script>alert(1)</script>",
    "</title><script>alert(2)</script>",
    "</textarea></style></script><script>alert(3)</script>",
    "<img src=x onerror=alert(4)>",
    f"<img src={EVIL}/leak.png>",
    f"![a picture]({EVIL}/leak.png)",
    f"![a picture][one]\n\n[one]: {EVIL}/leak2.png",
    "<svg onload=alert(5)><circle r=1></svg>",
    "<svg><script>alert(6)</script></svg>",
    "<svg><use href='data:image/svg+xml,<svg id=x onload=alert(7)>#x'/></svg>",
    "[click](javascript:alert(8))",
    "[click](JaVaScRiPt&colon;alert(9))",
    "[click](\x01javascript:alert(10))",
    "[click](data:text/html,<script>alert(11)</script>)",
    "[click](vbscript:msgbox(12))",
    "<a href='javascript:alert(13)' autofocus onfocus=alert(14)>x</a>",
    "<iframe srcdoc='<script>parent.alert(15)</script>'></iframe>",
    f"<iframe src={EVIL}></iframe>",
    f"<object data={EVIL}/x.swf></object><embed src={EVIL}/y.swf>",
    f"<link rel=stylesheet href={EVIL}/x.css><style>@import '{EVIL}/y.css'; body{{background:url({EVIL}/z)}}</style>",
    f"<p style=\"background:url('{EVIL}/style.png')\">styled</p>",
    f"<base href={EVIL}/>",
    f"<meta http-equiv=refresh content='0;url={EVIL}'>",
    f"<form action={EVIL}><input name=main id=main autofocus onfocus=alert(16)><button>Go</button></form>",
    "<details open ontoggle=alert(17)>x</details>",
    "<video><source onerror=alert(18)></video><audio src=x onerror=alert(19)>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(20)></style></mglyph></table></mtext></math>",
    "<math href='javascript:alert(21)'>x</math>",
    r"$\href{javascript:alert(22)}{x}$ and $$\text{<img src=x onerror=alert(23)>}$$",
    r"\(\unicode{<script>alert(24)</script>}\)",
    "```html onload=alert(25)\n<script>alert(26)</script>\n```",
    '```"><script>alert(27)</script>\nx\n```',
    "`<img src=x onerror=alert(28)>`",
    f"<div hx-get='{EVIL}' hx-trigger='load' hx-on:load='alert(29)'>x</div>",
    f"<div data-hx-get='{EVIL}' data-hx-trigger='load'>x</div>",
    '" onmouseover=alert(30) x="',
    "' autofocus onfocus=alert(31) x='",
    "{{7*7}}{% raw %}${7*7}#{7*7}<%= 7*7 %>",
    "<noscript><p title='</noscript><img src=x onerror=alert(32)>'></noscript>",
    "<!--><img src=x onerror=alert(33)>-->",
    "<template><script>alert(34)</script></template><portal src=x>",
    f"https://evil.example/{'a' * 50} <{EVIL}/auto>",
    "\u202egnp.exe\u202c \u2066hidden\u2069 \x00 \x1b[31m \ufeff",
)


def hostile(memory: Memory, folder: Path) -> dict[str, str]:
    """Fills a memory with payloads wherever words come from outside; the ids that pages are about."""
    talks = []
    for number, payload in enumerate(PAYLOADS):
        title = f"pwned {payload}"
        stored = memory.store_messages(
            [
                {"content": f"Tell me of the pwned cellar {number}: {payload}", "role": "user", "speaker": payload},
                {"content": f"The pwned cellar {number} is dry.\n\n{payload}\n", "role": "assistant", "model": payload},
            ],
            title=title,
        )
        memory.store_tool_call(
            f"tool{number}{payload}"[:60], {"query": payload, payload: "pwned"}, f"pwned result {payload}", stored[1].id
        )
        talks.append(stored[1])
    texts = folder / "<img src=x onerror=alert(40)>"
    texts.mkdir()
    for number, payload in enumerate(PAYLOADS[:8]):
        (texts / f"pwned{number} ' onerror=alert(41).md").write_text(f"# {payload}\n\npwned cellar\n\n{payload}\n")
    memory.import_documents(texts)
    for payload in PAYLOADS[:20]:
        memory.store_fact(f"The pwned {payload} is dry.", concept=payload[:40], entity=payload, value=payload)
    memory.store_message("I work at Kartona <img src=x onerror=alert(42)> with Ana <b onclick=alert(43)>.", "user")
    memory.upkeep.consolidate()
    memory.integration.record_request("mcp", memory.prepare_context("the pwned cellar").parts, text=PAYLOADS[0])
    memory.delete(talks[-1].conversation_id)
    documents = list(memory.documents())
    return {
        "conversation": talks[4].conversation_id,
        "message": talks[4].id,
        "last": talks[7].conversation_id,
        "document": documents[0].id,
        "entity": memory.entities()[0].name if memory.entities() else "x",
        "topic": memory.topics()[0].id if memory.topics() else "x",
    }


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, dict[str, str]]]:
    folder = tmp_path_factory.mktemp("hostile")
    memory = recollect.open(folder / "memory.db", durable=False, background=False)
    ids = hostile(memory, folder)
    with serving(memory, folder / "home") as running:
        yield running, ids


PLACES = (
    "/",
    "/search?q=pwned",
    "/search?q=pwned+cellar&mode=instant&sort=newest",
    "/c/{conversation}",
    "/c/{conversation}?at={message}&q=pwned+cellar",
    "/c/{last}?q=pwned",
    "/ask?q=is+the+pwned+cellar+dry",
    "/research",
    "/facts",
    "/timeline",
    "/topics",
    "/topics?topic={topic}",
    "/graph?from={entity}",
    "/entities",
    "/entity?name={entity}",
    "/story/{conversation}",
    "/document/{document}",
    "/status",
    "/import",
    "/deleted",
    "/given",
    "/forget?what={conversation}",
)


@pytest.mark.parametrize("place", PLACES)
def test_what_is_stored_does_nothing(browser: Browser, attacked: tuple[Running, dict[str, str]], place: str) -> None:
    running, ids = attacked
    address = place.format(**{name: quote(value, safe="") for name, value in ids.items()})
    visit(browser, running.url, address, statuses=(200,))


REFLECTED = (
    "/search?q={}",
    "/search?q=pwned&source={}",
    "/search?q=pwned&since={}",
    "/c/{}",
    "/c/x?at={}&q={}",
    "/ask?q={}",
    "/research?q={}",
    "/facts?about={}",
    "/timeline?in={}",
    "/graph?from={}",
    "/entity?name={}",
    "/topics?topic={}",
    "/story/{}",
    "/forget?what={}",
    "/status?namespace={}",
    "/{}",
)


@pytest.mark.parametrize("place", REFLECTED)
def test_what_an_address_says_does_nothing(
    browser: Browser, attacked: tuple[Running, dict[str, str]], place: str
) -> None:
    running, _ = attacked
    for payload in (PAYLOADS[0], PAYLOADS[1], PAYLOADS[3], '"><img src=x onerror=alert(50)>', "javascript:alert(51)"):
        visit(browser, running.url, place.format(*[quote(payload, safe="")] * 2))


def visit(browser: Browser, url: str, address: str, statuses: Collection[int] = range(200, 500)) -> None:
    """Opens a page, looks at all of it, moves over it; what it does is watched."""
    with watched_page(browser, url) as (page, _):
        answer = page.goto(address)
        assert answer is not None
        assert answer.status in statuses, address
        page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true })")
        page.wait_for_timeout(150)
        page.keyboard.press("Tab")
        wrong = page.evaluate(
            """() => [...document.querySelectorAll('*')].flatMap(e => [...e.attributes]
                .filter(a => /^on/i.test(a.name) || /^(data-)?hx-on/i.test(a.name)
                    || /^(href|src|action|formaction|xlink:href)$/i.test(a.name)
                        && /^\\s*(javascript|vbscript|data:text)/i.test(a.value)
                    || /^(data-)?hx-(get|post|put|delete|patch)$/i.test(a.name) && /evil/.test(a.value))
                .map(a => `${e.tagName} ${a.name}=${a.value}`))"""
        )
        assert wrong == [], address
        elements = "main script, main iframe, main object, main embed, main base, main link, main meta, main style"
        assert page.locator(elements).count() == 0, address
        assert page.locator("main form[action*='evil']").count() == 0
        assert page.url.startswith(url), address
