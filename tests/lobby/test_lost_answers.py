"""A table that was told to somebody who did not hear it is his, and nobody else's wish is answered with it."""

import asyncio
from collections.abc import Collection

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.lobby.assembly import Lobby
from croupier.lobby.matching import MatchNews
from croupier.lobby.store import Store
from croupier.lobby.tables import Table, TableState
from croupier.lobby.ticket_store import TicketStore
from croupier.lobby.tickets import MATCHED_SECONDS, Ticket
from tests.databases import on_both_databases
from tests.lobby.fakes import START, FakeClock, FakeEngine, forming_table, player
from tests.lobby.house import House
from tests.lobby.matches import (
    ADA,
    BOB,
    EVE,
    TWO,
    following,
    match_all,
    running,
    seated,
    until_streams,
    waiting,
)

NAME = "the wish of Ada"


async def told(lobby: Lobby, name: str = NAME) -> Table:
    """The table of Ada and Bob, which both were told."""
    async with running(lobby):
        ada, bob = (lobby.matching.quick_match(one, TWO, b"", name) for one in (ADA, BOB))
        table, same = await asyncio.gather(seated(ada), seated(bob))
    assert table == same
    return table


async def told_to_bob(lobby: Lobby) -> Table:
    """The table of both, which Ada was not told, for she broke off."""
    ada, bob = await waiting(lobby, ADA, BOB, request_id=NAME)
    await match_all(lobby)
    await ada.aclose()
    return await seated(bob)


async def again(lobby: Lobby, name: str = NAME) -> Table:
    async with running(lobby):
        return await seated(lobby.matching.quick_match(ADA, TWO, b"", name))


async def waits(lobby: Lobby, name: str) -> int:
    """How many wait once Ada has called by a name, which gives her a ticket that is not matched."""
    stream = lobby.matching.quick_match(ADA, TWO, b"", name)
    news = await following(stream)
    await stream.aclose()
    assert news.table is None
    return news.waiting


@on_both_databases
async def test_the_same_wish_gets_the_same_table_at_any_replica_after_a_restart_and_after_its_end(
    house: House, engine: FakeEngine
) -> None:
    async with house.lobby() as one, house.lobby() as other:
        table = await told(one)
        for lobby in (one, other, one):
            assert await again(lobby) == table
    async with house.lobby() as late:
        assert await again(late) == table
        engine.finished.add(table.table_id)
        await late.reconciler.finish_tables()
        found = await again(late)
    assert (found.table_id, found.state) == (table.table_id, TableState.FINISHED)
    assert list(engine.opened) == [table.table_id]


@pytest.mark.parametrize("name", [NAME, "another wish", ""])
async def test_a_game_that_was_over_before_it_was_told_is_told_to_the_wish_that_led_to_it(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock, name: str
) -> None:
    table = await told_to_bob(lobby)
    engine.finished.add(table.table_id)
    await lobby.reconciler.finish_tables()
    clock.advance(60)
    await lobby.reconciler.forget()
    if name == NAME:
        assert (await again(lobby)).table_id == table.table_id
    else:
        assert await waits(lobby, name) == 1


async def test_a_table_that_still_runs_and_was_not_told_waits_for_its_player(lobby: Lobby, clock: FakeClock) -> None:
    table = await told_to_bob(lobby)
    clock.advance(3600)
    await lobby.reconciler.forget()
    assert await again(lobby, "another wish") == table
    assert await waits(lobby, "") == 1


@pytest.mark.parametrize(("first", "second"), [(NAME, "another wish"), (NAME, ""), ("", NAME), ("", "")])
async def test_a_new_wish_right_after_a_told_one_gets_a_new_table(lobby: Lobby, first: str, second: str) -> None:
    table = await told(lobby, first)
    async with running(lobby):
        calls = [lobby.matching.quick_match(ADA, TWO, b"", second), lobby.matching.quick_match(EVE, TWO, b"")]
        one, same = await asyncio.gather(*(seated(call) for call in calls))
    assert one == same
    assert one.table_id != table.table_id


async def test_the_newest_name_of_a_wish_counts(lobby: Lobby) -> None:
    assert await waits(lobby, "an older name") == 1
    table = await told(lobby)
    assert await again(lobby) == table
    assert await waits(lobby, "an older name") == 1


async def test_whoever_was_told_does_not_wait_and_is_not_matched(lobby: Lobby, engine: FakeEngine) -> None:
    await told(lobby)
    repeated = lobby.matching.quick_match(ADA, TWO, b"", NAME)
    asking = asyncio.ensure_future(anext(repeated))
    eve = lobby.matching.quick_match(EVE, TWO, b"")
    assert (await following(eve)).waiting == 1
    async with running(lobby):
        assert (await asking).table
    await match_all(lobby)
    assert len(engine.opened) == 1


@on_both_databases
async def test_told_tickets_are_forgotten_in_time(lobby: Lobby, clock: FakeClock, database: AsyncEngine) -> None:
    table = await told(lobby)
    await match_all(lobby)
    for _ in range(2):
        # Whoever asks again in time, may ask for as long once more.
        clock.advance(MATCHED_SECONDS - 1)
        await lobby.reconciler.forget()
        assert await again(lobby) == table
        await match_all(lobby)
    clock.advance(MATCHED_SECONDS + 1)
    await lobby.reconciler.forget()
    async with database.connect() as connection:
        assert (await connection.execute(text("SELECT count(*) FROM lobby_tickets"))).scalar() == 0


async def test_a_table_that_is_told_at_the_very_moment_of_a_new_wish_does_not_answer_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tickets, attend_again = TicketStore(store), TicketStore.attend_again

    def ticket(number: int, ticket_id: str, name: str) -> Ticket:
        return Ticket(ticket_id, player(number).player_id, "", TWO, b"", START, request_id=name)

    for number in (1, 2):
        await tickets.take(ticket(number, f"t{number}", NAME), f"s{number}", START)
    assert await tickets.match(TWO, START, lambda _: forming_table(state=TableState.PLAYING))

    async def attend_again_too_late(self: TicketStore, held: Ticket, wanted: Ticket, stream_id: str, now: int) -> bool:
        await self.deliver("s1", START)
        return await attend_again(self, held, wanted, stream_id, now)

    monkeypatch.setattr(TicketStore, "attend_again", attend_again_too_late)
    new = ticket(1, "t3", "another wish")
    assert await tickets.take(new, "s3", START) == new


async def test_whoever_calls_while_others_are_looked_up_is_told_his_table_and_nothing_before(
    lobby: Lobby, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = await told(lobby)
    others, repeated = await waiting(lobby, EVE), lobby.matching.quick_match(ADA, TWO, b"", NAME)
    outcomes, calls = TicketStore.outcomes, list[asyncio.Future[MatchNews]]()

    async def and_ada_calls(store: TicketStore, stream_ids: Collection[str]) -> dict[str, Table | None]:
        found = await outcomes(store, stream_ids)
        calls.append(asyncio.ensure_future(anext(repeated)))
        await until_streams(lobby, 1 + len(others))
        return found

    with monkeypatch.context() as patch:
        patch.setattr(TicketStore, "outcomes", and_ada_calls)
        await lobby.matching.tick()
    await lobby.matching.tick()
    assert (await calls[0]).table == table
