"""Access, conduct and void results; standings and lists that cost the same with any number of results.

Access and conduct of stored tables are not known, so they are seated and unranked: only their players see them.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    _extend_sheets()
    _extend_results()
    _extend_result_players()
    _create_standings()
    _fill_standings()
    if op.get_bind().dialect.name == "postgresql":
        # A scoring of the version before that still runs would store sheets of unknown access, to which later reports
        # are in conflict, and results without standings. Now it stores no sheet, and the engine repeats the report.
        op.alter_column("sheets", "visibility", server_default=None)


def _extend_sheets() -> None:
    op.add_column("sheets", sa.Column("visibility", sa.String(16), nullable=False, server_default="seated"))
    op.add_column("sheets", sa.Column("watch_policy", sa.String(16), nullable=False, server_default="nobody"))
    op.add_column("sheets", sa.Column("watch_delay_seconds", sa.Integer, nullable=False, server_default="0"))
    op.add_column("sheets", sa.Column("removed_players", sa.Text, nullable=False, server_default="[]"))
    op.add_column("sheets", sa.Column("is_matched", sa.Boolean, nullable=False, server_default=sa.false()))


def _extend_results() -> None:
    op.add_column("results", sa.Column("conduct", sa.Text, nullable=False, server_default="[]"))
    op.add_column("results", sa.Column("is_void", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("results", sa.Column("game", sa.String(32), nullable=False, server_default=""))
    op.add_column("results", sa.Column("is_public", sa.Boolean, nullable=False, server_default=sa.false()))
    op.execute("UPDATE results SET game = (SELECT sheets.game FROM sheets WHERE sheets.table_id = results.table_id)")
    op.drop_index("results_by_time", "results")
    op.create_index("results_by_visibility", "results", ["is_public", "end_milliseconds", "table_id"])
    op.create_index("results_by_game", "results", ["is_public", "game", "end_milliseconds", "table_id"])


def _extend_result_players() -> None:
    op.add_column("result_players", sa.Column("is_public", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("result_players", sa.Column("is_ranked", sa.Boolean, nullable=False, server_default=sa.false()))
    op.drop_index("result_players_by_game", "result_players")
    op.drop_index("result_players_by_player", "result_players")
    order = ["end_milliseconds", "table_id"]
    op.create_index("result_players_by_player", "result_players", ["player_id", "is_public", *order])
    op.create_index("result_players_by_game", "result_players", ["player_id", "is_public", "game", *order])


def _create_standings() -> None:
    op.create_table(
        "standings",
        sa.Column("player_id", sa.String(64), primary_key=True),
        sa.Column("scope", sa.String(8), primary_key=True),
        sa.Column("game", sa.String(32), primary_key=True),
        sa.Column("minus_wins", sa.BigInteger, nullable=False),
        sa.Column("average_place", sa.Double, nullable=False),
        sa.Column("minus_games", sa.BigInteger, nullable=False),
        sa.Column("place_sum", sa.BigInteger, nullable=False),
    )
    columns = ["scope", "game", "minus_wins", "average_place", "minus_games", "player_id"]
    op.create_index("standings_in_order", "standings", columns)
    op.create_table(
        "standing_counts",
        sa.Column("player_id", sa.String(64), primary_key=True),
        sa.Column("scope", sa.String(8), primary_key=True),
        sa.Column("game", sa.String(32), primary_key=True),
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("amount", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "player_names",
        sa.Column("player_id", sa.String(64), primary_key=True),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("end_milliseconds", sa.BigInteger, nullable=False),
        sa.Column("table_id", sa.String(64), nullable=False),
    )


def _fill_standings() -> None:
    op.execute(
        """INSERT INTO standings (player_id, scope, game, minus_wins, average_place, minus_games, place_sum)
        SELECT player_id, 'all', game, -SUM(CASE WHEN won THEN 1 ELSE 0 END),
            CAST(SUM(place) AS DOUBLE PRECISION) / COUNT(*), -COUNT(*), SUM(place)
        FROM result_players GROUP BY player_id, game"""
    )
    op.execute(
        """INSERT INTO standing_counts (player_id, scope, game, name, amount)
        SELECT player.player_id, 'all', player.game, counted.name, SUM(counted.amount)
        FROM result_players AS player
        JOIN seat_counts AS counted ON counted.table_id = player.table_id AND counted.seat = player.seat
        GROUP BY player.player_id, player.game, counted.name"""
    )
    op.execute(
        """INSERT INTO player_names (player_id, name, end_milliseconds, table_id)
        SELECT player_id, name, end_milliseconds, table_id FROM (
            SELECT player_id, name, end_milliseconds, table_id, ROW_NUMBER() OVER (
                PARTITION BY player_id ORDER BY end_milliseconds DESC, table_id DESC
            ) AS number FROM result_players
        ) AS numbered WHERE number = 1"""
    )
