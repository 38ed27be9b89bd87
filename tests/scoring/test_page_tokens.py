"""Page tokens of other listings, and tokens that somebody made up."""

import base64
import json
from typing import Any

import pytest

from croupier.runtime.paging import write_page_token
from croupier_api.v1 import scoring_pb2 as pb
from tests.scoring.house import House, Refusal, computer, person, refusal, result_entry

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


RESULTS = ("results", "", "")
BOARD = ("leaderboard", "solo")


@pytest.mark.parametrize(
    ("query", "cursor"),
    [
        (RESULTS, []),
        (RESULTS, [1]),
        (RESULTS, [1, "t1", 2]),
        (RESULTS, ["t1", 1]),
        (RESULTS, [True, "t1"]),
        (RESULTS, [1.5, "t1"]),
        (RESULTS, [2**63, "t1"]),
        (RESULTS, [1, "\0"]),
        (RESULTS, [1, "\ud800"]),
        (RESULTS, [1, ["t1"]]),
        (BOARD, [1, "anna", 1, 1, 10**400]),
        (BOARD, [1, "anna", 1, 1]),
        (BOARD, [-(2**32), "anna", 1, 1, 1]),
        (BOARD, [2**32, "anna", 1, 1, 1]),
        (BOARD, [1, "anna", -1, 1, 1]),
        (BOARD, [1, "anna", 1, -1, 1]),
    ],
)
async def test_forged_cursors(house: House, query: tuple[str, ...], cursor: list[Any]) -> None:
    token = write_page_token(query, cursor)
    if query is BOARD:
        call = house.ask("GetLeaderboard", pb.GetLeaderboardRequest(game="solo", page_token=token))
    else:
        call = house.ask("ListResults", pb.ListResultsRequest(page_token=token))
    assert await refusal(call) == REFUSED


@pytest.mark.parametrize(
    "content",
    [b"", b"null", b"{}", b"[]", b'["", null]', b'["", {}]', b"\xff", b"[" * 20_000, json.dumps([["a"], [1]]).encode()],
)
async def test_forged_contents(house: House, content: bytes) -> None:
    token = base64.urlsafe_b64encode(content).decode() or "="
    assert await refusal(house.ask("ListResults", pb.ListResultsRequest(page_token=token))) == REFUSED
