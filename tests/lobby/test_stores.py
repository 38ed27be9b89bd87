"""The stores keep their guarantees without the checks of the services that use them."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError

from croupier.lobby.matchmaking.tickets import MatchCriteria, Ticket, Waiting, matched_table
from croupier.lobby.storage.schema import METADATA, TABLES
from croupier.lobby.storage.seat_store import TableLimits
from croupier.lobby.storage.store import Store
from croupier.lobby.storage.table_store import TableStore
from croupier.lobby.storage.ticket_store import TicketStore
from croupier.lobby.tables.forming_table import Seat, Table, TableState
from croupier.runtime.database.database import Database
from croupier.runtime.table_access import TableAccess, Visibility, WatchPolicy
from tests.databases import execute, on_both_databases
from tests.lobby.fakes import START, USUAL, forming_table, player
from tests.query_plans import plan_of, scanned

TWO = MatchCriteria("pairs", 2)
LIMITS = TableLimits(of_player=20, of_network=500)


@pytest.fixture
def tables(store: Store) -> TableStore:
    return TableStore(store, LIMITS)


@pytest.fixture
async def tickets(store: Store) -> TicketStore:
    """Return a store with two waiting players."""
    tickets = TicketStore(store, LIMITS)
    for number in (1, 2):
        ticket = Ticket(f"t{number}", player(number).player_id, "", TWO, b"", START + number)
        await tickets.get_or_create(ticket, f"s{number}", START)
    return tickets


def with_table_id(table_id: str) -> Callable[[Sequence[Ticket]], Table]:
    """Return a function that makes the table of a match."""
    return partial(matched_table, table_id, USUAL, "", START)


@on_both_databases
async def test_a_table_is_read_as_it_was_stored(tables: TableStore) -> None:
    bot = Seat(name="Bot 2", bot="clever", is_ready=True)
    person = Seat("b" * 32, "Åse 🂡", is_ready=True, client_seed=b"\0\xff")
    access = TableAccess(Visibility.LINK, WatchPolicy.LINK, 300, ("a" * 32, "ø"), is_matched=True)
    table = forming_table(4, access=access, invite_code="ABCD2345", rules_version=3, teams=((0, 2), (1, 3)))
    table = replace(table, options={"rounds": 3, "open": True, "scoring": "short"})
    table = replace(table, seats=(table.seats[0], bot, table.seats[2], person))
    await tables.add(table)
    assert await tables.get(table.table_id) == table
    assert await tables.get_by_invite_code("ABCD2345") == table
    assert await tables.get("unknown") is None


@on_both_databases
async def test_fields_of_a_later_version_are_ignored_and_its_columns_kept(
    database: Database, tables: TableStore
) -> None:
    table = forming_table()
    await tables.add(table)
    (row,) = await execute(database, select(TABLES.c.seats, TABLES.c.time_control))
    seats = [{**row.seats[0], "newest": [1]}, {"newest": 2, "client_seed": ""}]
    newer = {"seats": seats, "time_control": {**row.time_control, "newest_seconds": 3}}
    await execute(database, "ALTER TABLE lobby_tables ADD COLUMN newest INTEGER DEFAULT 4")
    await execute(database, update(TABLES).values(newer))
    assert await tables.get(table.table_id) == table
    assert await tables.update(table, replace(table, version=2))
    (stored,) = await execute(database, "SELECT newest, seats, time_control FROM lobby_tables")
    assert stored.newest == 4
    assert "newest" not in f"{stored.seats} {stored.time_control}"


async def test_no_page_of_own_tables_scans_a_table_or_sorts_those_that_have_ended(
    database: Database, tables: TableStore
) -> None:
    for has_ended, before in product((False, True), (None, (START, "t"))):
        steps = await plan_of(database, partial(tables.list_own, "p", has_ended, before, 50))
        assert not scanned(steps, METADATA.tables)
        assert "lobby_seats_by_player" in steps[0]
        assert any("TEMP B-TREE" in step for step in steps) != has_ended
    steps = await plan_of(database, partial(tables.ids_of_running, "p"))
    assert not scanned(steps, METADATA.tables)


async def test_no_page_of_public_tables_scans_the_table(database: Database, tables: TableStore) -> None:
    for game, before in (("", None), ("pairs", None), ("", (START, "t")), ("pairs", (START, "t"))):
        page = partial(tables.list_public, game, list(TableState), before, 50)
        steps = await plan_of(database, page)
        assert steps
        assert not scanned(steps, METADATA.tables)


@on_both_databases
async def test_a_change_of_an_older_version_is_refused(tables: TableStore) -> None:
    await tables.add(before := forming_table())
    first = forming_table(version=2, seed_commitment="first")
    assert await tables.update(before, first)
    assert not await tables.update(before, forming_table(version=2, seed_commitment="second"))
    assert not await tables.update(before, forming_table(number=2, version=2))
    assert await tables.get(first.table_id) == first


@on_both_databases
async def test_a_match_that_cannot_be_stored_seats_no_player(tables: TableStore, tickets: TicketStore) -> None:
    taken = forming_table()
    await tables.add(taken)
    with pytest.raises(IntegrityError):
        await tickets.match(TWO, START, with_table_id(taken.table_id))
    assert await tickets.count_waiting(START) == {TWO: Waiting(2)}
    assert await tickets.match(TWO, START, with_table_id("m"))
    assert await tickets.count_waiting(START) == {}
    assert await tickets.match(TWO, START, with_table_id("n")) is None


async def test_a_match_of_which_another_process_took_a_ticket_seats_no_player(
    tables: TableStore, tickets: TicketStore, database_file: Path
) -> None:
    def make_while_another_takes(found: Sequence[Ticket]) -> Table:
        with closing(sqlite3.connect(database_file)) as connection, connection:
            connection.execute("UPDATE lobby_tickets SET table_id = 'other' WHERE ticket_id = 't1'")
        return with_table_id("m")(found)

    assert await tickets.match(TWO, START, make_while_another_takes) is None
    assert await tables.get("m") is None
    assert await tickets.count_waiting(START) == {TWO: Waiting(1)}
