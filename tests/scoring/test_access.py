"""Scores by the access of the tables and the caller, and ports by the tokens of their own callers."""

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.duration_pb2 import Duration

from croupier.runtime.identity.links import links_by
from croupier.runtime.identity.tokens import ENGINE_CONTROL_AUDIENCE, PLAYER_AUDIENCE, SCORING_CONTROL_AUDIENCE
from croupier.runtime.server.service import now_milliseconds
from croupier.runtime.table_access import LinkPurpose
from croupier_api.v1 import scoring_pb2 as pb
from croupier_api.v1 import tables_pb2
from croupier_api.v1.scoring_pb2_grpc import ScoringServiceStub
from croupier_internal.v1 import scoring_control_pb2 as control_pb
from croupier_internal.v1.scoring_control_pb2 import RecordResultRequest
from croupier_internal.v1.scoring_control_pb2_grpc import ScoringControlServiceStub
from tests.contract.deployment import CALL_SECONDS, Metadata
from tests.scoring.deployment import PUBLIC, Keys, ScoringHarness, bearer, result_entry, round_entry
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


PLAYERS_METHODS = {
    "GetScoreSheet": pb.GetScoreSheetRequest(table_id="t1"),
    "GetPlayerStatistics": pb.GetPlayerStatisticsRequest(),
    "GetLeaderboard": pb.GetLeaderboardRequest(game="solo"),
    "ListResults": pb.ListResultsRequest(),
}
CONTROL_METHODS = {
    "RecordRound": round_entry(),
    "RecordResult": control_pb.RecordResultRequest(result=result_entry()),
    "CheckAccess": control_pb.CheckAccessRequest(),
}


def invalid_metadata(keys: Keys) -> dict[str, Metadata]:
    """Return metadata that neither port accepts; tests/runtime tests all other kinds of invalid tokens."""
    lobby, engine, forger = keys.private("lobby"), keys.private("engine"), Ed25519PrivateKey.generate()
    return {
        "nothing": (),
        "forged player": bearer(forger, PLAYER_AUDIENCE, "anna"),
        "forged engine": bearer(forger, SCORING_CONTROL_AUDIENCE, "engine"),
        "lobby for engine": bearer(lobby, ENGINE_CONTROL_AUDIENCE, "lobby"),
        "lobby as engine": bearer(lobby, SCORING_CONTROL_AUDIENCE, "engine"),
        "engine as player": bearer(engine, PLAYER_AUDIENCE, "anna"),
    }


async def refused_codes(stub: Any, methods: dict[str, Any], metadata: Metadata) -> set[str]:
    calls = [getattr(stub, name)(request, metadata=metadata, timeout=CALL_SECONDS) for name, request in methods.items()]
    return {(await refusal(call)).code for call in calls}


async def test_invalid_tokens_are_refused_at_both_ports(harness: ScoringHarness) -> None:
    for name, metadata in invalid_metadata(harness.keys).items():
        codes = await refused_codes(harness.players, PLAYERS_METHODS, metadata)
        codes |= await refused_codes(harness.control, CONTROL_METHODS, metadata)
        assert codes == {"UNAUTHENTICATED"}, name


async def test_players_and_the_engine_are_refused_at_the_port_of_the_other(harness: ScoringHarness) -> None:
    assert await refused_codes(harness.control, CONTROL_METHODS, harness.keys.player("anna")) == {"UNAUTHENTICATED"}
    assert await refused_codes(harness.players, PLAYERS_METHODS, harness.keys.engine()) == {"UNAUTHENTICATED"}
    check = control_pb.CheckAccessRequest()
    await harness.control.CheckAccess(check, metadata=harness.keys.engine(), timeout=CALL_SECONDS)


async def test_each_port_serves_its_own_service_only(harness: ScoringHarness) -> None:
    control = ScoringControlServiceStub(harness.players_channel)
    players = ScoringServiceStub(harness.control_channel)
    assert await refused_codes(control, CONTROL_METHODS, harness.keys.player("anna")) == {"UNIMPLEMENTED"}
    assert await refused_codes(players, PLAYERS_METHODS, harness.keys.engine()) == {"UNIMPLEMENTED"}
