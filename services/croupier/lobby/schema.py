"""The lobby's tables in the database. Times are milliseconds since 1970 UTC."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
)

METADATA = MetaData()
VERSION_TABLE = "lobby_schema_version"

PLAYERS = Table(
    "lobby_players",
    METADATA,
    Column("player_id", String(32), primary_key=True),
    Column("device_hash", String(64), nullable=False, unique=True),
    Column("name", String(32), nullable=False),
    Column("created_milliseconds", BigInteger, nullable=False),
)

# One row for each device that stays signed in; the refresh token that it holds now is known by its hash only.
SIGN_INS = Table(
    "lobby_sign_ins",
    METADATA,
    Column("family", String(32), primary_key=True),
    Column("player_id", String(32), ForeignKey("lobby_players.player_id"), nullable=False),
    Column("token_hash", String(64), nullable=False),
    Column("expires_milliseconds", BigInteger, nullable=False),
    Index("lobby_sign_ins_by_player", "player_id", "expires_milliseconds"),
    Index("lobby_sign_ins_by_expiry", "expires_milliseconds"),
)

# `version` counts the changes of a row: every change names the version that it saw.
TABLES = Table(
    "lobby_tables",
    METADATA,
    Column("table_id", String(32), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("game", String(64), nullable=False),
    Column("options", JSON, nullable=False),
    Column("clock", JSON, nullable=False),
    Column("seats", JSON, nullable=False),
    Column("host_player_id", String(32), nullable=False),
    Column("private", Boolean, nullable=False),
    Column("invite_code", String(8), unique=True),
    Column("commitment", String(128), nullable=False),
    Column("created_milliseconds", BigInteger, nullable=False),
    Column("touched_milliseconds", BigInteger, nullable=False),
    Index("lobby_tables_by_age", "private", "created_milliseconds", "table_id"),
    Index("lobby_tables_by_state", "state", "table_id"),
    Index("lobby_tables_by_host", "host_player_id", "state"),
    Index("lobby_tables_by_touch", "touched_milliseconds"),
)

# A ticket with a table_id has been matched; the table tells how far that is. `told` tickets are kept for a while, for
# the answer may be lost on its way: `request_id` tells who asks for it again. `stream_id` names the newest stream that
# waits on the ticket: whoever speaks for an older one changes nothing.
TICKETS = Table(
    "lobby_tickets",
    METADATA,
    Column("ticket_id", String(32), primary_key=True),
    Column("player_id", String(32), nullable=False, unique=True),
    Column("name", String(32), nullable=False),
    Column("game", String(64), nullable=False),
    Column("seats", Integer, nullable=False),
    Column("client_seed", LargeBinary, nullable=False),
    Column("created_milliseconds", BigInteger, nullable=False),
    Column("seen_milliseconds", BigInteger, nullable=False),
    Column("stream_id", String(32)),
    Column("table_id", String(32)),
    Column("request_id", String(64), nullable=False),
    Column("told", Boolean, nullable=False),
    Index("lobby_tickets_by_wish", "game", "seats", "created_milliseconds", "ticket_id"),
    Index("lobby_tickets_by_stream", "stream_id"),
)
