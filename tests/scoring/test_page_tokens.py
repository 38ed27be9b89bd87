"""Page tokens of other queries and forged tokens are refused."""

import base64
from typing import Any

import pytest

from croupier.runtime.paging import encode_page_token
from croupier_api.v1 import scoring_pb2 as pb
from croupier_internal.v1.scoring_control_pb2 import RecordResultRequest
from tests.scoring.deployment import PUBLIC, ScoringHarness, result_entry
from tests.serving import Refusal, refusal

REFUSED = Refusal("INVALID_ARGUMENT", "INVALID_PAGE_TOKEN", "page_token")


async def test_a_token_is_valid_for_its_own_query_only(harness: ScoringHarness) -> None:
    for number in range(2):
        await harness.record(result_entry(f"t{number}"))
    results = (await harness.ask("ListResults", pb.ListResultsRequest(page_size=1))).next_page_token
    board = (await harness.ask("GetLeaderboard", pb.GetLeaderboardRequest(game="jossing", page_size=1))).next_page_token
    for request in (
        pb.ListResultsRequest(page_token=board),
        pb.ListResultsRequest(page_token=results, game="jossing"),
        pb.ListResultsRequest(page_token=results, player_id="anna"),
    ):
        assert await refusal(harness.ask("ListResults", request)) == REFUSED
    for game, token in (("solo", board), ("jossing", results)):
        assert (
            await refusal(harness.ask("GetLeaderboard", pb.GetLeaderboardRequest(game=game, page_token=token)))
            == REFUSED
        )


@pytest.mark.parametrize(
    "cursor",
    [
        [1, 1, "anna", 1, 1, 10**400],
        [1, 1, "anna", 1, 1],
        [2**32, 1, "anna", 1, 1, 1],
        [1, 2**32, "anna", 1, 1, 1],
        [1, -1, "anna", 1, 1, 1],
    ],
)
async def test_a_forged_cursor_of_a_leaderboard_is_refused(harness: ScoringHarness, cursor: list[Any]) -> None:
    """Numbers must fit the database's columns; tests/runtime tests the other forgeries."""
    token = encode_page_token(("leaderboard", "solo"), cursor)
    call = harness.ask("GetLeaderboard", pb.GetLeaderboardRequest(game="solo", page_token=token))
    assert await refusal(call) == REFUSED


async def test_no_token_names_a_result_that_is_hidden_from_its_caller(harness: ScoringHarness) -> None:
    for number in range(5):
        result = RecordResultRequest(
            result=result_entry(f"table {number}", end_milliseconds=1_000 + number), access=PUBLIC
        )
        result.removed_player_ids.extend(["eve"] if number in (0, 2, 3) else [])
        await harness.record(result)
    pages, request = list[list[str]](), pb.ListResultsRequest(page_size=1)
    while not pages or request.page_token:
        page = await harness.ask("ListResults", request, "eve")
        pages.append([result.table_id for result in page.results])
        request.page_token = page.next_page_token
        named = base64.urlsafe_b64decode(request.page_token)
        assert not any(f"table {number}".encode() in named for number in (0, 2, 3))
    assert pages == [["table 4"], ["table 1"]]
