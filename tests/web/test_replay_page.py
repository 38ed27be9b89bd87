"""The replay of a finished game in a browser: its steps, the eyes it is seen with, and the proof of its deals."""

import re
from collections.abc import Iterator
from random import Random

import pytest
from playwright.sync_api import Browser, Page, expect

from croupier_client import BlockingClient, choose_random_action, play_game_blocking
from tests.web.browsers import DESKTOP, opened_page, quiet_page
from tests.web.conftest import WebDeployment
from tests.web.native_players import host

pytestmark = [pytest.mark.browser, pytest.mark.gateway, pytest.mark.slow]
SEATS = 3


@pytest.fixture(scope="module")
def client(deployment: WebDeployment) -> Iterator[BlockingClient]:
    with host(deployment) as connected:
        yield connected


@pytest.fixture(scope="module")
def finished(client: BlockingClient) -> str:
    """Return the id of a finished table."""
    table_id = open_table(client)
    with client.play_table(table_id) as table:
        play_game_blocking(table, lambda seen: choose_random_action(seen, Random(seen.sequence)))
    return table_id


def open_table(client: BlockingClient) -> str:
    created = client.create_table(game="thulla", seat_count=SEATS, bots=["random"] * (SEATS - 1))
    client.set_ready(table_id=created.table.table_id)
    return created.table.table_id


def step_of(page: Page) -> int:
    return int(page.get_by_role("slider").input_value())


def test_keys_move_the_replay_and_its_address_restores_the_moment(
    deployment: WebDeployment, browser: Browser, finished: str
) -> None:
    with quiet_page(browser, f"{deployment.address}/#/r/{finished}", DESKTOP) as page:
        page.get_by_role("slider").wait_for()
        page.keyboard.press("PageDown")
        assert step_of(page) > 0
        before = step_of(page)
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        assert step_of(page) == before + 2
        page.wait_for_url(re.compile(rf"step={before + 2}$"))
        page.reload()
        page.get_by_role("slider").wait_for()
        assert step_of(page) == before + 2


def test_the_eyes_of_all_show_every_hand(deployment: WebDeployment, browser: Browser, finished: str) -> None:
    with quiet_page(browser, f"{deployment.address}/#/r/{finished}?step=2") as page:
        page.get_by_role("slider").wait_for()
        assert page.locator(".open-hands, .hand").count() == 0
        page.get_by_label("Seen with the eyes of").select_option("all")
        expect(page.locator(".open-hands li")).to_have_count(SEATS)
        for seat in range(SEATS):
            assert page.locator(f".open-cards[data-place='hand:{seat}'] .card").count() > 1
        page.get_by_label("Seen with the eyes of").select_option("1")
        expect(page.locator(".hand[data-place='hand:1'] .in-hand").first).to_be_visible()
        expect(page.locator(".open-hands")).to_have_count(0)
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_the_page_proves_the_deals(
    deployment: WebDeployment, browser: Browser, client: BlockingClient, finished: str
) -> None:
    with quiet_page(browser, f"{deployment.address}/#/r/{finished}") as page:
        page.get_by_role("button", name="Deal verified").click()
        expect(page.locator(".proof")).to_contain_text(client.get_view(table_id=finished).snapshot.revealed_seed)
        expect(page.locator(".deals li[data-proved=true]").first).to_be_visible()
        expect(page.locator(".deals li[data-proved=false]")).to_have_count(0)


def test_a_game_that_goes_on_has_no_replay_but_a_way_to_its_table(
    deployment: WebDeployment, browser: Browser, client: BlockingClient
) -> None:
    with opened_page(browser, f"{deployment.address}/#/r/{open_table(client)}") as opened:
        opened.page.get_by_text("The game still goes on").wait_for()
        opened.page.get_by_role("button", name="To the table").click()
        opened.page.locator(".table").wait_for()


def test_an_unknown_replay_has_a_sentence_and_a_way_on(deployment: WebDeployment, browser: Browser) -> None:
    with opened_page(browser, f"{deployment.address}/#/r/nonsense") as opened:
        opened.page.get_by_text("There is no such table").wait_for()
        opened.page.get_by_role("button", name="All games").click()
        opened.page.locator(".game").first.wait_for()
