"""The unfinished tables whose rules are not installed."""

from dataclasses import replace

from croupier.engine.storage.port import TableChange, append_durably
from croupier.engine.storage.sql_store import SqlTableStore
from croupier.engine.storage.unknown_rules import UnknownTable, tables_with_unknown_rules
from croupier.runtime.database.database import Database, open_database
from tests.engine.databases import entry
from tests.engine.fakes import START
from tests.engine.play import make_config

HEARTS = replace(make_config(table_id="h2"), game="hearts", package="croupier-hearts 1.2.0")


async def test_prepared_and_open_tables_of_other_games_and_versions_are_named(
    store: SqlTableStore, database: Database
) -> None:
    later = replace(make_config(table_id="t9"), rules_version=9)
    ended = replace(HEARTS, table_id="h3")
    for config in (make_config(), later, HEARTS, replace(HEARTS, table_id="h1", rules_version=3), ended):
        await store.prepare(config, START)
    for config in (later, ended):
        await store.open(config, [entry(1)])
    await append_durably(store, "h3", [entry(2)], TableChange(1, finished=True))
    assert await tables_with_unknown_rules(database) == [
        UnknownTable("h2", "hearts", 1, "croupier-hearts 1.2.0"),
        UnknownTable("h1", "hearts", 3, "croupier-hearts 1.2.0"),
        UnknownTable("t9", "thulla", 9, ""),
    ]


async def test_a_database_that_was_never_migrated_has_no_tables() -> None:
    database = open_database("sqlite:///:memory:")
    assert await tables_with_unknown_rules(database) == []
    await database.close()
