"""The lobby's schema: what migrations make is what the code expects, and tickets from before are served."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from importlib.resources import files
from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.lobby.schema import METADATA, VERSION_TABLE
from croupier.lobby.store import Store
from croupier.lobby.ticket_store import TicketStore
from croupier.lobby.tickets import Ticket, Wish
from croupier.runtime.database import open_database
from croupier.runtime.schema_versions import check_schema, migrate
from tests.lobby.fakes import START, player

ADA = player(1)


def migrated(path: Path, *revisions: str) -> None:
    """Go to one revision after the other; one that begins with - is a way back."""
    config = Config()
    config.set_main_option("script_location", str(files("croupier.lobby") / "migrations"))
    engine = create_engine(f"sqlite:///{path}")
    for revision in revisions:
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            (command.upgrade if revision.startswith("+") else command.downgrade)(config, revision[1:])
    engine.dispose()


@asynccontextmanager
async def up_to_date(url: str) -> AsyncIterator[AsyncEngine]:
    database = open_database(url)
    await migrate(database, "croupier.lobby")
    await check_schema(database, "croupier.lobby")
    yield database
    await database.dispose()


def ticket_row(ticket_id: str, player_id: str, table_id: str | None) -> tuple[object, ...]:
    """A ticket as the first version had it."""
    return ticket_id, player_id, "", "pairs", 2, b"", START, START, None, table_id


async def test_migrations_make_the_schema_that_the_code_expects(empty_url: str) -> None:
    def differences(connection: Connection) -> list[object]:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "version_table": VERSION_TABLE})
        return list(compare_metadata(context, METADATA))

    async with up_to_date(empty_url) as database, database.connect() as connection:
        assert await connection.run_sync(differences) == []


async def test_a_ticket_of_the_first_version_keeps_its_place(tmp_path: Path) -> None:
    file = tmp_path / "old.db"
    migrated(file, "+0001")
    with closing(sqlite3.connect(file)) as connection, connection:
        row = ticket_row("old", ADA.player_id, None)
        connection.execute("INSERT INTO lobby_tickets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    async with up_to_date(f"sqlite:///{file}") as database:
        tickets, wish = TicketStore(Store(database)), Wish("pairs", 2)
        held = await tickets.take(Ticket("new", ADA.player_id, "Ada", wish, b"", START, request_id="r"), "s", START)
        assert (held.ticket_id, held.told) == ("old", False)
        assert await tickets.waiting(START) == {wish: 1}


def test_the_way_back_keeps_tickets_whose_table_was_not_told(tmp_path: Path) -> None:
    file = tmp_path / "old.db"
    migrated(file, "+head")
    with closing(sqlite3.connect(file)) as connection, connection:
        for number, told in ((1, True), (2, False)):
            row = (*ticket_row(f"t{number}", player(number).player_id, "a table"), "a name", told)
            connection.execute("INSERT INTO lobby_tickets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    migrated(file, "-0001", "+head")
    with closing(sqlite3.connect(file)) as connection:
        kept = connection.execute("SELECT ticket_id, request_id, told FROM lobby_tickets").fetchall()
    assert kept == [("t2", "", 0)]
