"""The migration to outcomes: wins stay as they counted, and stored games of Solo are counted again, without winners."""

import json
from collections import Counter
from typing import Any

from sqlalchemy import Connection, text

from croupier.runtime.database.database import open_database
from croupier.scoring.publication import publish_due
from croupier.scoring.standings import Scope, Statistics, places
from croupier.scoring.standings_store import StandingsStore
from tests.migrations import migrate_to, up_to_date
from tests.scoring.test_ledger import NO_WINNERS

PLAYERS = ("anna", "ben", "carl", "dora")
RESULTS: dict[str, tuple[str, tuple[tuple[int, ...], ...], tuple[int, ...]]] = {
    "the Buck": ("solo", ((0, 1, 2), (3,)), (36, 36, 36, 16)),
    "in the order of going out": ("solo", ((0, 2), (1,), (3,)), (36, 36, 36, 16)),
    "at a limit": ("solo", ((0,), (1, 2, 3)), (36, 10, 4, 0)),
    "void": ("solo", ((0, 1, 2, 3),), (30, 10, 4, 0)),
    "not published": ("solo", ((0, 1, 2), (3,)), (36, 36, 36, 16)),
    "with winners": ("jossing", ((1, 3), (0, 2)), (36, 36, 36, 16)),
    "void too": ("jossing", ((0, 1, 2, 3),), (1, 1, 1, 1)),
}
"""Game, ranking and totals by table."""
LEFT = {("not published", "ben"), ("at a limit", "ben")}
DELETED = {"games": 2, "wins": 1, "places": 5}
"""The sums of Anna's games of Solo whose results have been deleted: a first and a last place."""
NOW = 100


def insert(connection: Connection, table: str, **row: Any) -> None:
    columns, values = ", ".join(row), ", ".join(f":{name}" for name in row)
    connection.execute(text(f"INSERT INTO {table} ({columns}) VALUES ({values})"), row)  # noqa: S608 - names of this file


def store_results(connection: Connection) -> None:
    """Store the results and their standings as the version before did."""
    sums = {("anna", "solo", scope): Counter(DELETED) for scope in Scope}
    for table_id, (game, ranking, totals) in RESULTS.items():
        is_published, is_void = table_id != "not published", "void" in table_id
        both: dict[str, Any] = {"table_id": table_id, "game": game, "end_milliseconds": 10}
        both |= {"is_public": is_published, "is_ranked": not is_void}
        insert(connection, "sheets", table_id=table_id, game=game, seats="[]", visibility="public")
        stored = {"ranking": json.dumps(ranking), "totals": json.dumps(totals), "is_void": is_void}
        insert(connection, "results", **both, **stored, publish_milliseconds=None if is_published else NOW)
        for seat, place in enumerate(places(ranking)):
            has_left = (table_id, PLAYERS[seat]) in LEFT
            counted = {"place": 4 if has_left else place, "won": place == 1 and not has_left, "has_left": has_left}
            insert(connection, "result_players", **both, **counted, player_id=PLAYERS[seat], name="", seat=seat)
            for scope in () if is_void else Scope if is_published else (Scope.ALL,):
                games = Counter(games=1, wins=counted["won"], places=counted["place"], left=has_left)
                sums.setdefault((PLAYERS[seat], game, scope), Counter()).update(games)
    for (player_id, game, scope), one in sums.items():
        row: dict[str, Any] = {"minus_wins": -one["wins"], "minus_games": -one["games"], "place_sum": one["places"]}
        row |= {"average_place": one["places"] / one["games"], "games_left": one["left"]}
        insert(connection, "standings", player_id=player_id, game=game, scope=scope.value, **row)
    for player_id in PLAYERS:
        insert(connection, "player_names", player_id=player_id, name="", end_milliseconds=10, table_id="")


def solo(games: int, escaped: int, place_sum: int, left: int = 0) -> Statistics:
    return Statistics("solo", games, escaped, place_sum, games_left=left, standing=NO_WINNERS)


async def test_stored_games_of_solo_count_as_escaped_or_as_the_buck(empty_url: str) -> None:
    old = open_database(empty_url)
    await migrate_to(old, "croupier.scoring", "0005")
    await old.write(store_results)
    await old.close()
    async with up_to_date(empty_url, "croupier.scoring") as database:
        standings = StandingsStore(database)
        # The one at a limit does not count; in the one that Ben left he does not escape.
        expected = [solo(5, 4, 8), solo(3, 2, 8, left=1), solo(3, 3, 3), solo(3, 0, 12)]
        won, lost = Statistics("jossing", 1, 1, 1), Statistics("jossing", 1, 0, 3)
        for player_id, own, jossing in zip(PLAYERS, expected, (lost, won, lost, won), strict=True):
            assert await standings.statistics(player_id, Scope.ALL) == (jossing, own)
        ranked = {"ben": solo(2, 2, 4), "carl": solo(2, 2, 2), "anna": solo(4, 3, 7), "dora": solo(2, 0, 8)}
        board = await standings.leaderboard("solo", None, 10)
        assert {line.player_id: line.statistics for line in board} == ranked
        assert [line.player_id for line in board] == list(ranked)
        others = await standings.leaderboard("jossing", None, 10)
        assert [line.player_id for line in others] == ["ben", "dora", "anna", "carl"]
        shown = {sheet.table_id: result for sheet, result in await standings.results("", "", None, 10, caller_id="")}
        assert [name for name, result in shown.items() if not result.is_ranked] == ["void too", "void", "at a limit"]
        await publish_due(database, lambda: NOW)
        for player_id, own in zip(PLAYERS, expected, strict=True):
            assert (await standings.statistics(player_id, Scope.RANKED))[-1] == own
