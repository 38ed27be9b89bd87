"""A link for spectators: a player makes it in one browser, and another watches the game by it."""

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browsers import DESKTOP, quiet_page
from tests.web.conftest import WebDeployment

pytestmark = [pytest.mark.browser, pytest.mark.gateway, pytest.mark.slow]


def test_a_spectator_opens_the_link_of_a_player(deployment: WebDeployment, browser: Browser) -> None:
    with quiet_page(browser, deployment.address) as player:
        player.locator(".game").filter(has_text="Thulla").get_by_role("button", name="Play", exact=True).click()
        player.locator(".hand").wait_for()
        player.get_by_role("button", name="Menu").click()
        player.get_by_role("button", name="Let others watch").click()
        link = player.get_by_role("dialog").get_by_role("textbox").input_value()
        player.get_by_role("dialog").get_by_role("button", name="Close").click()
        with quiet_page(browser, link, DESKTOP) as spectator:
            expect(spectator.get_by_text("You are watching")).to_be_visible()
            expect(spectator.locator(".hand")).to_have_count(0)
            expect(spectator.locator(".seat")).to_have_count(player.locator(".seat").count())
            expect(player.get_by_role("img", name="spectators: 1")).to_be_visible()
