"""The migrations of scoring create the schema that the code expects, and keep what earlier versions stored."""

from dataclasses import replace

import pytest
from alembic import command
from sqlalchemy import Connection, select, text
from sqlalchemy.exc import IntegrityError

from croupier.runtime.database.alembic_migrations import alembic_config
from croupier.runtime.database.database import open_database
from croupier.runtime.server.service import now_milliseconds
from croupier.runtime.table_access import SEATED
from croupier.scoring.ledger import Ledger, Result, Round, Seat, SeatConduct, SeatCount, Sheet
from croupier.scoring.publication import publish_due
from croupier.scoring.schema import METADATA, SHEETS
from croupier.scoring.standings import Scope, Statistics
from croupier.scoring.standings_store import StandingsStore
from croupier_api.v1.facts_pb2 import Phrase, RoundScore
from tests.databases import POSTGRESQL, execute
from tests.migrations import differences, migrated_from, up_to_date
from tests.scoring.deployment import score_sheet


async def test_migrations_create_the_schema_of_the_code(empty_url: str) -> None:
    async with up_to_date(empty_url, "croupier.scoring") as database:
        assert await database.read(differences, METADATA, "scoring_schema_version") == []


STORED_BY_0001 = (
    """INSERT INTO sheets VALUES ('a', 'thulla', '[["anna", "Anna", ""], ["ben", "Ben", ""]]'),
        ('b', 'thulla', '[["ben", "Ben", ""], ["anna", "Annie", ""]]'), ('c', 'jossing', '[["anna", "A.", ""]]')""",
    "INSERT INTO rounds VALUES ('a', 1, '[1, 0]', '[1, 0]', '[\"won\", \"\"]', 'a game', '[]', '[[\"wins\", 0, 2]]')",
    "INSERT INTO seat_counts VALUES ('a', 0, 'wins', 2), ('b', 1, 'wins', 5), ('c', 0, 'wins', 1)",
    "INSERT INTO results VALUES ('a', '[[0], [1]]', '[1, 0]', 10), ('b', '[[0, 1]]', '[0, 0]', 20)",
    """INSERT INTO result_players VALUES ('a', 'anna', 'Anna', 'thulla', 0, 1, :yes, 10),
        ('a', 'ben', 'Ben', 'thulla', 1, 2, :no, 10), ('b', 'ben', 'Ben', 'thulla', 0, 1, :yes, 20),
        ('b', 'anna', 'Annie', 'thulla', 1, 1, :yes, 20)""",
)


def store_as_0001(connection: Connection) -> None:
    command.upgrade(alembic_config(connection, "croupier.scoring"), "0001")
    for statement in STORED_BY_0001:
        values = {"yes": True, "no": False} if ":yes" in statement else {}
        connection.execute(text(statement), values)


async def test_stored_results_become_seated_and_unranked_and_stay_in_the_statistics(empty_url: str) -> None:
    old = open_database(empty_url)
    await old.write(store_as_0001)
    await old.close()
    async with up_to_date(empty_url, "croupier.scoring") as database:
        ledger, standings = Ledger(database, now_milliseconds), StandingsStore(database)
        sheet = Sheet("a", "thulla", (Seat("anna", "Anna", ""), Seat("ben", "Ben", "")), SEATED)
        first = Round(1, (1, 0), (1, 0), counts=(SeatCount("wins", 0, 2),))
        result = Result(((0,), (1,)), (1, 0), 10)
        found = await score_sheet(ledger, "a")
        assert (found.sheet, found.rounds, found.result) == (sheet, (first,), result)
        anna, ben = Statistics("thulla", 2, 2, 2, (("wins", 7),)), Statistics("thulla", 2, 1, 3)
        assert [await standings.statistics(player_id, Scope.ALL) for player_id in ("anna", "ben")] == [(anna,), (ben,)]
        assert [await standings.statistics("anna", scope) for scope in (Scope.PUBLIC, Scope.RANKED)] == [(), ()]
        assert await standings.leaderboard("thulla", None, 10) == ()
        lists = [await standings.results("thulla", "anna", None, 10, caller_id=caller) for caller in ("anna", "ben")]
        assert [[sheet.table_id for sheet, _ in found] for found in lists] == [["b", "a"], []]
        # Reports that were due before the migration are repeated, with texts and conduct, and then others follow.
        texts = RoundScore(headline=[Phrase(word="best_of")]).SerializeToString()
        played = Result(result.ranking, result.totals, 10, (SeatConduct(1, False), SeatConduct(0, False)))
        repeated = replace(first, texts=texts)
        assert [await ledger.record_round(sheet, repeated), await ledger.record_result(sheet, played)] == [False, False]
        late = Sheet("c", "jossing", (Seat("anna", "A.", ""),), SEATED)
        assert await ledger.record_result(late, Result(((0,),), (0,), 30))
        assert await standings.statistics("anna", Scope.ALL) == (Statistics("jossing", 1, 1, 1, (("wins", 1),)), anna)


