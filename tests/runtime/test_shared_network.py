"""Five hundred players behind one address, as with a carrier's NAT, are never refused with the default settings."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from croupier.engine.settings import EngineSettings
from croupier.gateway.settings import GatewaySettings
from croupier.lobby.settings import LobbySettings
from croupier.runtime.admission.admission import Admission
from croupier.runtime.admission.budget import SECOND, Budget, TooManyCalls
from croupier.runtime.admission.costs import (
    COSTS,
    MESSAGE_COST,
    PACKAGE,
    ROUNDS_PER_UNIT,
    load_cost,
    replay_cost,
    resume_cost,
)
from croupier.runtime.admission.limits import limits_of
from croupier.runtime.identity.tokens import Caller
from croupier.runtime.settings import ServiceSettings
from croupier.scoring.settings import ScoringSettings

PLAYERS, SEATS = 500, 4
TABLES = PLAYERS // SEATS
ACTIONS_PER_SECOND = 0.3
"""Of each player: some think for seconds, and all wait for three others."""
LOADED_ENTRIES = 600
"""Of each table when an engine is lost in the middle: of a long game."""
MISSED_ENTRIES = 60
"""Of each stream when all reconnect."""
ROUNDS = 30
"""Of a score sheet."""
REPLAY_BYTES = 12_000
"""Of a long game, compressed."""
HOME = "2001:db8:1::/56"
PATH = Path("key")
ENGINE = EngineSettings(database="", lobby_public_key=PATH, signing_key=PATH, scoring_control="127.0.0.1:1")
SERVICES: dict[str, ServiceSettings] = {
    "LobbyService": LobbySettings(database="", signing_key=PATH, engine_control="127.0.0.1:1"),
    "EngineService": ENGINE,
    "ScoringService": ScoringSettings(database="", lobby_public_key=PATH, engine_public_key=PATH),
}
GATEWAY = GatewaySettings(lobby_public_key=PATH)
ARRIVAL = (
    *("LobbyService/SignIn", "LobbyService/ListGames", "LobbyService/ListTables", "LobbyService/WatchTables"),
    *("LobbyService/JoinTable", "LobbyService/SetReady", "EngineService/PlayTable"),
    *("ScoringService/GetPlayerStatistics", "ScoringService/GetLeaderboard"),
)
AFTER_A_GAME = ("ScoringService/GetScoreSheet", "EngineService/GetReplay", "LobbyService/SetReady")
ENGINE_RECONNECT = "EngineService/PlayTable", "EngineService/GetView"
RECONNECT = ("LobbyService/RefreshToken", "LobbyService/WatchTables", *ENGINE_RECONNECT)


class Call(NamedTuple):
    """A call, or a message in a stream if there is no method; a message is no request at the gateway."""

    seconds: float
    player: int
    service: str
    method: str
    surcharge: int = 0


def all_of(methods: tuple[str, ...], player: int, seconds: float) -> Iterator[Call]:
    """Return calls one after the other, within a second."""
    for number, name in enumerate(methods):
        service, _, method = name.partition("/")
        yield Call(seconds + number / len(methods), player, service, method)


def evening(arrival_seconds: float, random: Random) -> Iterator[Call]:
    """Return the calls of all players: they arrive, play for ten minutes, and all reconnect at once in the middle."""
    for player in range(PLAYERS):
        arrival = random.uniform(0, arrival_seconds)
        yield from all_of(ARRIVAL, player, arrival)
        if player % SEATS == 0:
            yield Call(arrival, player, "LobbyService", "CreateTable")
        for _ in range(int(ACTIONS_PER_SECOND * 600)):
            yield Call(random.uniform(arrival_seconds, 600), player, "EngineService", "")
        yield from all_of(RECONNECT, player, 300)
        yield Call(300, player, "EngineService", "", resume_cost(MISSED_ENTRIES))
        # The players of a table share its load.
        yield Call(300, player, "EngineService", "", load_cost(LOADED_ENTRIES, SEATS))
        end = random.uniform(400, 600)
        yield from all_of(AFTER_A_GAME, player, end)
        yield Call(end, player, "ScoringService", "", ROUNDS // ROUNDS_PER_UNIT)
    for table in range(TABLES):
        yield Call(random.uniform(400, 600), table * SEATS, "EngineService", "", replay_cost(REPLAY_BYTES))


def refusals(calls: Iterator[Call]) -> list[tuple[Call, str]]:
    """Return the calls that a budget refuses, with its name."""
    now, refused = 0, []
    limits = {service: limits_of(settings, lambda: now) for service, settings in SERVICES.items()}
    address = Budget("address", GATEWAY.address_requests_per_second, GATEWAY.address_burst, lambda: now)
    network = Budget("network", GATEWAY.network_requests_per_second, GATEWAY.network_request_burst, lambda: now)
    for call in sorted(calls):
        now = round(call.seconds * SECOND)
        cost = COSTS[f"/{PACKAGE}.{call.service}/{call.method}"] if call.method else MESSAGE_COST
        try:
            if call.method:
                address.pay("one address")
                network.pay("one network")
            admission = Admission(Caller(f"player {call.player}", "", HOME), limits[call.service], cost)
            admission.pay()
            admission.owe(call.surcharge)
        except TooManyCalls as refusal:
            refused.append((call, refusal.limit))
    return refused


@pytest.mark.parametrize("arrival_seconds", [3, 60, 300])
def test_five_hundred_players_of_one_address_are_never_refused(arrival_seconds: float) -> None:
    random = Random(seed := 12)
    print(f"seed {seed}")
    assert refusals(evening(arrival_seconds, random)) == []


def test_five_hundred_players_of_one_network_may_look_up_their_tables_at_once() -> None:
    held = limits_of(ENGINE, lambda: 0, ENGINE.stranger_units_per_second, ENGINE.stranger_burst)
    callers = [Caller(f"player {number}", "", HOME) for number in range(PLAYERS)]
    waiting = [Admission(caller, held) for caller in callers for _ in ENGINE_RECONNECT]
    for _ in range(2):
        for admission in waiting:
            admission.pay_lookup()
        for admission in waiting:
            admission.end_lookup(is_free=True)


@pytest.mark.parametrize(("players", "seconds", "limit"), [(1500, 12, "network_calls"), (1500, 1, "address")])
def test_more_players_would_be_refused_by_a_service_or_at_the_gateway(players: int, seconds: int, limit: str) -> None:
    crowd = (call for player in range(players) for call in all_of(ARRIVAL, player, player * seconds / players))
    assert limit in {refused_by for _, refused_by in refusals(crowd)}
