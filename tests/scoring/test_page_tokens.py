"""Page tokens of other listings, and tokens that somebody made up."""

from typing import Any

import pytest

from croupier.runtime.paging import write_page_token
from croupier_api.v1 import scoring_pb2 as pb
from tests.contract.house import computer, person
from tests.scoring.house import House, result_entry
from tests.serving import Refusal, refusal

REFUSED = Refusal("INVALID_ARGUMENT", "PAGE_TOKEN", "page_token")


async def test_a_token_fits_its_own_listing_only(house: House) -> None:
    for number, player_id in enumerate(("anna", "ben")):
        await house.enter(result_entry(f"t{number}", seats=(person(player_id), computer())))
    results = (await house.ask("ListResults", pb.ListResultsRequest(page_size=1))).next_page_token
    board = (await house.ask("GetLeaderboard", pb.GetLeaderboardRequest(game="jossing", page_size=1))).next_page_token
    for request in (
        pb.ListResultsRequest(page_token=board),
        pb.ListResultsRequest(page_token=results, game="jossing"),
        pb.ListResultsRequest(page_token=results, player_id="anna"),
    ):
        assert await refusal(house.ask("ListResults", request)) == REFUSED
    for game, token in (("solo", board), ("jossing", results)):
        assert (
            await refusal(house.ask("GetLeaderboard", pb.GetLeaderboardRequest(game=game, page_token=token))) == REFUSED
        )


@pytest.mark.parametrize("cursor", [[1, "anna", 1, 1, 10**400], [1, "anna", 1, 1], [2**32, "anna", 1, 1, 1]])
async def test_a_forged_place_on_a_leaderboard_is_refused(house: House, cursor: list[Any]) -> None:
    """Numbers must be such as the database's columns hold; tests/runtime shows the other forgeries."""
    token = write_page_token(("leaderboard", "solo"), cursor)
    call = house.ask("GetLeaderboard", pb.GetLeaderboardRequest(game="solo", page_token=token))
    assert await refusal(call) == REFUSED
