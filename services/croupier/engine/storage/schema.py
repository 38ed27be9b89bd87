"""The engine's tables in its database."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Table, Text, text

METADATA = MetaData()

TABLES = Table(
    "tables",
    METADATA,
    Column("table_id", String(64), primary_key=True),
    Column("status", String(16), nullable=False),  # prepared, open, finished
    Column("game", String(32), nullable=False),
    Column("rules_version", Integer, nullable=False),
    Column("config", Text, nullable=False),  # JSON of core/log_codec.py: seats, options, clock, players
    Column("seed", LargeBinary(32), nullable=False),
    Column("created_at", BigInteger, nullable=False),  # milliseconds since 1970 UTC
    Column("finished_at", BigInteger),  # milliseconds since 1970 UTC
    Column("reports_due", Integer, nullable=False, default=0),
    Column("reports_done", Integer, nullable=False, default=0),
    Column("reports_at", BigInteger, nullable=False, default=0),  # when to see whether they were handed over
    Index("tables_by_status", "status"),
    Index(
        "tables_unreported",
        "reports_at",
        sqlite_where=text("reports_done < reports_due"),
        postgresql_where=text("reports_done < reports_due"),
    ),
    Index("tables_by_end", "finished_at"),
)

ENTRIES = Table(
    "entries",
    METADATA,
    # The key is the only lock: the engine that inserts a sequence first has made the move. A table in the archive takes
    # no more entries, because the row that each of them refers to has gone.
    Column("table_id", String(64), ForeignKey("tables.table_id"), primary_key=True),
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),  # milliseconds since 1970 UTC
    Column("deadline", BigInteger, nullable=False),  # milliseconds since 1970 UTC, 0 when nobody is to act
    Column("body", Text, nullable=False),  # JSON of core/log_codec.py: the event, who decided and the request
    sqlite_with_rowid=False,
)

# When an engine has to look at a table that is open: the deadline of its last entry, or a little later while an engine
# is about to do so. Narrow, since each append changes it.
DEADLINES = Table(
    "deadlines",
    METADATA,
    Column("table_id", String(64), primary_key=True),
    Column("at", BigInteger, nullable=False),  # milliseconds since 1970 UTC
    Index("deadlines_in_order", "at"),
)

ARCHIVE = Table(
    "archive",
    METADATA,
    Column("table_id", String(64), primary_key=True),
    Column("game", String(32), nullable=False),
    Column("rules_version", Integer, nullable=False),
    Column("config", Text, nullable=False),
    Column("seed", LargeBinary(32), nullable=False),
    Column("finished_at", BigInteger, nullable=False),  # milliseconds since 1970 UTC
    Column("log", LargeBinary, nullable=False),  # JSON of core/log_codec.py, compressed: the rows of its entries
    Index("archive_by_end", "finished_at"),
)

ENGINES = Table(
    "engines",
    METADATA,
    Column("engine_id", String(64), primary_key=True),
    Column("seen_at", BigInteger, nullable=False),  # milliseconds since 1970 UTC
)

OUTAGES = Table(
    "outages",
    METADATA,
    # An engine has one outage at a time: noting it twice is one.
    Column("engine_id", String(64), primary_key=True),
    Column("began", BigInteger, primary_key=True, autoincrement=False),  # milliseconds since 1970 UTC
    Column("ended", BigInteger, nullable=False),  # milliseconds since 1970 UTC
)
