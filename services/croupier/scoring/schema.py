"""The ledger's tables in its database."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    false,
)

METADATA = MetaData()

SHEETS = Table(
    "sheets",
    METADATA,
    Column("table_id", String(64), primary_key=True),
    Column("game", String(32), nullable=False),
    Column("seats", Text, nullable=False),  # JSON: [player_id, name, bot] by seat
    Column("visibility", String(16), nullable=False),
    Column("watch_policy", String(16), nullable=False, server_default="nobody"),
    Column("watch_delay_seconds", Integer, nullable=False, server_default="0"),
    Column("removed_players", Text, nullable=False, server_default="[]"),  # JSON: player ids
    Column("is_matched", Boolean, nullable=False, server_default=false()),
    # Of the last report, since 1970 UTC. Sheets without result are deleted by it; all others are deleted sooner.
    Column("reported_milliseconds", BigInteger, nullable=False),
    Index("sheets_by_report", "reported_milliseconds"),
)

ROUNDS = Table(
    "rounds",
    METADATA,
    Column("table_id", String(64), ForeignKey("sheets.table_id"), primary_key=True),
    Column("round", Integer, primary_key=True, autoincrement=False),
    Column("points", Text, nullable=False),  # JSON: by seat
    Column("totals", Text, nullable=False),  # JSON: by seat
    Column("notes", Text, nullable=False),  # JSON: by seat, or empty
    Column("headline", Text, nullable=False),
    Column("details", Text, nullable=False),  # JSON: [name, value] by name
    Column("counts", Text, nullable=False),  # JSON: [name, seat, amount] in their order
)

# Sums of the counts of a table's rounds, updated in the transaction that records a round. Its result adds them to the
# standing counts of the players; a round that comes after the result adds its own.
SEAT_COUNTS = Table(
    "seat_counts",
    METADATA,
    Column("table_id", String(64), ForeignKey("sheets.table_id"), primary_key=True),
    Column("seat", Integer, primary_key=True, autoincrement=False),
    Column("name", String(64), primary_key=True),
    Column("amount", BigInteger, nullable=False),
)

RESULTS = Table(
    "results",
    METADATA,
    Column("table_id", String(64), ForeignKey("sheets.table_id"), primary_key=True),
    Column("ranking", Text, nullable=False),  # JSON: groups of seats, best first
    Column("totals", Text, nullable=False),  # JSON: by seat
    Column("end_milliseconds", BigInteger, nullable=False),  # since 1970 UTC
    Column("conduct", Text, nullable=False, server_default="[]"),  # JSON: [timeouts, finished_by_engine] by seat
    Column("is_void", Boolean, nullable=False, server_default=false()),
    Column("game", String(32), nullable=False),
    Column("is_public", Boolean, nullable=False),  # whether all players see it: of a public table, and published
    Column("is_ranked", Boolean, nullable=False, server_default=false()),
    # The time, since 1970 UTC, at which the watch delay of the table is over; null once the result is published.
    Column("publish_milliseconds", BigInteger),
    Index("results_to_publish", "publish_milliseconds"),
    # There is none by time alone: PostgreSQL would choose it for public results, and read all others on its way.
    Index("results_by_visibility", "is_public", "end_milliseconds", "table_id"),
    Index("results_by_game", "is_public", "game", "end_milliseconds", "table_id"),
)

# One row for each player of a result, recorded with it; standings are sums over these rows, except for void results.
RESULT_PLAYERS = Table(
    "result_players",
    METADATA,
    Column("table_id", String(64), ForeignKey("results.table_id"), primary_key=True),
    Column("player_id", String(64), primary_key=True),
    Column("name", String(160), nullable=False),
    Column("game", String(32), nullable=False),
    Column("seat", Integer, nullable=False),
    Column("place", Integer, nullable=False),  # from 1; the last one of the table for a player who left
    Column("won", Boolean, nullable=False),
    Column("has_left", Boolean, nullable=False, server_default=false()),
    Column("end_milliseconds", BigInteger, nullable=False),  # since 1970 UTC
    Column("is_public", Boolean, nullable=False),
    Column("is_ranked", Boolean, nullable=False),
    Index("result_players_by_player", "player_id", "is_public", "end_milliseconds", "table_id"),
    Index("result_players_by_game", "player_id", "is_public", "game", "end_milliseconds", "table_id"),
    # For the ranked results that players had with each other in a day.
    Index("result_players_ranked", "player_id", "is_ranked", "end_milliseconds", "table_id"),
)

# Sums over the results of a player in one game, by scope: "all", or only "public" or "ranked" ones. They are updated in
# the transaction that records or publishes a result, and stay when old results are deleted. Wins and games are
# negative, so that every column of the leaderboard's index ascends: the page after an entry is one range of it.
STANDINGS = Table(
    "standings",
    METADATA,
    Column("player_id", String(64), primary_key=True),
    Column("scope", String(8), primary_key=True),
    Column("game", String(32), primary_key=True),
    Column("minus_wins", BigInteger, nullable=False),
    Column("average_place", Double, nullable=False),
    Column("minus_games", BigInteger, nullable=False),
    Column("place_sum", BigInteger, nullable=False),
    Column("games_left", BigInteger, nullable=False, server_default="0"),
    Index("standings_in_order", "scope", "game", "minus_wins", "average_place", "minus_games", "player_id"),
)

# Sums of counts over the same results.
STANDING_COUNTS = Table(
    "standing_counts",
    METADATA,
    Column("player_id", String(64), primary_key=True),
    Column("scope", String(8), primary_key=True),
    Column("game", String(32), primary_key=True),
    Column("name", String(64), primary_key=True),
    Column("amount", BigInteger, nullable=False),
)

# The name of each player at their last table, which is the one with the last end, and of those the greatest id.
PLAYER_NAMES = Table(
    "player_names",
    METADATA,
    Column("player_id", String(64), primary_key=True),
    Column("name", String(160), nullable=False),
    Column("end_milliseconds", BigInteger, nullable=False),  # since 1970 UTC
    Column("table_id", String(64), nullable=False),
)
