"""Who may call which port."""

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.runtime.identity import ENGINE_CONTROL_AUDIENCE, PLAYER_AUDIENCE, SCORING_CONTROL_AUDIENCE
from croupier_api.v1 import scoring_pb2 as pb
from croupier_api.v1.scoring_pb2_grpc import ScoringControlServiceStub, ScoringServiceStub
from tests.scoring.house import CALL_SECONDS, House, Keys, Metadata, bearer, now, refusal, result_entry, round_entry

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


def long_ago() -> int:
    return now() - 3_600_000


def strangers(keys: Keys) -> dict[str, Metadata]:
    """What neither port takes."""
    lobby, engine, forger = keys.private("lobby"), keys.private("engine"), Ed25519PrivateKey.generate()
    intact = dict(keys.player("anna"))["authorization"]
    head, _, signature = intact.rpartition(".")
    return {
        "nothing": (),
        "no scheme": (("authorization", "anna"),),
        "basic": (("authorization", "Basic YW5uYTphbm5h"),),
        "no token": (("authorization", "Bearer "),),
        "not a token": (("authorization", "Bearer anna"),),
        "too long": (("authorization", f"Bearer {'x' * 4000}"),),
        "tampered": (("authorization", f"{head}.{signature[::-1]}"),),
        "forged player": bearer(forger, PLAYER_AUDIENCE, "anna"),
        "forged engine": bearer(forger, SCORING_CONTROL_AUDIENCE, "engine"),
        "expired player": bearer(lobby, PLAYER_AUDIENCE, "anna", long_ago),
        "expired engine": bearer(engine, SCORING_CONTROL_AUDIENCE, "engine", long_ago),
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


async def test_a_player_is_refused_on_the_control_port(house: House) -> None:
    assert await refused_codes(house.control, CONTROL_METHODS, house.keys.player("anna")) == {"UNAUTHENTICATED"}


async def test_the_engine_is_refused_on_the_players_port(house: House) -> None:
    assert await refused_codes(house.players, PLAYERS_METHODS, house.keys.engine()) == {"UNAUTHENTICATED"}


async def test_each_port_has_its_own_service_only(house: House) -> None:
    control = ScoringControlServiceStub(house.players_channel)
    players = ScoringServiceStub(house.control_channel)
    assert await refused_codes(control, CONTROL_METHODS, house.keys.player("anna")) == {"UNIMPLEMENTED"}
    assert await refused_codes(players, PLAYERS_METHODS, house.keys.engine()) == {"UNIMPLEMENTED"}


@pytest.mark.parametrize("name", ["expired player", "forged player", "tampered"])
async def test_a_refusal_does_not_repeat_the_token(house: House, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    metadata = strangers(house.keys)[name]
    await refused_codes(house.players, PLAYERS_METHODS, metadata)
    spoken = capsys.readouterr()
    assert metadata[0][1].removeprefix("Bearer ") not in spoken.out + spoken.err


async def test_who_may_report_learns_that_the_key_holds(house: House) -> None:
    await house.control.CheckAccess(pb.CheckAccessRequest(), metadata=house.keys.engine(), timeout=CALL_SECONDS)
