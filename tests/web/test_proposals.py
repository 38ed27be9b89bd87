"""Proposals in the browser: another player proposes, and the person votes."""

import secrets

import pytest
from playwright.sync_api import expect

from croupier_client import BlockingClient, Endpoints, Tls
from tests.web.browsers import ANSWER_MILLISECONDS, opened_browser, quiet_page
from tests.web.conftest import WebDeployment

pytestmark = [pytest.mark.browser, pytest.mark.gateway, pytest.mark.slow]


@pytest.mark.parametrize("button", ["Agree", "Decline"])
def test_a_person_votes_on_a_proposal(deployment: WebDeployment, button: str) -> None:
    endpoints = Endpoints.single(f"localhost:{deployment.port}", Tls(deployment.authority.read_bytes()))
    with (
        opened_browser() as browser,
        BlockingClient(endpoints, secrets.token_urlsafe(), "Native") as client,
        quiet_page(browser, deployment.address) as page,
    ):
        proposal, *_ = next(game for game in client.list_games().games if game.game == "solo").proposals
        created = client.create_table(game="solo", seat_count=4, bots=["", ""]).table
        page.evaluate(f"location.hash = '#/j/{created.invite_code}'")
        page.get_by_role("button", name="Take a seat").click()
        page.get_by_role("button", name="I am ready").click()
        client.set_ready(table_id=created.table_id)
        page.locator(".hand").wait_for()
        client.create_proposal(table_id=created.table_id, request_id="propose", proposal=proposal.name)
        expect(page.locator(".proposal")).to_contain_text("Native proposes", timeout=ANSWER_MILLISECONDS)
        page.locator(".proposal").get_by_role("button", name=button).click()
        expect(page.locator(".proposal")).to_have_count(0, timeout=ANSWER_MILLISECONDS)
