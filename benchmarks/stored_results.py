"""Databases with any number of results and tables, made by SQL instead of games."""

from sqlalchemy import Connection, text

from croupier.runtime.database.database import Database
from croupier.scoring.schema import GAME_STANDINGS, PLAYER_NAMES, STANDING_COUNTS, STANDINGS

FIRST_END = 1_790_000_000_000
HEAVY_PLAYER = "heavy"
"""This player has every tenth result."""
RESULTS_OF_A_PLAYER = 40
"""The average of all others; four play at each table."""

# Multiplied by a large odd number, ids have no order, as those of real tables. Half of the results are public, and all
# of those ranked. Places depend on the player, so that wins differ.
_TABLES = """INSERT INTO {into} WITH RECURSIVE made(i) AS (
    SELECT CAST(:first AS BIGINT) UNION ALL SELECT i + 1 FROM made WHERE i < :last
), named(i, id, game) AS (
    SELECT i, 't' || ((i * 2654435761) % 4294967296), 'game_' || (i / 2 % 5) FROM made
) """
_SHEETS = """SELECT id, game, '[["a", "Anna", ""], ["b", "Ben", ""], ["c", "Carl", ""], ["d", "Dora", ""]]',
    CASE i % 2 WHEN 0 THEN 'public' ELSE 'seated' END, 'nobody' FROM named"""
_RESULTS = """SELECT id, '[[0], [1], [2], [3]]', '[9, 5, 3, 1]', :end + i * 1000,
    '[[0, false], [1, false], [0, false], [0, false]]', game, i % 2 = 0 FROM named"""
_RESULT_PLAYERS = """, seats(seat) AS (SELECT 0 UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3),
seated(i, id, game, seat, number) AS (
    SELECT i, id, game, seat, (i * 4 + seat + i / (:players / 4) * seat) % :players FROM named CROSS JOIN seats
) SELECT id, CASE WHEN seat = 0 AND i % 10 = 0 THEN :heavy ELSE 'p' || seat || '-' || number END, 'Player ' || number,
    game, seat, (seat + number % 4) % 4 + 1, CASE (seat + number % 4) % 4 WHEN 0 THEN 'won' ELSE 'lost' END,
    :end + i * 1000, i % 2 = 0, i % 2 = 0
FROM seated"""
_LOBBY_TABLES = """SELECT id, 3,
    CASE i % 100 WHEN 0 THEN 'FORMING' WHEN 2 THEN 'PLAYING' ELSE 'FINISHED' END, game, 1, '{}',
    '{"action_seconds": 30, "reserve_seconds": 60, "bot_delay_milliseconds": 0}',
    '[{}, {}, {}, {}]', '[]', 'p' || (i % 1000), CASE i % 2 WHEN 0 THEN 'public' ELSE 'seated' END, 'nobody', 0, '[]',
    :no, 'c', :end + i * 1000, :end + i * 1000 FROM named"""
_FILLS = {
    "sheets (table_id, game, seats, visibility, watch_policy)": _SHEETS,
    "results (table_id, ranking, totals, end_milliseconds, conduct, game, is_public)": _RESULTS,
    "result_players (table_id, player_id, name, game, seat, place, outcome, end_milliseconds, is_public, is_ranked)":
        _RESULT_PLAYERS,
    "lobby_tables (table_id, version, state, game, rules_version, options, time_control, seats, teams, host_player_id,"
    " visibility, watch_policy, watch_delay_seconds, removed_players, is_matched, seed_commitment,"
    " created_milliseconds, updated_milliseconds)": _LOBBY_TABLES,
}  # fmt: skip
"""By table and columns the query of their rows."""
_STANDINGS = """INSERT INTO standings (player_id, scope, game, games_counted, minus_figure, average_place, minus_games,
    place_sum)
SELECT player_id, :scope, game, wins, -wins, CAST(places AS DOUBLE PRECISION) / games, -games, places FROM (
    SELECT player_id, game, SUM(CASE outcome WHEN 'won' THEN 1 ELSE 0 END) AS wins, COUNT(*) AS games,
        SUM(place) AS places
    FROM result_players WHERE {is_in} GROUP BY player_id, game
) AS sums"""
_SCOPES = {"all": ":yes", "public": "is_public", "ranked": "is_ranked"}
_COUNTS = """INSERT INTO standing_counts SELECT player_id, scope, game, name, -minus_games FROM standings
CROSS JOIN (SELECT 'bids_made' AS name UNION ALL SELECT 'bids_won' UNION ALL SELECT 'bids_lost') AS names"""
_GAME_STANDINGS = """INSERT INTO game_standings
SELECT DISTINCT game, '[["won", "lost"], true, "games_won", false, true]' FROM standings"""
_NAMES = """INSERT INTO player_names SELECT player_id, MIN(name), MAX(end_milliseconds), MAX(table_id)
FROM result_players GROUP BY player_id"""


async def fill(database: Database, first: int, last: int) -> None:
    """Add the results and lobby tables of these numbers, and make the standings of all results so far."""
    # Not `database.write`, which has a deadline.
    await database.connections.write(lambda connection: _fill(connection, first, last))


def _fill(connection: Connection, first: int, last: int) -> None:
    is_postgresql = connection.dialect.name == "postgresql"
    if is_postgresql:
        for limit in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
            connection.execute(text(f"SET LOCAL {limit} = 0"))
    _insert_tables(connection, first, last)
    for table in (PLAYER_NAMES, STANDING_COUNTS, STANDINGS, GAME_STANDINGS):
        connection.execute(table.delete())
    for scope, is_in in _SCOPES.items():
        values = {"scope": scope, "yes": True} if is_in == ":yes" else {"scope": scope}
        connection.execute(text(_STANDINGS.format(is_in=is_in)), values)
    for statement in (_COUNTS, _GAME_STANDINGS, _NAMES):
        connection.execute(text(statement))
    if is_postgresql:
        # As autovacuum does.
        connection.execute(text("ANALYZE"))


def _insert_tables(connection: Connection, first: int, last: int) -> None:
    values = {
        "first": first,
        "last": last,
        "end": FIRST_END,
        "heavy": HEAVY_PLAYER,
        "players": max(8, last * 4 // RESULTS_OF_A_PLAYER),
        "no": False,
    }
    for into, rows in _FILLS.items():
        statement = _TABLES.format(into=into) + rows
        named = {name: value for name, value in values.items() if f":{name}" in statement}
        connection.execute(text(statement), named)
