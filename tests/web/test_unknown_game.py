"""A game that the page does not know, to its end."""

import asyncio
import sys
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Page

from croupier.cli.launcher.gateway import GatewayChoice
from croupier.cli.launcher.supervisor import SupervisorSettings, running_services
from croupier_loadtest.players.page_turn import TURN
from tests.web.browsers import DESKTOP, LANDSCAPE, PHONE, opened_browser, quiet_page
from tests.web.page_players import act_next, play_to_the_end

# Piles that lie on each other, on their neighbours' names, on the own points or on the others at the table.
OVERLAPS = """() => {
    const piles = [...document.querySelectorAll(".felt .pile")];
    const others = [...document.querySelectorAll(".own-state, .avatar, .seat .score, .seat .marks, .in-trick")];
    const isOver = (one, other) => {
        const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
        return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    };
    return piles.flatMap((pile, index) => [...piles.slice(index + 1), ...others]
        .filter((other) => isOver(pile, other))
        .map((other) => `${pile.innerText} / ${other.innerText}`));
}"""
TAPS_BEFORE_A_LOOK = 6
pytestmark = [pytest.mark.browser, pytest.mark.gateway, pytest.mark.slow]


@pytest.mark.parametrize("means", ["taps", "keys"])
async def test_the_page_draws_a_game_that_it_does_not_know(tmp_path: Path, means: str) -> None:
    """The toy of the rules' tests: its own deck, piles with owners, teams, an auction with a range of amounts."""
    settings = SupervisorSettings(
        command=(sys.executable, "-m", "tests.web.toy_service"), grace_seconds=0, gateway=GatewayChoice().flags
    )
    async with running_services(tmp_path / "services", settings=settings) as services:
        await asyncio.to_thread(play_toy, f"http://{services.addresses['gateway']['listen']}", by_keys=means == "keys")


def play_toy(address: str, *, by_keys: bool) -> None:
    with (
        opened_browser() as browser,
        quiet_page(browser, address, DESKTOP if by_keys else PHONE, reduced_motion="reduce") as page,
    ):
        page.locator(".game").filter(has_text="Toy").get_by_role("button", name="Play", exact=True).click()
        page.locator(".hand").wait_for()
        random = Random(1)
        expect_apart(page, random)
        assert play_to_the_end(page, random, by_keys=by_keys) > 0


def expect_apart(page: Page, random: Random) -> None:
    """Play a little, and look at piles and marks of seats on a phone, held upright and on its side, and a desktop."""
    own = page.viewport_size
    assert own is not None
    taps = 0
    while taps < TAPS_BEFORE_A_LOOK:
        taps += act_next(page, page.evaluate(TURN), random, by_keys=own == DESKTOP)
    assert page.locator(".felt .pile").count() > 2
    for viewport in (PHONE, LANDSCAPE, DESKTOP):
        page.set_viewport_size(viewport)
        assert page.evaluate(OVERLAPS) == [], viewport
    page.set_viewport_size(own)
