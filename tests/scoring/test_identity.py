"""Each port accepts the tokens of its own callers only."""

from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.runtime.identity.tokens import ENGINE_CONTROL_AUDIENCE, PLAYER_AUDIENCE, SCORING_CONTROL_AUDIENCE
from croupier_api.v1 import scoring_pb2 as pb
from croupier_api.v1.scoring_pb2_grpc import ScoringServiceStub
from croupier_internal.v1 import scoring_control_pb2 as control_pb
from croupier_internal.v1.scoring_control_pb2_grpc import ScoringControlServiceStub
from tests.contract.deployment import CALL_SECONDS, Metadata
from tests.scoring.deployment import Keys, ScoringHarness, bearer, result_entry, round_entry
from tests.serving import refusal

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
