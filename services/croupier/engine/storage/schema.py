"""The engine's tables in its database."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    and_,
    func,
    select,
    text,
)

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
    Column("reports_at", BigInteger, nullable=False, default=0),  # when any engine may claim undelivered reports
    Column("archive_at", BigInteger, nullable=False, server_default="0"),  # when any engine may try to archive it
    # Of the player who created it; null if it is not known, and when the game is over.
    Column("network", String(33)),
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
    # The key is the only lock: the first insert of a sequence is the entry. An archived table takes no more entries,
    # because the row that they refer to was deleted.
    Column("table_id", String(64), ForeignKey("tables.table_id"), primary_key=True),
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),  # milliseconds since 1970 UTC
    Column("deadline", BigInteger, nullable=False),  # milliseconds since 1970 UTC, 0 if no seat is to act
    # JSON of core/log_codec.py: the event, the origin of its decision and the request
    Column("body", Text, nullable=False),
    # Turn of core/fold.py, after the entries that were stored together; null if an earlier version stored them.
    Column("to_act", SmallInteger),
    Column("away", SmallInteger),
    sqlite_with_rowid=False,
)

_LATER = ENTRIES.alias("later")
IS_LAST_ENTRY = and_(
    ENTRIES.c.table_id == TABLES.c.table_id,
    ENTRIES.c.sequence
    == select(func.max(_LATER.c.sequence))
    .where(_LATER.c.table_id == TABLES.c.table_id)
    .correlate(TABLES)
    .scalar_subquery(),
)
"""Whether a row of entries is the last one of its row of tables."""

# When any engine may claim an open table: at the deadline of its last entry, or at the end of the last claim. Narrow,
# since each append changes it. Empty on SQLite, whose only engine has it in memory.
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
    Column("replay", LargeBinary),  # ReplayFold of core/replay.py, stored when it is first requested
    Index("archive_by_end", "finished_at"),
)

ENGINES = Table(
    "engines",
    METADATA,
    Column("engine_id", String(64), primary_key=True),
    Column("heartbeat_at", BigInteger, nullable=False),  # milliseconds since 1970 UTC
    Column("games_digest", String(64)),  # of the descriptions of its games; engines of earlier versions have none
    Column("games", Text),  # JSON of core/living_games.py: versions and offered games; earlier versions have none
)

OUTAGES = Table(
    "outages",
    METADATA,
    # An engine has one outage at a time: two records of it are one row.
    Column("engine_id", String(64), primary_key=True),
    Column("began", BigInteger, primary_key=True, autoincrement=False),  # milliseconds since 1970 UTC
    Column("ended", BigInteger, nullable=False),  # milliseconds since 1970 UTC
)
