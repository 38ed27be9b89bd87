"""The lobby's schema: what migrations make is what the code expects, and tickets from before are served."""

import sqlite3
from contextlib import closing
from pathlib import Path

from croupier.lobby.schema import METADATA, VERSION_TABLE
from croupier.lobby.store import Store
from croupier.lobby.ticket_store import TicketStore
from croupier.lobby.tickets import Ticket, Wish
from tests.lobby.fakes import START, player
from tests.migrations import differences, migrated, up_to_date

PACKAGE = "croupier.lobby"
ADA = player(1)


def ticket_row(ticket_id: str, player_id: str, table_id: str | None) -> tuple[object, ...]:
    """A ticket as the first version had it."""
    return ticket_id, player_id, "", "pairs", 2, b"", START, START, None, table_id


async def test_migrations_make_the_schema_that_the_code_expects(empty_url: str) -> None:
    async with up_to_date(empty_url, PACKAGE) as database, database.connect() as connection:
        assert await connection.run_sync(differences, METADATA, VERSION_TABLE) == []


async def test_a_ticket_of_the_first_version_keeps_its_place(tmp_path: Path) -> None:
    file = tmp_path / "old.db"
    migrated(file, PACKAGE, "+0001")
    with closing(sqlite3.connect(file)) as connection, connection:
        row = ticket_row("old", ADA.player_id, None)
        connection.execute("INSERT INTO lobby_tickets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    async with up_to_date(f"sqlite:///{file}", PACKAGE) as database:
        tickets, wish = TicketStore(Store(database)), Wish("pairs", 2)
        held = await tickets.take(Ticket("new", ADA.player_id, "Ada", wish, b"", START, request_id="r"), "s", START)
        assert (held.ticket_id, held.told) == ("old", False)
        assert await tickets.waiting(START) == {wish: 1}


def test_the_way_back_keeps_tickets_whose_table_was_not_told(tmp_path: Path) -> None:
    file = tmp_path / "old.db"
    migrated(file, PACKAGE, "+head")
    with closing(sqlite3.connect(file)) as connection, connection:
        for number, told in ((1, True), (2, False)):
            row = (*ticket_row(f"t{number}", player(number).player_id, "a table"), "a name", told)
            connection.execute("INSERT INTO lobby_tickets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    migrated(file, PACKAGE, "-0001", "+head")
    with closing(sqlite3.connect(file)) as connection:
        kept = connection.execute("SELECT ticket_id, request_id, told FROM lobby_tickets").fetchall()
    assert kept == [("t2", "", 0)]
