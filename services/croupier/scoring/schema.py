"""The ledger's tables in its database."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, MetaData, String, Table, Text

METADATA = MetaData()

SHEETS = Table(
    "sheets",
    METADATA,
    Column("table_id", String(64), primary_key=True),
    Column("game", String(32), nullable=False),
    Column("seats", Text, nullable=False),  # JSON: [player_id, name, bot] by seat
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

# Sums of the counts of a table's rounds, updated in the transaction that records a round. A join with the players of
# results makes statistics of them, so rounds and results may be recorded in any order. Sums by player instead would
# need a lock on the table. Summing up the rounds in each query instead would read a row for every round that a player
# ever played; this reads one for each name and table.
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
    Index("results_by_time", "end_milliseconds", "table_id"),
)

# One row for each player of a result, recorded with it; statistics and leaderboards are sums over these rows.
RESULT_PLAYERS = Table(
    "result_players",
    METADATA,
    Column("table_id", String(64), ForeignKey("results.table_id"), primary_key=True),
    Column("player_id", String(64), primary_key=True),
    Column("name", String(64), nullable=False),
    Column("game", String(32), nullable=False),
    Column("seat", Integer, nullable=False),
    Column("place", Integer, nullable=False),  # from 1
    Column("won", Boolean, nullable=False),
    Column("end_milliseconds", BigInteger, nullable=False),  # since 1970 UTC
    Index("result_players_by_game", "game", "player_id"),
    Index("result_players_by_player", "player_id", "end_milliseconds"),
)
