"""Who may call which port."""

from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.runtime.identity import ENGINE_CONTROL_AUDIENCE, PLAYER_AUDIENCE, SCORING_CONTROL_AUDIENCE
from croupier_api.v1 import scoring_pb2 as pb
from croupier_api.v1.scoring_pb2_grpc import ScoringControlServiceStub, ScoringServiceStub
from tests.contract.house import CALL_SECONDS, Metadata, now
from tests.scoring.house import House, Keys, bearer, result_entry, round_entry
from tests.serving import refusal

PLAYERS_METHODS = {
    "GetScoreSheet": pb.GetScoreSheetRequest(table_id="t1"),
    "GetPlayerStatistics": pb.GetPlayerStatisticsRequest(),
    "GetLeaderboard": pb.GetLeaderboardRequest(game="solo"),
    "ListResults": pb.ListResultsRequest(),
}
CONTROL_METHODS = {
    "RecordRound": round_entry(),
    "RecordResult": pb.RecordResultRequest(result=result_entry()),
    "CheckAccess": pb.CheckAccessRequest(),
}


def strangers(keys: Keys) -> dict[str, Metadata]:
    """What neither port takes; tests/runtime shows the ways in which a token can be wrong."""
    lobby, engine, forger = keys.private("lobby"), keys.private("engine"), Ed25519PrivateKey.generate()
    return {
        "nothing": (),
        "not a token": (("authorization", "Bearer anna"),),
        "forged player": bearer(forger, PLAYER_AUDIENCE, "anna"),
        "forged engine": bearer(forger, SCORING_CONTROL_AUDIENCE, "engine"),
        "expired engine": bearer(engine, SCORING_CONTROL_AUDIENCE, "engine", lambda: now() - 3_600_000),
        "lobby for engine": bearer(lobby, ENGINE_CONTROL_AUDIENCE, "lobby"),
        "lobby as engine": bearer(lobby, SCORING_CONTROL_AUDIENCE, "engine"),
        "engine as player": bearer(engine, PLAYER_AUDIENCE, "anna"),
    }


async def refused_codes(stub: Any, methods: dict[str, Any], metadata: Metadata) -> set[str]:
    calls = [getattr(stub, name)(request, metadata=metadata, timeout=CALL_SECONDS) for name, request in methods.items()]
    return {(await refusal(call)).code for call in calls}


async def test_strangers_are_refused_everywhere(house: House) -> None:
    for name, metadata in strangers(house.keys).items():
        codes = await refused_codes(house.players, PLAYERS_METHODS, metadata)
        codes |= await refused_codes(house.control, CONTROL_METHODS, metadata)
        assert codes == {"UNAUTHENTICATED"}, name


async def test_players_and_the_engine_have_a_port_each(house: House) -> None:
    assert await refused_codes(house.control, CONTROL_METHODS, house.keys.player("anna")) == {"UNAUTHENTICATED"}
    assert await refused_codes(house.players, PLAYERS_METHODS, house.keys.engine()) == {"UNAUTHENTICATED"}
    await house.control.CheckAccess(pb.CheckAccessRequest(), metadata=house.keys.engine(), timeout=CALL_SECONDS)


async def test_each_port_has_its_own_service_only(house: House) -> None:
    control = ScoringControlServiceStub(house.players_channel)
    players = ScoringServiceStub(house.control_channel)
    assert await refused_codes(control, CONTROL_METHODS, house.keys.player("anna")) == {"UNIMPLEMENTED"}
    assert await refused_codes(players, PLAYERS_METHODS, house.keys.engine()) == {"UNIMPLEMENTED"}
