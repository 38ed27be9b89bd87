"""Proposals in the browser: a person proposes, and votes on what another player proposes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, expect

from croupier_api.v1.games_pb2 import ProposalDescription
from croupier_client import BlockingClient
from tests.web.browsers import ANSWER_MILLISECONDS, quiet_page
from tests.web.conftest import WebDeployment
from tests.web.native_players import host, open_invitation

pytestmark = [pytest.mark.browser, pytest.mark.gateway, pytest.mark.slow]


@contextmanager
def solo_with_a_person(deployment: WebDeployment, browser: Browser) -> Iterator[tuple[Page, BlockingClient, str]]:
    """Begin a game of Solo of a native player, the page and two bots; yields its id too."""
    with host(deployment) as client, quiet_page(browser, deployment.address) as page:
        yield page, client, open_invitation(page, client, game="solo", seat_count=4, bots=["", ""])


def proposals_of_solo(client: BlockingClient) -> Sequence[ProposalDescription]:
    return next(game for game in client.list_games().games if game.game == "solo").proposals


@pytest.mark.parametrize(("button", "outcome"), [("Agree", "all agreed"), ("Decline", "Guest declined")])
def test_a_person_votes_on_a_proposal(deployment: WebDeployment, browser: Browser, button: str, outcome: str) -> None:
    with solo_with_a_person(deployment, browser) as (page, client, table_id):
        proposal, *_ = proposals_of_solo(client)
        client.create_proposal(table_id=table_id, request_id="propose", proposal=proposal.name)
        expect(page.locator(".proposal")).to_contain_text("Native proposes")
        page.locator(".proposal").get_by_role("button", name=button).click()
        expect(page.locator(".proposal")).to_contain_text(outcome)
        expect(page.locator(".proposal")).to_be_hidden()


def test_a_person_proposes_after_reading_the_meaning(deployment: WebDeployment, browser: Browser) -> None:
    with solo_with_a_person(deployment, browser) as (page, client, table_id), client.play_table(table_id) as table:
        proposal, *_ = proposals_of_solo(client)
        page.get_by_role("button", name="Menu").click()
        page.get_by_role("button", name="Propose").first.click()
        expect(page.get_by_role("dialog")).to_contain_text(proposal.meaning)
        assert table.proposal is None
        page.get_by_role("dialog").get_by_role("button", name="Propose").click()
        while table.proposal is None:
            table.wait_for_change(timeout_seconds=ANSWER_MILLISECONDS / 1000)
        assert table.proposal.name == proposal.name
