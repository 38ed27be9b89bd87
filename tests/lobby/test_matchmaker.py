"""Matchmaking seats every player once, also after faults, and players of different networks if there is a choice."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, aclosing
from typing import Any

import pytest

from croupier.lobby.assembly import Lobby
from croupier.lobby.matchmaking.matchmaker import Matchmaker
from croupier.lobby.matchmaking.tickets import HEARTBEAT_TIMEOUT_SECONDS, MatchCriteria, Ticket, choose
from croupier.lobby.storage.ticket_store import TicketStore
from croupier.lobby.tables.forming_table import TableState
from croupier.lobby.tables.table_service import FORMING
from croupier.runtime.admission.budget import SECOND, Budget
from croupier.runtime.admission.costs import CREATE_TABLE_COST
from croupier.runtime.errors import IllegalNow, StaleSequence, Unavailable
from croupier.runtime.identity.tokens import Caller
from croupier_api.v1 import errors_pb2
from croupier_api.v1 import lobby_pb2 as pb
from tests.calls import call_of, limits
from tests.databases import on_both_databases
from tests.lobby.fakes import ENGINE_UNAVAILABLE, FAR, NEAR, FakeClock, FakeEngine, LobbyDeployment, add_players, player
from tests.lobby.matches import ADA, BOB, EVE, TWO, match_all, next_message, running, seated, waiting
from tests.waiting import SettlingLoop, settled


@on_both_databases
async def test_two_players_with_the_same_criteria_are_seated_together(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock
) -> None:
    ada, bob = lobby.matchmaker.find_match(ADA, TWO, b"a"), lobby.matchmaker.find_match(BOB, TWO, b"b")
    assert (await next_message(ada)).waiting_count == 1
    clock.advance(1)
    assert (await next_message(bob)).waiting_count == 2
    await match_all(lobby)
    table = await seated(ada)
    assert (await next_message(bob)).table == table
    assert table.state is TableState.PLAYING
    assert [(seat.name, seat.client_seed) for seat in engine.opened[table.table_id]] == [
        ("Player 1", b"a"),
        ("Player 2", b"b"),
    ]
    with pytest.raises(StopAsyncIteration):
        await next_message(bob)
    assert (await lobby.tables.get(EVE.player_id, table.table_id)).seed_commitment


async def test_different_criteria_do_not_match(lobby: Lobby, engine: FakeEngine) -> None:
    criteria_by_player = {ADA: TWO, BOB: MatchCriteria("pairs", 3), EVE: MatchCriteria("alone", 2)}
    streams = [lobby.matchmaker.find_match(one, criteria, b"") for one, criteria in criteria_by_player.items()]
    assert [(await next_message(stream)).waiting_count for stream in streams] == [1, 1, 1]
    await match_all(lobby)
    assert engine.opened == {}


async def test_the_count_of_waiting_players_is_kept_up_to_date(lobby: Lobby) -> None:
    ada, bob = await waiting(lobby, ADA, BOB, criteria=MatchCriteria("pairs", 5))
    await lobby.matchmaker.tick()
    assert (await next_message(ada)).waiting_count == 2
    await bob.aclose()
    await lobby.matchmaker.tick()
    assert (await next_message(ada)).waiting_count == 1


@pytest.mark.parametrize("is_database_away", [False, True])
async def test_a_player_whose_stream_ended_is_not_matched(
    lobby: Lobby, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, is_database_away: bool
) -> None:
    [stream] = await waiting(lobby, ADA)
    await stream.aclose()
    if is_database_away:
        with monkeypatch.context() as away:
            away.setattr(TicketStore, "disconnect", _unavailable)
            with pytest.raises(Unavailable):
                await lobby.matchmaker.tick()
    [stays] = await waiting(lobby, BOB)
    await match_all(lobby)
    assert engine.opened == {}
    await stays.aclose()


async def _unavailable(*_: object) -> None:
    raise ENGINE_UNAVAILABLE


@on_both_databases
async def test_a_repeated_call_in_time_keeps_the_ticket(lobby: Lobby, clock: FakeClock) -> None:
    tickets = []
    for seconds_away in (0, 20, 31):
        clock.advance(seconds_away)
        await lobby.housekeeper.delete_expired()
        call = lobby.matchmaker.find_match(ADA, TWO, b"")
        tickets.append((await next_message(call)).ticket_id)
        await call.aclose()
        await lobby.matchmaker.tick()
    assert tickets[0] == tickets[1] != tickets[2]


@on_both_databases
@pytest.mark.parametrize("criteria", [TWO, MatchCriteria("alone", 2)])
async def test_a_newer_stream_of_a_player_supersedes_the_older_one(lobby: Lobby, criteria: MatchCriteria) -> None:
    first, second = (lobby.matchmaker.find_match(ADA, one, b"") for one in (TWO, criteria))
    is_same = (await next_message(first)).ticket_id == (await next_message(second)).ticket_id
    assert is_same is (criteria == TWO)
    await lobby.matchmaker.tick()
    with pytest.raises(StaleSequence) as refusal:
        await next_message(first)
    assert refusal.value.reason_name == "SUPERSEDED"
    [other] = await waiting(lobby, BOB, criteria=criteria)
    await match_all(lobby)
    assert await seated(second) == await seated(other)


async def test_a_ticket_without_heartbeat_after_a_crash_is_not_matched(
    deployment: LobbyDeployment, clock: FakeClock, engine: FakeEngine
) -> None:
    async with deployment.lobby() as lobby:
        left = await waiting(lobby, ADA)
        assert lobby.matchmaker.pending == len(left)
    clock.advance(HEARTBEAT_TIMEOUT_SECONDS + 1)
    async with deployment.lobby() as lobby:
        [bob] = await waiting(lobby, BOB)
        await match_all(lobby)
        assert engine.opened == {}
        [ada] = await waiting(lobby, ADA)
        await match_all(lobby)
        assert await seated(ada) == await seated(bob)


@pytest.mark.parametrize("failing", [None, "count_waiting", "outcomes"])
async def test_a_stream_whose_ticket_was_deleted_as_abandoned_asks_its_player_to_call_again(
    deployment: LobbyDeployment, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, failing: str | None
) -> None:
    """One lobby could not reach the database for long, another one could."""
    async with deployment.lobby() as cut_off, deployment.lobby(ticket_grace_seconds=15) as other:
        [ada] = await waiting(cut_off, ADA)
        clock.advance(16)
        await other.housekeeper.delete_expired()
        if failing:
            with monkeypatch.context() as away:
                away.setattr(TicketStore, failing, _unavailable)
                with pytest.raises(Unavailable):
                    await cut_off.matchmaker.tick()
        await cut_off.matchmaker.tick()
        with pytest.raises(Unavailable) as refusal:
            await next_message(ada)
        assert refusal.value.reason_name == "TICKET_CONFLICT"
        # After that, also after a pause without streams, a newer call is distinguished from a lost ticket again.
        for seconds in (0, HEARTBEAT_TIMEOUT_SECONDS):
            clock.advance(seconds)
            older, newer = (cut_off.matchmaker.find_match(ADA, TWO, b"") for _ in range(2))
            assert (await next_message(older)).ticket_id == (await next_message(newer)).ticket_id
            await cut_off.matchmaker.tick()
            with pytest.raises(StaleSequence):
                await next_message(older)
            await newer.aclose()


async def test_heartbeats_keep_the_tickets_of_long_streams_alive(lobby: Lobby, clock: FakeClock) -> None:
    [ada] = await waiting(lobby, ADA)
    for _ in range(4):
        clock.advance(6)
        await lobby.matchmaker.tick()
    [bob] = await waiting(lobby, BOB)
    await match_all(lobby)
    assert await seated(ada) == await seated(bob)


async def test_a_call_ends_after_half_a_minute_and_its_player_waits_in_their_place_for_the_next_one(
    lobby: Lobby, clock: FakeClock
) -> None:
    [ada] = await waiting(lobby, ADA, request_id="of ada")
    clock.advance(29)
    await lobby.matchmaker.tick()
    assert lobby.matchmaker.pending == 1
    clock.advance(1)
    [bob] = await waiting(lobby, BOB)
    # The step that ends the call of Ada matches them with nobody, although nobody has read the end.
    await match_all(lobby)
    with pytest.raises(StopAsyncIteration):
        await next_message(ada)
    clock.advance(0.001)
    [eve] = await waiting(lobby, EVE)
    [ada] = await waiting(lobby, ADA, request_id="of ada")
    await match_all(lobby)
    table = await seated(ada)
    # Ada came first, and Bob before Eve.
    assert [seat.player_id for seat in table.seats] == [ADA.player_id, BOB.player_id]
    await asyncio.gather(eve.aclose(), bob.aclose())


@pytest.mark.parametrize("calls_that_succeed", [0, 1])
async def test_a_match_continues_after_a_crash_at_each_step(
    deployment: LobbyDeployment,
    engine: FakeEngine,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
    calls_that_succeed: int,
) -> None:
    with monkeypatch.context() as silent:
        silent.setattr(engine, "open_table" if calls_that_succeed else "prepare_table", _unavailable)
        async with deployment.lobby() as lobby:
            ada = await waiting(lobby, ADA)
            clock.advance(1)
            streams = [*ada, *await waiting(lobby, BOB)]
            await match_all(lobby)
            # A matched table is hidden until it is prepared.
            assert len(await lobby.tables.list_public("", FORMING, None, 10)) == calls_that_succeed
            assert lobby.matchmaker.pending == len(streams)
    assert engine.opened == {}
    clock.advance(3)
    async with deployment.lobby() as lobby, running(lobby):
        await lobby.housekeeper.open_tables()
        (table_id,) = engine.opened
        assert [seat.client_seed for seat in engine.opened[table_id]] == [b"Player 1", b"Player 2"]
        for one in (ADA, BOB):
            assert (await seated(lobby.matchmaker.find_match(one, TWO, b""))).table_id == table_id


@on_both_databases
async def test_a_match_that_the_engine_refuses_is_reported_and_its_ticket_discarded(
    lobby: Lobby, engine: FakeEngine
) -> None:
    streams = await waiting(lobby, ADA, BOB, request_id="a request")
    engine.failure = IllegalNow(errors_pb2.ERROR_REASON_TABLE_CLOSED, "no tables today")
    await match_all(lobby)
    engine.failure = None
    for stream in streams:
        with pytest.raises(IllegalNow) as refusal:
            await seated(stream)
        assert refusal.value.reason_name == "MATCH_FAILED"
    again = lobby.matchmaker.find_match(ADA, TWO, b"", "a request")
    assert (await next_message(again)).waiting_count == 1


async def test_streams_end_when_the_server_stops_and_tickets_stay(deployment: LobbyDeployment) -> None:
    async with deployment.lobby() as lobby:
        stream = lobby.matchmaker.find_match(ADA, TWO, b"")
        ticket_id = (await next_message(stream)).ticket_id
        lobby.end_streams()
        for ending in (stream, lobby.matchmaker.find_match(BOB, TWO, b"")):
            with pytest.raises(Unavailable, match="stop"):
                await next_message(ending)
        await lobby.matchmaker.tick()
    async with deployment.lobby() as lobby:
        assert (await next_message(lobby.matchmaker.find_match(ADA, TWO, b""))).ticket_id == ticket_id


async def test_a_lobby_where_nobody_waits_does_not_tick(lobby: Lobby, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks: list[float] = []
    now, loop = [0.0], asyncio.get_running_loop()

    async def tick(_: Matchmaker) -> None:
        ticks.append(now[0])

    [ada] = await waiting(lobby, ADA)
    await ada.aclose()
    await lobby.matchmaker.tick()
    assert isinstance(loop, SettlingLoop)
    with monkeypatch.context() as counted:
        counted.setattr(Matchmaker, "tick", tick)
        loop.follow(lambda: now[0])
        async with running(lobby):
            # The wake-up by the stream that has ended.
            await settled()
            for now[0] in (10.0, 20.0):
                await settled()
            assert ticks == [0.0]
            [bob] = await waiting(lobby, BOB)
            await settled()
            for now[0] in (21.0, 22.0):
                await settled()
    assert ticks == [0.0, 20.0, 21.0, 22.0]
    await bob.aclose()


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


async def test_the_network_is_that_of_the_newest_call(lobby: Lobby, clock: FakeClock) -> None:
    for number, network in ((1, "near"), (2, "far")):
        [stream] = await waiting(lobby, player(number), network=network)
        clock.advance(1)
        await stream.aclose()
    again = await waiting(lobby, ADA, BOB, network="near")
    [other] = await waiting(lobby, EVE, network="far")
    await match_all(lobby)
    assert await seated(again[0]) == await seated(other)
    await again[1].aclose()


@on_both_databases
async def test_a_ticket_has_the_network_of_the_call_and_the_host_of_a_match_pays(
    lobby: Lobby, clock: FakeClock, engine: FakeEngine
) -> None:
    await add_players(lobby, *map(player, range(1, 4)))
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
