"""Public tables in the browser: one player makes a table public, and another finds and joins it."""

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browsers import quiet_page
from tests.web.conftest import WebDeployment

pytestmark = [pytest.mark.browser, pytest.mark.gateway, pytest.mark.slow]


def test_a_player_finds_a_public_table_and_joins_it(deployment: WebDeployment, browser: Browser) -> None:
    with (
        quiet_page(browser, f"{deployment.address}/#/new/thulla") as host,
        quiet_page(browser, deployment.address) as guest,
    ):
        host.get_by_label("Everyone may find").check()
        host.get_by_role("button", name="Create the table").click()
        host.locator(".waiting-room").wait_for()
        guest.reload()
        guest.locator("section[aria-labelledby=public-tables] button").first.click()
        guest.get_by_role("button", name="Take a seat").click()
        expect(guest.locator(".waiting-room .seats li[data-own=true]")).to_have_count(1)
        assert guest.url == host.url
