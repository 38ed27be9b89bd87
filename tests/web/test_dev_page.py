"""The page for developers: several seats of one table, whose lines they cut, and whose actions become a test."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from tests.web.browsers import DESKTOP, opened_page
from tests.web.conftest import WebDeployment

pytestmark = [pytest.mark.browser, pytest.mark.gateway, pytest.mark.slow]
SEATS = 4
ACTIONS = 5
POLL_MILLISECONDS = 100
# The number of the page whose turn it is; 0 if it is nobody's yet.
TO_ACT = """() => 1 + [...document.querySelectorAll("iframe")].findIndex(
    ({contentDocument: page}) => page.querySelector(".actions[data-turn=true]"))"""
# Lifts or plays a card wherever it is the page's turn, and returns whether so many actions were recorded.
PLAY = """(count) => {
    for (const {contentDocument: page} of document.querySelectorAll("iframe")) {
        const playable = ".actions[data-turn=true] ~ * .in-hand[data-playable=true]";
        (page.querySelector(`${playable}[aria-pressed=true]`) ?? page.querySelector(playable))?.click();
    }
    return /\\((\\d+) actions/.exec(document.body.innerText)[1] >= count;
}"""


@pytest.fixture
def panel(deployment: WebDeployment, browser: Browser) -> Iterator[Page]:
    """A panel with a table of four seats; what a cut line makes the browser say is no fault."""
    url = f"{deployment.address}/?dev={SEATS}#/new/thulla"
    with opened_page(browser, url, DESKTOP) as opened:
        for seat in range(1, SEATS + 1):
            expect(page_of(opened.page, seat).locator(".hand .in-hand").first).to_be_visible()
            expect_status(opened.page, seat, "live")
        yield opened.page


def page_of(panel: Page, seat: int) -> FrameLocator:
    return panel.frame_locator(f"iframe[title='The page of seat {seat}']")


def expect_status(panel: Page, seat: int, *statuses: str) -> None:
    connection = page_of(panel, seat).locator(", ".join(f".connection[data-status='{each}']" for each in statuses))
    expect(connection).to_have_count(1)


def hand_count(panel: Page, seat: int, other: int) -> Locator:
    """Return the number of cards of another seat, as a seat's page shows it."""
    return page_of(panel, seat).locator(".seat").filter(has_text=f"Seat {other}").locator(".cards-count")


def switch(panel: Page, seat: int, button: str) -> None:
    panel.get_by_role("region", name=f"Seat {seat}").get_by_role("button", name=button, exact=True).click()


def test_a_page_whose_line_is_cut_catches_up_once_it_is_healed(panel: Page) -> None:
    acting = panel.evaluate(TO_ACT) or panel.wait_for_function(TO_ACT).json_value()
    cut, witness = [seat for seat in range(1, SEATS + 1) if seat != acting][:2]
    switch(panel, cut, "Cut")
    expect_status(panel, cut, "offline", "catching up")
    panel.wait_for_function(PLAY, arg=1, polling=POLL_MILLISECONDS)
    expect(hand_count(panel, witness, acting)).not_to_have_text("13")
    expect(hand_count(panel, cut, acting)).to_have_text("13")
    switch(panel, cut, "Kill")
    # Signing in has failed: the line of the new page is cut, too.
    expect(page_of(panel, cut).get_by_text("the line is cut")).to_be_visible()
    switch(panel, cut, "Heal")
    expect_status(panel, cut, "live")
    expect(hand_count(panel, cut, acting)).to_have_text(hand_count(panel, witness, acting).inner_text())


def test_a_copied_test_plays_the_table_again(panel: Page, deployment: WebDeployment) -> None:
    panel.wait_for_function(PLAY, arg=ACTIONS, polling=POLL_MILLISECONDS)
    panel.get_by_role("button", name="Copy as test").click()
    expect(panel.get_by_text("Copied", exact=True)).to_be_visible()
    copied: dict[str, Any] = {}
    exec(panel.evaluate("document.querySelector('textarea').value"), copied)  # noqa: S102 - the page of this test made it
    assert len(copied["ACTIONS"]) >= ACTIONS
    copied["AUTHORITY"] = deployment.authority
    copied["test_the_recorded_table"]()


def test_the_stream_of_a_seat_has_its_messages_and_no_token(panel: Page) -> None:
    panel.get_by_role("group", name="The stream of seat").get_by_role("button", name="2", exact=True).click()
    messages = panel.locator(".dev-stream li")
    expect(messages.filter(has_text="snapshot")).not_to_have_count(0)
    assert all("accessToken" not in text for text in messages.all_text_contents())
