"""A game that the page does not know, to its end."""

import asyncio
import sys
from pathlib import Path
from random import Random

import pytest

from croupier.cli.launcher.gateway import GatewayChoice
from croupier.cli.launcher.supervisor import SupervisorSettings, running_services
from tests.web.browsers import DESKTOP, PHONE, opened_browser, quiet_page
from tests.web.page_players import play_to_the_end

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
        assert play_to_the_end(page, Random(1), by_keys=by_keys) > 0
