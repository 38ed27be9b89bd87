"""The browser in which people play at pages of the web table: one for all pages of a process."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from playwright.async_api import Browser

CHROMIUM = ("chromium", "google-chrome")
FLAGS = (
    # Chromium's sandbox does not work in many containers; it opens our own page only.
    "--no-sandbox",
    "--disable-dev-shm-usage",
)
NETWORK_CHANGED = "net::ERR_NETWORK_CHANGED"
"""A change of the machine's networks, as other programs make, ends the requests of every page."""


class Size(TypedDict):
    """The size of a page in CSS pixels."""

    width: int
    height: int


PHONE_SIZE = Size(width=360, height=740)


class BrowserMissing(Exception):
    """No browser can be started; the text is one line for people."""


@asynccontextmanager
async def started_browser() -> AsyncIterator["Browser"]:
    """Start a headless browser; raises BrowserMissing, which says what to install."""
    try:
        from playwright.async_api import async_playwright
    except ModuleNotFoundError:
        raise BrowserMissing("pages need Playwright: pip install 'croupier[pages]' brings it") from None
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if chromium is None:
        raise BrowserMissing("pages need Chromium: install Debian's package `chromium` (apt-get install chromium)")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


def is_complaint(kind: str, text: str) -> bool:
    """Return whether a message of the console, of this kind, is a fault of the page."""
    return kind in ("error", "warning") and NETWORK_CHANGED not in text
