"""The search page in a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.faces.web.conftest import axe

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def test_what_is_typed_is_searched(page: Page, shot: Callable[..., object]) -> None:
    page.goto("/search")
    page.keyboard.press("/")
    page.keyboard.type("stripe webhook")
    page.wait_for_selector(".hit h2")
    assert "Stripe webhook signature fails" in page.inner_text(".hits")
    shot(page, "search-thin")
    print(axe(page))
