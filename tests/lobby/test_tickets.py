"""Players of different networks are matched if there is a choice."""

from collections.abc import Callable
from contextlib import AsyncExitStack, aclosing
from typing import Any

import pytest

from croupier.lobby.assembly import Lobby
from croupier.lobby.matchmaking.tickets import MatchCriteria, Ticket, choose
from croupier.runtime.admission.budget import SECOND, Budget
from croupier.runtime.admission.costs import CREATE_TABLE_COST
from croupier.runtime.identity.tokens import Caller
from croupier_api.v1 import lobby_pb2 as pb
from tests.calls import call_of, limits
from tests.databases import on_both_databases
from tests.lobby.fakes import FakeClock, FakeEngine, player
from tests.lobby.matches import Call, match_all, next_message, seated

NEAR, FAR = "192.0.2.0/24", "2001:db8:abcd:ef00::/56"
TRIPLE = MatchCriteria("pairs", 3)
CHOICES = [
    ("two of one network, and nobody else", "aa", 2, [0, 1]),
    ("the first two of different networks", "aab", 2, [0, 2]),
    ("the first one is not skipped", "abb", 2, [0, 1]),
    ("as many networks as possible", "aabbca", 3, [0, 2, 4]),
    ("networks take turns if there are too few", "aaabb", 4, [0, 1, 3, 4]),
    ("networks that are not known are one", "  a", 2, [0, 2]),
    ("without networks in the order of arrival", "    ", 3, [0, 1, 2]),
]


@pytest.mark.parametrize(
    ("networks", "seats", "expected"), [one[1:] for one in CHOICES], ids=[one[0] for one in CHOICES]
)
def test_the_choice(networks: str, seats: int, expected: list[int]) -> None:
    waiting = [
        Ticket(f"t{number}", f"p{number}", "", TRIPLE, b"", number, network=network.strip())
        for number, network in enumerate(networks)
    ]
    assert [waiting.index(ticket) for ticket in choose(waiting, seats)] == expected


async def call(lobby: Lobby, number: int, network: str) -> Call:
    stream = lobby.matchmaker.find_match(player(number), MatchCriteria("pairs", 2), b"", network=network)
    assert (await next_message(stream)).table is None
    return stream


async def test_the_network_is_that_of_the_newest_call(lobby: Lobby, clock: FakeClock) -> None:
    for number, network in ((1, "near"), (2, "far")):
        stream = await call(lobby, number, network)
        clock.advance(1)
        await stream.aclose()
    again = [await call(lobby, number, "near") for number in (1, 2)]
    other = await call(lobby, 3, "far")
    await match_all(lobby)
    assert await seated(again[0]) == await seated(other)
    await again[1].aclose()


@on_both_databases
async def test_a_ticket_has_the_network_of_the_call_and_the_host_of_a_match_pays(
    lobby: Lobby, clock: FakeClock, engine: FakeEngine
) -> None:
    wanted = pb.FindMatchRequest(game="pairs", seat_count=2)
    find_match: Callable[..., Any] = lobby.servicer.FindMatch
    budget = Budget("player_calls", 1, 1000, lambda: SECOND)
    async with AsyncExitStack() as stack:
        streams = []
        for number, network in enumerate((NEAR, NEAR, FAR), start=1):
            caller = Caller(player(number).player_id, player(number).name, network)
            call = call_of(caller, limits(player=budget))
            streams.append(await stack.enter_async_context(aclosing(find_match(wanted, call))))
            await anext(streams[-1])
            clock.advance(1)
        await match_all(lobby)
        table, same = [(await anext(streams[place])).table for place in (0, 2)]
        assert table.table_id == same.table_id
        assert [seat.player_id for seat in table.seats] == [player(1).player_id, player(3).player_id]
    assert engine.networks == {table.table_id: NEAR}
    assert [budget.wait(player(number).player_id, 1000) // SECOND for number in (1, 3)] == [CREATE_TABLE_COST, 0]