async def test_stored_sheets_count_as_reported_at_the_migration(empty_url: str) -> None:
    began = now_milliseconds()
    sheets = text("INSERT INTO sheets (table_id, game, seats, visibility) VALUES (:id, 'solo', '[]', 'public')")
    async with migrated_from(empty_url, "croupier.scoring", "0002", sheets, [{"id": "a"}]) as database:
        # By a scoring of the version before.
        await execute(database, sheets, [{"id": "b"}])
        (first,), (second,) = await execute(database, select(SHEETS.c.reported_milliseconds))
        assert began <= first == second <= now_milliseconds()


@pytest.mark.parametrize("empty_url", [POSTGRESQL], indirect=True)
async def test_a_scoring_of_the_version_before_stores_no_sheet_of_unknown_access(empty_url: str) -> None:
    """It would contradict later reports of the table, which scoring would reject for ever; engines repeat an error."""
    insert = text("INSERT INTO sheets (table_id, game, seats) VALUES ('a', 'solo', '[]') ON CONFLICT DO NOTHING")
    async with up_to_date(empty_url, "croupier.scoring") as database:
        await Ledger(database, now_milliseconds).record_result(Sheet("a", "solo", ()), Result((), (), 10))
        with pytest.raises(IntegrityError, match="visibility"):
            await execute(database, insert)


STORED_BY_0003 = (
    """INSERT INTO sheets (table_id, game, seats, visibility, watch_policy, is_matched)
        VALUES (:id, 'thulla', '[["anna", "Anna", ""], ["ben", "Ben", ""]]', 'public', 'anyone', :no)""",
    """INSERT INTO results (table_id, ranking, totals, end_milliseconds, conduct, is_void, game, is_public)
        VALUES (:id, '[[0], [1]]', '[1, 0]', 10, '[[0, false], [1, true]]', :no, 'thulla', :yes)""",
    """INSERT INTO result_players
        (table_id, player_id, name, game, seat, place, won, end_milliseconds, is_public, is_ranked)
        VALUES (:id, 'anna', 'Anna', 'thulla', 0, 1, :yes, 10, :yes, :ranked)""",
    """INSERT INTO standings (player_id, scope, game, minus_wins, average_place, minus_games, place_sum)
        VALUES ('anna', :id, 'thulla', -1, 1, -1, 1)""",
)


def store_as_0003(connection: Connection) -> None:
    command.upgrade(alembic_config(connection, "croupier.scoring"), "0003")
    for table_id, is_ranked in (("ranked", True), ("public", False)):
        for statement in STORED_BY_0003:
            names = {"id": table_id, "yes": True, "no": False, "ranked": is_ranked}
            connection.execute(
                text(statement), {name: value for name, value in names.items() if f":{name}" in statement}
            )


async def test_stored_results_stay_public_and_ranked_as_they_counted(empty_url: str) -> None:
    old = open_database(empty_url)
    await old.write(store_as_0003)
    await old.close()
    async with up_to_date(empty_url, "croupier.scoring") as database:
        ledger, standings = Ledger(database, now_milliseconds), StandingsStore(database)
        found = {table_id: (await score_sheet(ledger, table_id)).result for table_id in ("ranked", "public")}
        assert {table_id: result and result.is_ranked for table_id, result in found.items()} == {
            "ranked": True,
            "public": False,
        }
        assert await standings.statistics("anna", Scope.RANKED) == (Statistics("thulla", 1, 1, 1),)
        assert len(await standings.results("", "", None, 10, caller_id="carl")) == 2
        await publish_due(database, now_milliseconds)
        assert await standings.statistics("anna", Scope.RANKED) == (Statistics("thulla", 1, 1, 1),)
