"""The conversation page in a browser: it opens at what was sought, and shows all that a talk can hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

import recollect
from tests.faces.web.conftest import NARROW, WIDE, Running, axe, serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from recollect.memory import Memory

pytestmark = pytest.mark.browser

ANSWER = r"""The area is $\pi r^2$, and over the whole range:

$$
\int_0^1 f(x)\,dx = \frac{1}{2}
$$

### In code

```python
def area(r: float) -> float:
    return 3.14159 * r**2  # lighthouse
```

| radius | area |
|---|---|
| 1 | 3.14 |
| `shape.circle.radius_in_metres` | 12.57 |

> Measure twice.

1. Take the radius.
2. Square it: ![a drawing](http://elsewhere.example/circle.png)
"""
LONG = 700


def rich(memory: Memory) -> dict[str, str]:
    """A talk with a branch, tools, thought, code and mathematics; and one of many messages."""
    ids: dict[str, str] = {}
    first = memory.store_message(
        "How large is the lamp room of the lighthouse?", conversation_id="rich", title="A lamp"
    )
    memory.store_message("As large as a cupboard.", "assistant", conversation_id="rich")
    thought = memory.store_message("They want a formula.", "assistant", kind="reasoning", parent_id=first.id)
    second = memory.store_message(ANSWER, "assistant", conversation_id="rich", parent_id=thought.id)
    memory.store_tool_call("web_search", {"query": "lamp room"}, "Three results about lighthouses.", second.id)
    last = memory.store_message("Thanks.\nAnd the stairs?", conversation_id="rich")
    ids |= {"first": first.id, "second": second.id, "last": last.id}
    said = [
        {
            "content": f"Message {n} {'of the walrus' if n % 100 == 7 else 'about nothing'}",
            "role": ("user", "assistant")[n % 2],
        }
        for n in range(LONG)
    ]
    memory.store_messages(said, conversation_id="long", title="A long one")
    return ids


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, dict[str, str]]]:
    folder = tmp_path_factory.mktemp("talks")
    memory = recollect.open(folder / "memory.db", durable=False, background=False)
    ids = rich(memory)
    with serving(memory, folder / "home") as running:
        yield running, ids


def opened_at(page: Page, query: str, title: str) -> None:
    """Opens a conversation at its best match, from the results."""
    page.goto(f"/search?q={query}")
    page.click(f".hit:has(h2:has-text('{title}')) h2 a")
    page.wait_for_selector(".msg.now")


def test_it_opens_at_the_match_which_is_marked_and_focused(page: Page) -> None:
    opened_at(page, "stripe webhook", "Full Stack App Planning")
    assert page.evaluate("document.activeElement.matches('.msg.now')")
    top = page.evaluate("document.querySelector('.msg.now').getBoundingClientRect().top")
    assert 48 < top < 500
    assert {m.lower() for m in page.locator(".msg.now mark").all_inner_texts()} <= {"stripe", "webhook"}
    assert page.locator(".msg.now mark").count() >= 1


def test_the_next_and_the_previous_match_are_a_key_away(page: Page) -> None:
    opened_at(page, "stripe webhook", "Full Stack App Planning")
    number, total = map(int, re.findall(r"\d+", page.inner_text("#where-now")))
    page.keyboard.press("n")
    assert page.inner_text("#where-now") == f"{number % total + 1} of {total}"
    address = page.url
    assert page.evaluate("location.hash.slice(1) === document.activeElement.id")
    page.keyboard.press("Shift+N")
    page.keyboard.press("Shift+N")
    assert page.url != address
    page.goto(address)  # each state is an address
    assert page.inner_text("#where-now b") == str(number % total + 1)


def test_a_quotation_is_marked_wherever_tags_cross_it(
    open_page: Callable[..., Page], talks: tuple[Running, dict[str, str]]
) -> None:
    running, ids = talks
    page = open_page(running.url)
    start = ANSWER.index("Measure")
    page.goto(f"/c/rich?at={ids['second']}&span={start}-{start + len('Measure twice.')}#m-{ids['second']}")
    assert page.inner_text("mark.quote") == "Measure twice"


def test_code_mathematics_tables_tools_and_branches(
    open_page: Callable[..., Page], talks: tuple[Running, dict[str, str]], shot: Callable[..., object]
) -> None:
    running, _ = talks
    page = open_page(running.url)
    page.goto("/c/rich?q=lighthouse")
    assert page.locator("math").count() == 2
    assert page.locator("math[display=block] mfrac").count() == 1
    assert page.inner_text(".codebox figcaption span") == "Python"
    assert "lighthouse" in page.locator(".codebox mark").all_inner_texts()
    assert page.locator("main img").count() == 0
    assert page.get_attribute("a.image", "href") == "http://elsewhere.example/circle.png"
    page.click("summary:has-text('web_search')")
    assert "Three results" in page.inner_text(".quietly")
    assert "They want a formula" in page.text_content(".quietly")
    shot(page, "conversation-rich", full_page=True)
    assert axe(page) == []
    assert page.inner_text(".branch").split() == ["‹", "version", "2", "of", "2", "›"]
    page.keyboard.press("[")
    page.wait_for_selector("text=As large as a cupboard")
    page.keyboard.press("]")
    page.wait_for_selector("math")


def test_a_long_one_is_drawn_around_the_match_and_goes_on(
    open_page: Callable[..., Page], talks: tuple[Running, dict[str, str]]
) -> None:
    running, _ = talks
    page = open_page(running.url)
    page.goto("/c/long?q=walrus")
    assert page.inner_text("#where-now") == "1 of 7 matches"
    assert page.locator(".msg").count() < 200
    page.keyboard.press("Shift+N")  # the last, which is not drawn yet
    page.wait_for_url(re.compile("at="))
    page.wait_for_selector(".msg.now:has-text('Message 607')")
    assert page.inner_text("#where-now b") == "7"
    page.click("text=/earlier messages/")
    page.wait_for_selector(".msg:has-text('Message 500')")
    for _ in range(20):
        page.mouse.wheel(0, 6000)
        page.wait_for_timeout(50)
    page.wait_for_selector(f".msg:has-text('Message {LONG - 1}')", state="attached")
    assert page.locator(".msg").count() == len(set(page.locator(".msg").evaluate_all("them => them.map(m => m.id)")))


def test_a_conversation_that_is_not_there_is_said_so(page: Page) -> None:
    answer = page.goto("/c/nowhere")
    assert answer is not None
    assert answer.status == 404
    assert "No conversation has the ID nowhere" in page.inner_text("main")


def test_it_answers_in_json_and_as_markdown(served: Running) -> None:
    import httpx2

    found = httpx2.get(f"{served.url}/search?q=stripe+webhook", headers={"Accept": "application/json"}).json()
    best = found["results"][0]
    address = f"{served.url}/c/{best['conversation']['id']}"
    talk = httpx2.get(f"{address}?q=stripe", headers={"Accept": "application/json"}).json()
    assert talk["title"] == best["conversation"]["title"]
    assert talk["matches"]
    assert any(message["marks"] for message in talk["messages"])
    written = httpx2.get(f"{served.url}/export/{best['conversation']['id']}.md")
    assert written.text.startswith(f"# {talk['title']}\n")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", ["1280", "390"])
def test_it_is_fit_for_everybody(
    open_page: Callable[..., Page], served: Running, shot: Callable[..., object], width: str, scheme: str
) -> None:
    page = open_page(served.url, viewport=WIDE if width == "1280" else NARROW, color_scheme=scheme)
    opened_at(page, "stripe webhook", "Full Stack App Planning")
    shot(page, f"conversation-{scheme}-{width}")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert axe(page) == []
