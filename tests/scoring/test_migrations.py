"""The ledger's schema: what migrations make is what the code expects, and rounds from before stay readable."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from importlib.resources import files
from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.runtime.database import open_database
from croupier.runtime.schema_versions import check_schema, migrate
from croupier.scoring.ledger import Count, Ledger, Result, Round, Seat, Sheet
from croupier.scoring.records import Records
from croupier.scoring.schema import METADATA
from croupier.scoring.standings import Statistics

SHEET = Sheet("t1", "110", (Seat("anna", "Anna", ""), Seat("ben", "Ben", "")))


def migrated(path: Path, *revisions: str) -> None:
    """Go to one revision after the other, as the program goes to the last; a smaller one is a downgrade."""
    config = Config()
    config.set_main_option("script_location", str(files("croupier.scoring") / "migrations"))
    engine = create_engine(f"sqlite:///{path}")
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA foreign_keys=ON"))
    for revision in revisions:
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            (command.upgrade if revision.startswith("+") else command.downgrade)(config, revision[1:])
    engine.dispose()


@asynccontextmanager
async def up_to_date(url: str) -> AsyncIterator[AsyncEngine]:
    database = open_database(url)
    await migrate(database, "croupier.scoring")
    await check_schema(database, "croupier.scoring")
    yield database
    await database.dispose()


def enter_as_the_first_version_did(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            'INSERT INTO sheets VALUES (\'t1\', \'110\', \'[["anna", "Anna", ""], ["ben", "Ben", ""]]\')'
        )
        connection.execute("INSERT INTO rounds VALUES ('t1', 1, '[3, 0]', '[3, 0]', '[\"won\", \"\"]')")


async def test_a_ledger_of_the_first_version_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "old.db"
    migrated(file, "+0001")
    enter_as_the_first_version_did(file)
    first = Round(1, (3, 0), (3, 0), ("won", ""))
    second = Round(2, (1, 1), (4, 1), (), "bid of 30", (("trump", "S"),), (Count("bids_won", 1, 1),))
    async with up_to_date(f"sqlite:///{file}") as database:
        ledger = Ledger(database)
        assert not await ledger.enter_round(SHEET, first)
        assert await ledger.enter_round(SHEET, second)
        await ledger.enter_result(SHEET, Result(((0,), (1,)), (4, 1), 1_790_000_000_000))
        assert (await ledger.score_sheet("t1")).rounds == (first, second)
        assert await Records(database).statistics("anna") == (Statistics("110", 1, 1, 1),)
        assert await Records(database).statistics("ben") == (Statistics("110", 1, 0, 2, (("bids_won", 1),)),)


async def test_the_way_back_keeps_rounds(tmp_path: Path) -> None:
    file = tmp_path / "old.db"
    migrated(file, "+0001")
    enter_as_the_first_version_did(file)
    migrated(file, "+head", "-0001", "+head")
    async with up_to_date(f"sqlite:///{file}") as database:
        assert (await Ledger(database).score_sheet("t1")).rounds == (Round(1, (3, 0), (3, 0), ("won", "")),)


async def test_migrations_make_the_schema_that_the_code_expects(database_url: str) -> None:
    def differences(connection: Connection) -> list[object]:
        def is_ours(_object: object, name: str | None, *_: object) -> bool:
            return name != "scoring_schema_version"

        context = MigrationContext.configure(connection, opts={"include_object": is_ours, "compare_type": True})
        return list(compare_metadata(context, METADATA))

    async with up_to_date(database_url) as database, database.connect() as connection:
        assert await connection.run_sync(differences) == []
