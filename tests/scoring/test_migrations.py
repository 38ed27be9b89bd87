"""The ledger's schema: what migrations make is what the code expects, and rounds from before stay readable."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from croupier.scoring.ledger import Count, Ledger, Result, Round, Seat, Sheet
from croupier.scoring.records import Records
from croupier.scoring.schema import METADATA
from croupier.scoring.standings import Statistics
from tests.databases import on_both_databases
from tests.migrations import differences, migrated, up_to_date

PACKAGE = "croupier.scoring"
SHEET = Sheet("t1", "110", (Seat("anna", "Anna", ""), Seat("ben", "Ben", "")))


def enter_as_the_first_version_did(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            'INSERT INTO sheets VALUES (\'t1\', \'110\', \'[["anna", "Anna", ""], ["ben", "Ben", ""]]\')'
        )
        connection.execute("INSERT INTO rounds VALUES ('t1', 1, '[3, 0]', '[3, 0]', '[\"won\", \"\"]')")


@pytest.mark.parametrize("way", [(), ("+head", "-0001")])
async def test_a_ledger_of_the_first_version_goes_on_also_after_the_way_back(
    tmp_path: Path, way: tuple[str, ...]
) -> None:
    file = tmp_path / "old.db"
    migrated(file, PACKAGE, "+0001")
    enter_as_the_first_version_did(file)
    migrated(file, PACKAGE, *way)
    first = Round(1, (3, 0), (3, 0), ("won", ""))
    second = Round(2, (1, 1), (4, 1), (), "bid of 30", (("trump", "S"),), (Count("bids_won", 1, 1),))
    async with up_to_date(f"sqlite:///{file}", PACKAGE) as database:
        ledger = Ledger(database)
        assert not await ledger.enter_round(SHEET, first)
        assert await ledger.enter_round(SHEET, second)
        await ledger.enter_result(SHEET, Result(((0,), (1,)), (4, 1), 1_790_000_000_000))
        assert (await ledger.score_sheet("t1")).rounds == (first, second)
        assert await Records(database).statistics("anna") == (Statistics("110", 1, 1, 1),)
        assert await Records(database).statistics("ben") == (Statistics("110", 1, 0, 2, (("bids_won", 1),)),)


@on_both_databases
async def test_migrations_make_the_schema_that_the_code_expects(database_url: str) -> None:
    async with up_to_date(database_url, PACKAGE) as database, database.connect() as connection:
        assert await connection.run_sync(differences, METADATA, "scoring_schema_version") == []
