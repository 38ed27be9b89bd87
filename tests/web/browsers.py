"""Headless Chromium, driven by Playwright: pages that fail their test with what the browser complains about."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Error, Page, ViewportSize, sync_playwright

from croupier_loadtest.players.browser import CHROMIUM, FLAGS, NETWORK_CHANGED, PHONE_SIZE, is_complaint
from tests.programs import program

PHONE = ViewportSize(**PHONE_SIZE)
LANDSCAPE = ViewportSize(width=740, height=360)
DESKTOP = ViewportSize(width=1280, height=800)
ANSWER_MILLISECONDS = 60_000.0
MAX_LOADS = 3
FAILED_CONNECTION = re.compile(
    r"(Failed to load resource: net::ERR_(CONNECTION_(REFUSED|RESET|CLOSED)|EMPTY_RESPONSE|SOCKET_NOT_CONNECTED)"
    r"|Failed to load resource: the server responded with a status of 503"
    r"|WebSocket connection to '\S+' failed: )"
)
"""What the browser itself writes of a request without an answer."""


@contextmanager
def opened_browser() -> Iterator[Browser]:
    """Start a browser; skips the test if there is none."""
    chromium = program(*CHROMIUM, install="apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(chromium), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@dataclass(slots=True)
class OpenedPage:
    """A page of its own player, and what the browser complained about."""

    page: Page
    complaints: list[str] = field(default_factory=list)

    def listen(self) -> None:
        """Keep errors and warnings of the console, and exceptions that nothing caught."""
        self.page.on("console", lambda message: self._console(message))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _console(self, message: ConsoleMessage) -> None:
        if is_complaint(message.type, message.text):
            self.complaints.append(message.text)


@contextmanager
def opened_page(browser: Browser, url: str, viewport: ViewportSize = PHONE, **context: Any) -> Iterator[OpenedPage]:
    """Open a page as a new visitor, who trusts every certificate; the caller decides on its complaints."""
    settings = {"locale": "en", **context}
    visitor = browser.new_context(viewport=viewport, has_touch=viewport == PHONE, ignore_https_errors=True, **settings)
    visitor.set_default_timeout(ANSWER_MILLISECONDS)
    try:
        opened = OpenedPage(visitor.new_page())
        opened.listen()
        _load(opened.page, url)
        yield opened
    finally:
        visitor.close()


def _load(page: Page, url: str) -> None:
    for attempt in range(1, MAX_LOADS + 1):
        try:
            page.goto(url)
            return
        except Error as error:
            if NETWORK_CHANGED not in error.message or attempt == MAX_LOADS:
                raise


@contextmanager
def quiet_page(browser: Browser, url: str, viewport: ViewportSize = PHONE, **context: Any) -> Iterator[Page]:
    """Open a page as `opened_page` does; raises AssertionError at the end if the browser complained."""
    with opened_page(browser, url, viewport, **context) as opened:
        yield opened.page
        assert opened.complaints == [], opened.complaints


@contextmanager
def disturbed_page(browser: Browser, url: str) -> Iterator[Page]:
    """Open a page that may lose its connections; raises AssertionError if the browser complains about anything else."""
    with opened_page(browser, url, reduced_motion="reduce") as opened:
        opened.page.locator(".game").first.wait_for()
        yield opened.page
        assert [line for line in opened.complaints if not FAILED_CONNECTION.match(line)] == []
