"""The rows that a fault run adds to a record: one snapshot, from the log or the archive."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection, connect

import pytest
from sqlalchemy import Connection as SnapshotConnection
from sqlalchemy import create_engine

from croupier.engine.storage.schema import METADATA
from croupier.scoring.schema import METADATA as SCORING_METADATA
from croupier_loadtest.faults.rows import Databases, add_rows, in_snapshot, stored_table
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.record import Ledger, Outage, SeatRecord, StoredEntry, StoredTable, TableRecord
from tests.engine.folds import packed_rows

TABLE = ("t", "open", "solo", 1, "{}", b"seed")
ENTRIES = [("t", 1, 10, 20, "{}"), ("t", 2, 15, 25, '{"t": "compensate", "v": 1, "milliseconds": 5}')]
INSERT_ENTRY = "INSERT INTO entries (table_id, sequence, at, deadline, body) VALUES (?, ?, ?, ?, ?)"


@pytest.fixture
def databases(tmp_path: Path) -> Databases:
    for name, metadata in {"engine": METADATA, "scoring": SCORING_METADATA}.items():
        engine = create_engine(f"sqlite:///{tmp_path}/{name}.db")
        metadata.create_all(engine)
        engine.dispose()
    with closing(connect(tmp_path / "engine.db")) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(
            "INSERT INTO tables (table_id, status, game, rules_version, config, seed, created_at, reports_due,"
            " reports_done, reports_at) VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, 0)",
            TABLE,
        )
        connection.executemany(INSERT_ENTRY, ENTRIES)
    return Databases(*(f"sqlite:///{tmp_path}/{name}.db" for name in ("engine", "scoring")))


def end_the_game(connection: Connection) -> None:
    connection.execute(INSERT_ENTRY, ("t", 3, 30, 0, "{}"))
    connection.execute("UPDATE tables SET status = 'finished'")
    connection.commit()


def archive(connection: Connection) -> None:
    log = packed_rows([row[1:] for row in ENTRIES])
    columns = "(table_id, game, rules_version, config, seed, finished_at, log)"
    values = ("t", "solo", 1, "{}", b"seed", 40, log)
    connection.execute(f"INSERT INTO archive {columns} VALUES (?, ?, ?, ?, ?, ?, ?)", values)  # noqa: S608 - a constant
    connection.execute("DELETE FROM entries")
    connection.execute("DELETE FROM tables")
    connection.commit()


def stored(status: str) -> StoredTable:
    return StoredTable(status, "solo", 1, "{}", b"seed", tuple(StoredEntry(*row[1:]) for row in ENTRIES))


@pytest.mark.parametrize("change", [end_the_game, archive])
def test_all_rows_are_of_one_snapshot(
    databases: Databases, tmp_path: Path, change: Callable[[Connection], None]
) -> None:
    def stored_before_and_after(snapshot: SnapshotConnection) -> tuple[StoredTable | None, StoredTable | None]:
        before = stored_table(snapshot, "t")
        with closing(connect(tmp_path / "engine.db")) as connection:
            change(connection)
        return before, stored_table(snapshot, "t")

    assert in_snapshot(databases.engine, stored_before_and_after) == (stored("open"), stored("open"))


def test_an_archived_table_is_read(databases: Databases, tmp_path: Path) -> None:
    with closing(connect(tmp_path / "engine.db")) as connection:
        archive(connection)
    assert in_snapshot(databases.engine, lambda snapshot: stored_table(snapshot, "t")) == stored("finished")


def test_a_record_gets_the_rows_of_its_table_and_all_outages(databases: Databases, tmp_path: Path) -> None:
    with closing(connect(tmp_path / "engine.db")) as connection, connection:
        connection.execute("INSERT INTO outages VALUES ('engine-1', 11, 14)")
    record = TableRecord("t", "solo", 4, viewers=[SeatRecord("p")])
    add_rows(databases, record)
    assert (record.stored, record.outages, record.ledger) == (stored("open"), (Outage(11, 14),), None)


def test_the_record_of_a_finished_table_gets_its_ledger(databases: Databases, tmp_path: Path) -> None:
    with closing(connect(tmp_path / "scoring.db")) as connection, connection:
        connection.execute(
            "INSERT INTO sheets (table_id, game, seats, visibility, reported_milliseconds)"
            " VALUES ('t', 'solo', '[]', 'public', 30)"
        )
        connection.execute(
            "INSERT INTO rounds (table_id, round, points, totals, texts, counts)"
            " VALUES ('t', 1, '[1, 2]', '[3, 4]', '', '[]')"
        )
        connection.execute("INSERT INTO seat_counts VALUES ('t', 1, 'wins', 5)")
        connection.execute(
            "INSERT INTO results (table_id, ranking, totals, end_milliseconds, conduct, is_void, game, is_public)"
            " VALUES ('t', '[[1], [0]]', '[3, 4]', 30, '[[2, true, true], [0, false]]', 0, 'solo', 1)"
        )
        connection.execute(
            "INSERT INTO result_players"
            " (table_id, player_id, name, game, seat, place, outcome, end_milliseconds, is_public, is_ranked)"
            " VALUES ('t', 'p', 'P', 'solo', 0, 2, 'buck', 30, 1, 0)"
        )
    record = TableRecord("t", "solo", 4, viewers=[SeatRecord("p")], is_finished=True)
    add_rows(databases, record)
    rounds, results, conduct = ((1, [1, 2], [3, 4]),), (([[1], [0]], [3, 4]),), ((2, True, True), (0, False, False))
    expected = Ledger(rounds, results, (("p", 2, "buck"),), ((1, "wins", 5),), 30, conduct)
    assert record.ledger == expected


def test_an_unknown_table_is_lost(databases: Databases) -> None:
    viewer = SeatRecord("p")
    add_rows(databases, TableRecord("other", "solo", 4, viewers=[viewer]))
    assert [reported.invariant for reported in viewer.reported] == [Invariant.TABLE_LOST]
