"""A matched table that did not reach its player is kept for that player, and answers no later request."""

import asyncio
from collections.abc import Collection

import pytest

from croupier.lobby.assembly import Lobby
from croupier.lobby.matchmaking.matchmaker import MatchProgress
from croupier.lobby.matchmaking.tickets import MATCHED_RETENTION_SECONDS, Ticket
from croupier.lobby.storage.seat_store import TableLimits
from croupier.lobby.storage.store import Store
from croupier.lobby.storage.ticket_store import TicketStore
from croupier.lobby.tables.forming_table import Table, TableState
from croupier.runtime.database.database import Database
from tests.databases import execute, on_both_databases
from tests.lobby.fakes import START, FakeClock, FakeEngine, LobbyDeployment, forming_table, player
from tests.lobby.matches import ADA, BOB, EVE, TWO, match_all, next_message, running, seated, until_streams, waiting

NAME = "Ada's request"


async def delivered_to_both(lobby: Lobby, name: str = NAME) -> Table:
    """Return the table of Ada and Bob, which was delivered to both."""
    async with running(lobby):
        ada, bob = (lobby.matchmaker.find_match(one, TWO, b"", name) for one in (ADA, BOB))
        table, same = await asyncio.gather(seated(ada), seated(bob))
    assert table == same
    return table


async def delivered_to_bob(lobby: Lobby) -> Table:
    """Return the table of both, which was not delivered to Ada because her stream ended before."""
    ada, bob = await waiting(lobby, ADA, BOB, request_id=NAME)
    await match_all(lobby)
    await ada.aclose()
    return await seated(bob)


async def ask_again(lobby: Lobby, name: str = NAME) -> Table:
    async with running(lobby):
        return await seated(lobby.matchmaker.find_match(ADA, TWO, b"", name))


async def waiting_count(lobby: Lobby, name: str) -> int:
    """Return the number of waiting players after Ada's call with this request id, which is not matched."""
    stream = lobby.matchmaker.find_match(ADA, TWO, b"", name)
    progress = await next_message(stream)
    await stream.aclose()
    assert progress.table is None
    return progress.waiting_count


@on_both_databases
async def test_the_same_request_gets_the_same_table_at_any_replica_after_a_restart_and_after_its_end(
    deployment: LobbyDeployment, engine: FakeEngine
) -> None:
    async with deployment.lobby() as one, deployment.lobby() as other:
        table = await delivered_to_both(one)
        for lobby in (one, other, one):
            assert await ask_again(lobby) == table
    async with deployment.lobby() as late:
        assert await ask_again(late) == table
        engine.finished.add(table.table_id)
        await late.housekeeper.finish_tables()
        found = await ask_again(late)
    assert (found.table_id, found.state) == (table.table_id, TableState.FINISHED)
    assert list(engine.opened) == [table.table_id]


@pytest.mark.parametrize("name", [NAME, "another request", ""])
async def test_a_game_that_ended_before_its_delivery_is_delivered_to_the_request_that_led_to_it(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock, name: str
) -> None:
    table = await delivered_to_bob(lobby)
    engine.finished.add(table.table_id)
    await lobby.housekeeper.finish_tables()
    clock.advance(60)
    await lobby.housekeeper.delete_expired()
    if name == NAME:
        assert (await ask_again(lobby)).table_id == table.table_id
    else:
        assert await waiting_count(lobby, name) == 1


async def test_a_table_that_still_runs_and_was_not_delivered_waits_for_its_player(
    lobby: Lobby, clock: FakeClock
) -> None:
    table = await delivered_to_bob(lobby)
    clock.advance(3600)
    await lobby.housekeeper.delete_expired()
    assert await ask_again(lobby, "another request") == table
    assert await waiting_count(lobby, "") == 1


@pytest.mark.parametrize(("first", "second"), [(NAME, "another request"), (NAME, ""), ("", NAME), ("", "")])
async def test_a_new_request_right_after_a_delivered_table_waits_for_a_new_one(
    lobby: Lobby, first: str, second: str
) -> None:
    await delivered_to_both(lobby, first)
    assert await waiting_count(lobby, second) == 1


async def test_the_newest_request_id_counts(lobby: Lobby) -> None:
    assert await waiting_count(lobby, "an older request") == 1
    table = await delivered_to_both(lobby)
    assert await ask_again(lobby) == table
    assert await waiting_count(lobby, "an older request") == 1


async def test_a_player_with_a_delivered_table_does_not_wait_and_is_not_matched(
    lobby: Lobby, engine: FakeEngine
) -> None:
    await delivered_to_both(lobby)
    repeated = lobby.matchmaker.find_match(ADA, TWO, b"", NAME)
    asking = asyncio.ensure_future(anext(repeated))
    eve = lobby.matchmaker.find_match(EVE, TWO, b"")
    assert (await next_message(eve)).waiting_count == 1
    async with running(lobby):
        assert (await asking).table
    await match_all(lobby)
    assert len(engine.opened) == 1


@on_both_databases
async def test_delivered_tickets_are_deleted_in_time(lobby: Lobby, clock: FakeClock, database: Database) -> None:
    table = await delivered_to_both(lobby)
    await match_all(lobby)
    for _ in range(2):
        # A repeated request in time restarts the retention time.
        clock.advance(MATCHED_RETENTION_SECONDS - 1)
        await lobby.housekeeper.delete_expired()
        assert await ask_again(lobby) == table
        await match_all(lobby)
    clock.advance(MATCHED_RETENTION_SECONDS + 1)
    await lobby.housekeeper.delete_expired()
    assert await execute(database, "SELECT count(*) FROM lobby_tickets") == [(0,)]


async def test_a_table_that_is_delivered_at_the_moment_of_a_new_request_does_not_answer_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tickets, reconnect = TicketStore(store, TableLimits(20, 500)), TicketStore.reconnect

    def ticket(number: int, ticket_id: str, name: str) -> Ticket:
        return Ticket(ticket_id, player(number).player_id, "", TWO, b"", START, request_id=name)

    for number in (1, 2):
        await tickets.get_or_create(ticket(number, f"t{number}", NAME), f"s{number}", START)
    assert await tickets.match(TWO, START, lambda _: forming_table(state=TableState.PLAYING))

    async def deliver_first(self: TicketStore, stored: Ticket, requested: Ticket, stream_id: str, now: int) -> bool:
        await self.mark_delivered("s1", START)
        return await reconnect(self, stored, requested, stream_id, now)

    monkeypatch.setattr(TicketStore, "reconnect", deliver_first)
    new = ticket(1, "t3", "another request")
    assert await tickets.get_or_create(new, "s3", START) == new


async def test_a_call_during_a_lookup_of_others_gets_its_table_and_nothing_before(
    lobby: Lobby, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = await delivered_to_both(lobby)
    others, repeated = await waiting(lobby, EVE), lobby.matchmaker.find_match(ADA, TWO, b"", NAME)
    outcomes, calls = TicketStore.outcomes, list[asyncio.Future[MatchProgress]]()

    async def and_ada_calls(store: TicketStore, stream_ids: Collection[str]) -> dict[str, Table | None]:
        found = await outcomes(store, stream_ids)
        calls.append(asyncio.ensure_future(anext(repeated)))
        await until_streams(lobby, 1 + len(others))
        return found

    with monkeypatch.context() as patch:
        patch.setattr(TicketStore, "outcomes", and_ada_calls)
        await lobby.matchmaker.tick()
    await lobby.matchmaker.tick()
    assert (await calls[0]).table == table
