"""Score sheets, results, statistics and leaderboards, by the access of the tables and the caller."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.duration_pb2 import Duration

from croupier.runtime.identity.links import links_by
from croupier.runtime.server.service import now_milliseconds
from croupier.runtime.table_access import LinkPurpose
from croupier_api.v1 import scoring_pb2 as pb
from croupier_api.v1 import tables_pb2
from croupier_internal.v1.scoring_control_pb2 import RecordResultRequest
from tests.scoring.deployment import PUBLIC, ScoringHarness, result_entry, round_entry
from tests.serving import Refusal, refusal

BY_LINK = tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_LINK, watch_policy=tables_pb2.WATCH_POLICY_LINK)
SEATED = tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_SEATED, watch_policy=tables_pb2.WATCH_POLICY_NOBODY)
UNWATCHED = tables_pb2.TableAccess(
    visibility=tables_pb2.VISIBILITY_EVERYONE, watch_policy=tables_pb2.WATCH_POLICY_NOBODY
)
DELAYED = tables_pb2.TableAccess(
    visibility=tables_pb2.VISIBILITY_EVERYONE,
    watch_policy=tables_pb2.WATCH_POLICY_ANYONE,
    watch_delay=Duration(seconds=300),
)
HIDDEN = Refusal("NOT_FOUND", "NO_SCORE_SHEET")
WATCH, REPLAY = LinkPurpose.WATCH, LinkPurpose.REPLAY


def link_of(harness: ScoringHarness, purpose: LinkPurpose | None, table_id: str = "t1") -> str:
    if purpose is None:
        return ""
    return links_by(harness.keys.private("engine"), 1, now_milliseconds).issue(table_id, purpose)[0]


async def record(
    harness: ScoringHarness, access: tables_pb2.TableAccess, *, end: int | None, removed: str = ""
) -> None:
    """Record a round of the table t1 and, with an end, its result."""
    entry = round_entry()
    entry.access.CopyFrom(access)
    entry.removed_player_ids.extend([removed] if removed else [])
    await harness.record(entry)
    if end is not None:
        result = RecordResultRequest(result=result_entry(end_milliseconds=end), access=access)
        result.removed_player_ids.extend(entry.removed_player_ids)
        await harness.record(result)


async def sees_sheet(harness: ScoringHarness, player_id: str, purpose: LinkPurpose | None = None) -> bool:
    """Return whether a player gets the score sheet; a hidden one must be refused as one that does not exist."""
    request = pb.GetScoreSheetRequest(table_id="t1", link=link_of(harness, purpose))
    missing = await refusal(harness.ask("GetScoreSheet", pb.GetScoreSheetRequest(table_id="t2"), player_id))
    try:
        await harness.ask("GetScoreSheet", request, player_id)
    except Exception:  # noqa: BLE001 - the refusal is compared
        assert await refusal(harness.ask("GetScoreSheet", request, player_id)) == missing == HIDDEN
        return False
    return True


@pytest.mark.parametrize(
    ("access", "running", "finished"),
    [
        (PUBLIC, {None, WATCH, REPLAY}, {None, WATCH, REPLAY}),
        (UNWATCHED, set(), {None, WATCH, REPLAY}),
        (BY_LINK, {WATCH}, {REPLAY}),
        (SEATED, set(), set()),
        (DELAYED, set(), set()),
    ],
    ids=["public", "public, unwatched", "link", "seated", "delayed"],
)
async def test_a_score_sheet_is_shown_to_players_of_the_table_and_those_whom_its_access_lets_in(
    harness: ScoringHarness,
    access: tables_pb2.TableAccess,
    running: set[LinkPurpose | None],
    finished: set[LinkPurpose | None],
) -> None:
    links = (None, WATCH, REPLAY)
    await record(harness, access, end=None)
    assert {link for link in links if await sees_sheet(harness, "carl", link)} == running
    await record(harness, access, end=now_milliseconds())
    assert {link for link in links if await sees_sheet(harness, "carl", link)} == finished
    assert await sees_sheet(harness, "anna")


@pytest.mark.parametrize("access", [PUBLIC, BY_LINK])
async def test_a_removed_player_sees_neither_sheet_nor_result(
    harness: ScoringHarness, access: tables_pb2.TableAccess
) -> None:
    await record(harness, access, end=now_milliseconds(), removed="carl")
    assert not await sees_sheet(harness, "carl", REPLAY)
    assert not (await harness.ask("ListResults", pb.ListResultsRequest(), "carl")).results
    assert await sees_sheet(harness, "dora", REPLAY)


@pytest.mark.parametrize(("milliseconds", "is_over"), [(299_000, False), (300_000, True)])
async def test_the_watch_delay_postpones_sheet_and_result_for_others(
    harness: ScoringHarness, milliseconds: int, is_over: bool
) -> None:
    await record(harness, DELAYED, end=now_milliseconds() - milliseconds)
    listed = {
        player: len((await harness.ask("ListResults", pb.ListResultsRequest(player_id="anna"), player)).results)
        for player in ("anna", "carl")
    }
    assert listed == {"anna": 1, "carl": is_over}
    assert await sees_sheet(harness, "carl") is is_over


@pytest.mark.parametrize("access", [BY_LINK, SEATED, tables_pb2.TableAccess()], ids=["link", "seated", "unset"])
async def test_tables_that_are_not_public_are_in_no_list_and_in_no_statistics_for_others(
    harness: ScoringHarness, access: tables_pb2.TableAccess
) -> None:
    await record(harness, access, end=now_milliseconds())
    for player, expected in (("anna", 1), ("carl", 0)):
        of_anna = pb.ListResultsRequest(player_id="anna")
        assert len((await harness.ask("ListResults", of_anna, player)).results) == expected
        statistics = pb.GetPlayerStatisticsRequest(player_id="anna")
        assert len((await harness.ask("GetPlayerStatistics", statistics, player)).games) == expected
    assert not (await harness.ask("ListResults", pb.ListResultsRequest(), "anna")).results
    assert not (await harness.ask("GetLeaderboard", pb.GetLeaderboardRequest(game="jossing"), "anna")).entries


async def test_links_that_are_not_of_the_engine_or_of_another_table_are_refused(harness: ScoringHarness) -> None:
    await record(harness, BY_LINK, end=now_milliseconds())
    forged = links_by(Ed25519PrivateKey.generate(), 1, now_milliseconds).issue("t1", REPLAY)[0]
    expired = links_by(harness.keys.private("engine"), 1, lambda: now_milliseconds() - 86_400_000).issue("t1", REPLAY)[
        0
    ]
    for link in ("x", forged, expired):
        request = pb.GetScoreSheetRequest(table_id="t1", link=link)
        answer = await refusal(harness.ask("GetScoreSheet", request, "carl"))
        assert answer == Refusal("INVALID_ARGUMENT", "INVALID_LINK", "link")
    request = pb.GetScoreSheetRequest(table_id="t1", link=link_of(harness, REPLAY, "t2"))
    assert await refusal(harness.ask("GetScoreSheet", request, "carl")) == Refusal("NOT_FOUND", "UNKNOWN_TABLE")
