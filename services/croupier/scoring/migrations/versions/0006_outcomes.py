"""Outcomes of seats, how the results of each game count, and the figure that orders each leaderboard.

In most games the first group of a ranking has won, as before. Nobody wins a game of Solo: its stored results are
counted again, as escaped or as the Buck. A result has the Buck if all totals but one are 36. The others ended at a
limit, and no longer count.

Of results that have been deleted only the sums are known: a first place counts as escaped, any other as the Buck. That
is right, except with the option `ranking` as `out_order`, and for games that ended at a limit. Sums of the counts of
rounds stay as they are.
"""

import json

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

WON_OR_LOST = [["won", "lost"], True, "games_won", False, True]
ESCAPED_OR_BUCK = [["escaped", "buck"], False, "escape_rate", True, False]
OUT = 36
BATCH_SIZE = 1000
SCOPES = {
    "all": "1 = 1",
    "public": "player.is_public",
    "ranked": "player.is_ranked AND results.publish_milliseconds IS NULL",
}
"""By scope, which stored results it has counted."""


def upgrade() -> None:
    op.add_column("results", sa.Column("outcomes", sa.Text, nullable=False, server_default="[]"))
    op.add_column("result_players", sa.Column("outcome", sa.String(64), nullable=False, server_default=""))
    op.add_column("standings", sa.Column("minus_figure", sa.Double, nullable=False, server_default="0"))
    op.drop_index("standings_in_order", "standings")
    op.alter_column("standings", "minus_wins", new_column_name="games_counted")
    op.execute("UPDATE standings SET games_counted = -games_counted, minus_figure = games_counted")
    _create_game_standings()
    op.execute(
        """UPDATE result_players SET outcome = CASE WHEN won THEN 'won' ELSE 'lost' END WHERE game <> 'solo'
        AND NOT EXISTS (SELECT 1 FROM results WHERE results.table_id = result_players.table_id AND results.is_void)"""
    )
    _set_outcomes_of_solo()
    _count_solo_again()
    columns = ["scope", "game", "minus_figure", "average_place", "minus_games", "player_id"]
    op.create_index("standings_in_order", "standings", columns)
    op.drop_column("result_players", "won")


def _create_game_standings() -> None:
    op.create_table(
        "game_standings",
        sa.Column("game", sa.String(32), primary_key=True),
        sa.Column("standing", sa.Text, nullable=False),
    )
    connection = op.get_bind()
    insert = sa.text("INSERT INTO game_standings (game, standing) VALUES (:game, :standing)")
    for game in connection.scalars(sa.text("SELECT game FROM results UNION SELECT game FROM standings")).all():
        standing = ESCAPED_OR_BUCK if game == "solo" else WON_OR_LOST
        connection.execute(insert, {"game": game, "standing": json.dumps(standing)})


def _set_outcomes_of_solo() -> None:
    """Set the outcomes of stored results that have the Buck; of a player who left it is the Buck."""
    connection = op.get_bind()
    results = connection.execute(sa.text("SELECT table_id, totals FROM results WHERE game = 'solo' AND NOT is_void"))
    rows = []
    for table_id, text in results.all():
        totals = json.loads(text)
        if totals.count(OUT) == len(totals) - 1:
            outcomes = ["escaped" if total == OUT else "buck" for total in totals]
            rows += [{"id": table_id, "seat": seat, "outcome": outcome} for seat, outcome in enumerate(outcomes)]
    update = sa.text(
        """UPDATE result_players SET outcome = CASE WHEN has_left THEN 'buck' ELSE :outcome END
        WHERE table_id = :id AND seat = :seat"""
    )
    for first in range(0, len(rows), BATCH_SIZE):
        connection.execute(update, rows[first : first + BATCH_SIZE])


def _count_solo_again() -> None:
    for scope, is_in in SCOPES.items():
        op.execute(
            f"""UPDATE standings SET games_counted = games_counted + stored.escaped - stored.wins,
                minus_games = minus_games + stored.uncounted, place_sum = place_sum - stored.places,
                games_left = games_left - stored.left_games
            FROM (
                SELECT player.player_id AS player_id, SUM(CASE WHEN player.won THEN 1 ELSE 0 END) AS wins,
                    SUM(CASE player.outcome WHEN 'escaped' THEN 1 ELSE 0 END) AS escaped,
                    SUM(CASE player.outcome WHEN '' THEN 1 ELSE 0 END) AS uncounted,
                    SUM(CASE player.outcome WHEN '' THEN player.place ELSE 0 END) AS places,
                    SUM(CASE WHEN player.outcome = '' AND player.has_left THEN 1 ELSE 0 END) AS left_games
                FROM result_players AS player JOIN results ON results.table_id = player.table_id
                WHERE player.game = 'solo' AND NOT results.is_void AND {is_in} GROUP BY player.player_id
            ) AS stored
            WHERE standings.player_id = stored.player_id
                AND standings.game = 'solo' AND standings.scope = '{scope}'"""  # noqa: S608 - texts of this file
        )
    op.execute("DELETE FROM standings WHERE game = 'solo' AND minus_games = 0")
    op.execute(
        """UPDATE standings SET average_place = 0,
            minus_figure = CAST(games_counted AS DOUBLE PRECISION) / minus_games WHERE game = 'solo'"""
    )
    for table in ("results", "result_players"):
        op.execute(
            f"""UPDATE {table} SET is_ranked = false WHERE game = 'solo' AND is_ranked
                AND table_id IN (SELECT table_id FROM result_players WHERE game = 'solo' AND outcome = '')"""  # noqa: S608
        )
