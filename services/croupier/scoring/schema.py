"""The ledger's tables in its database."""

import sqlalchemy as sa

METADATA = sa.MetaData()

SHEETS = sa.Table(
    "sheets",
    METADATA,
    sa.Column("table_id", sa.String(64), primary_key=True),
    sa.Column("game", sa.String(32), nullable=False),
    sa.Column("seats", sa.Text, nullable=False),  # JSON: [player_id, name, bot] by seat
    sa.Column("visibility", sa.String(16), nullable=False),
    sa.Column("watch_policy", sa.String(16), nullable=False, server_default="nobody"),
    sa.Column("watch_delay_seconds", sa.Integer, nullable=False, server_default="0"),
    sa.Column("removed_players", sa.Text, nullable=False, server_default="[]"),  # JSON: player ids
    sa.Column("is_matched", sa.Boolean, nullable=False, server_default=sa.false()),
    # Of the last report, since 1970 UTC. Sheets without result are deleted by it; all others are deleted sooner.
    sa.Column("reported_milliseconds", sa.BigInteger, nullable=False),
    sa.Index("sheets_by_report", "reported_milliseconds"),
)

ROUNDS = sa.Table(
    "rounds",
    METADATA,
    sa.Column("table_id", sa.String(64), sa.ForeignKey("sheets.table_id"), primary_key=True),
    sa.Column("round", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("points", sa.Text, nullable=False),  # JSON: by seat
    sa.Column("totals", sa.Text, nullable=False),  # JSON: by seat
    sa.Column("texts", sa.LargeBinary, nullable=False),  # encoded RoundScore: notes, headline and details
    sa.Column("counts", sa.Text, nullable=False),  # JSON: [name, seat, amount] in their order
)

# Sums of the counts of a table's rounds, updated in the transaction that records a round. Its result adds them to the
# standing counts of the players; a round that comes after the result adds its own.
SEAT_COUNTS = sa.Table(
    "seat_counts",
    METADATA,
    sa.Column("table_id", sa.String(64), sa.ForeignKey("sheets.table_id"), primary_key=True),
    sa.Column("seat", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("amount", sa.BigInteger, nullable=False),
)

RESULTS = sa.Table(
    "results",
    METADATA,
    sa.Column("table_id", sa.String(64), sa.ForeignKey("sheets.table_id"), primary_key=True),
    sa.Column("ranking", sa.Text, nullable=False),  # JSON: groups of seats, best first
    sa.Column("totals", sa.Text, nullable=False),  # JSON: by seat
    sa.Column("end_milliseconds", sa.BigInteger, nullable=False),  # since 1970 UTC
    sa.Column("conduct", sa.Text, nullable=False, server_default="[]"),  # JSON of SeatConduct by seat
    sa.Column("is_void", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("outcomes", sa.Text, nullable=False, server_default="[]"),  # JSON: by seat; empty if none was reported
    sa.Column("game", sa.String(32), nullable=False),
    sa.Column("is_public", sa.Boolean, nullable=False),  # whether all players see it: of a public table, and published
    sa.Column("is_ranked", sa.Boolean, nullable=False, server_default=sa.false()),
    # The time, since 1970 UTC, at which the watch delay of the table is over; null once the result is published.
    sa.Column("publish_milliseconds", sa.BigInteger),
    sa.Index("results_to_publish", "publish_milliseconds"),
    # There is none by time alone: PostgreSQL would choose it for public results, and read all others on its way.
    sa.Index("results_by_visibility", "is_public", "end_milliseconds", "table_id"),
    sa.Index("results_by_game", "is_public", "game", "end_milliseconds", "table_id"),
)

# One row for each player of a result, recorded with it; standings are sums over those that count.
RESULT_PLAYERS = sa.Table(
    "result_players",
    METADATA,
    sa.Column("table_id", sa.String(64), sa.ForeignKey("results.table_id"), primary_key=True),
    sa.Column("player_id", sa.String(64), primary_key=True),
    sa.Column("name", sa.String(160), nullable=False),
    sa.Column("game", sa.String(32), nullable=False),
    sa.Column("seat", sa.Integer, nullable=False),
    sa.Column("place", sa.Integer, nullable=False),  # from 1; the last one of the table for a player who left
    sa.Column("outcome", sa.String(64), nullable=False),  # of the game's Standing; empty if it does not count
    sa.Column("has_left", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("end_milliseconds", sa.BigInteger, nullable=False),  # since 1970 UTC
    sa.Column("is_public", sa.Boolean, nullable=False),
    sa.Column("is_ranked", sa.Boolean, nullable=False),
    sa.Index("result_players_by_player", "player_id", "is_public", "end_milliseconds", "table_id"),
    sa.Index("result_players_by_game", "player_id", "is_public", "game", "end_milliseconds", "table_id"),
    # For the ranked results that players had with each other in a day.
    sa.Index("result_players_ranked", "player_id", "is_ranked", "end_milliseconds", "table_id"),
)

# Sums over the results of a player in one game, by scope: "all", or only "public" or "ranked" ones. They are updated in
# the transaction that records or publishes a result, and stay when old results are deleted. Figures and games are
# negative, so that every column of the leaderboard's index ascends: the page after an entry is one range of it.
STANDINGS = sa.Table(
    "standings",
    METADATA,
    sa.Column("player_id", sa.String(64), primary_key=True),
    sa.Column("scope", sa.String(8), primary_key=True),
    sa.Column("game", sa.String(32), primary_key=True),
    sa.Column("games_counted", sa.BigInteger, nullable=False),  # with the better outcome of the game
    sa.Column("minus_figure", sa.Double, nullable=False),
    sa.Column("average_place", sa.Double, nullable=False),  # 0 in a game whose leaderboard is not ordered by it
    sa.Column("minus_games", sa.BigInteger, nullable=False),
    sa.Column("place_sum", sa.BigInteger, nullable=False),
    sa.Column("games_left", sa.BigInteger, nullable=False, server_default="0"),
    sa.Index("standings_in_order", "scope", "game", "minus_figure", "average_place", "minus_games", "player_id"),
)

# How the results of each game count, as the report of the first one says.
GAME_STANDINGS = sa.Table(
    "game_standings",
    METADATA,
    sa.Column("game", sa.String(32), primary_key=True),
    sa.Column("standing", sa.Text, nullable=False),  # JSON of Standing
)

# Sums of counts over the same results.
STANDING_COUNTS = sa.Table(
    "standing_counts",
    METADATA,
    sa.Column("player_id", sa.String(64), primary_key=True),
    sa.Column("scope", sa.String(8), primary_key=True),
    sa.Column("game", sa.String(32), primary_key=True),
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("amount", sa.BigInteger, nullable=False),
)

# The name of each player at their last table, which is the one with the last end, and of those the greatest id.
PLAYER_NAMES = sa.Table(
    "player_names",
    METADATA,
    sa.Column("player_id", sa.String(64), primary_key=True),
    sa.Column("name", sa.String(160), nullable=False),
    sa.Column("end_milliseconds", sa.BigInteger, nullable=False),  # since 1970 UTC
    sa.Column("table_id", sa.String(64), nullable=False),
)
