"""The engine's tables in its database."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Table, Text

METADATA = MetaData()

TABLES = Table(
    "tables",
    METADATA,
    Column("table_id", String(64), primary_key=True),
    Column("status", String(16), nullable=False),  # prepared, open, finished
    Column("game", String(32), nullable=False),
    Column("rules_version", Integer, nullable=False),
    Column("config", Text, nullable=False),  # seats, options, clock, players: JSON, fixed when the table opens
    Column("seed", LargeBinary(32), nullable=False),
    Column("created_at", BigInteger, nullable=False),  # milliseconds since 1970 UTC
    Column("reports_due", Integer, nullable=False, default=0),
    Column("reports_done", Integer, nullable=False, default=0),
    Index("tables_by_status", "status"),
)

ENTRIES = Table(
    "entries",
    METADATA,
    # The key is the only lock: whoever inserts a sequence first has made the move.
    Column("table_id", String(64), ForeignKey("tables.table_id"), primary_key=True),
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),  # milliseconds since 1970 UTC
    Column("deadline", BigInteger, nullable=False),  # milliseconds since 1970 UTC, 0 when nobody is to act
    Column("body", Text, nullable=False),  # the event, who decided and the request: JSON
    sqlite_with_rowid=False,
)
