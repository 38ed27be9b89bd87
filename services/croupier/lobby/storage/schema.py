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
    false,
    text,
)

METADATA = MetaData()

# Guests who have not played, and were not seen for long, are deleted; a player is seen by a sign-in or a refresh.
_UNPLAYED = text("played_milliseconds IS NULL")
PLAYERS = Table(
    "lobby_players",
    METADATA,
    Column("player_id", String(32), primary_key=True),
    Column("device_hash", String(64), nullable=False, unique=True),
    Column("name", String(128), nullable=False),
    Column("created_milliseconds", BigInteger, nullable=False),
    Column("seen_milliseconds", BigInteger, nullable=False, server_default="0"),
    Column("played_milliseconds", BigInteger),
    Index("lobby_players_unplayed", "seen_milliseconds", sqlite_where=_UNPLAYED, postgresql_where=_UNPLAYED),
)

# One row for each signed-in device, with the hash of its current refresh token.
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

_FREES = text("frees_milliseconds IS NOT NULL")
# `version` counts the changes of a row: an update is conditional on the version that it has read.
TABLES = Table(
    "lobby_tables",
    METADATA,
    Column("table_id", String(32), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("game", String(64), nullable=False),
    Column("rules_version", Integer, nullable=False),
    Column("options", JSON, nullable=False),
    Column("time_control", JSON, nullable=False),
    Column("seats", JSON, nullable=False),
    Column("teams", JSON, nullable=False),
    Column("host_player_id", String(32), nullable=False),
    Column("visibility", String(16), nullable=False, server_default="seated"),
    Column("watch_policy", String(16), nullable=False, server_default="nobody"),
    Column("watch_delay_seconds", Integer, nullable=False, server_default="0"),
    Column("removed_players", JSON, nullable=False, server_default="[]"),
    Column("is_matched", Boolean, nullable=False, server_default=false()),
    Column("invite_code", String(8), unique=True),
    # Of the player who created it; null if it is not known, and after the end.
    Column("network", String(24)),
    Column("seed_commitment", String(128), nullable=False),
    Column("created_milliseconds", BigInteger, nullable=False),
    Column("updated_milliseconds", BigInteger, nullable=False),
    # The rates of changes, and when a seat falls free whose player is not ready: see table_changes.py.
    Column("changes", JSON, nullable=False, server_default="{}"),
    Column("frees_milliseconds", BigInteger),
    Index("lobby_tables_by_game", "visibility", "game", "state", "created_milliseconds", "table_id"),
    Index("lobby_tables_by_creation", "visibility", "state", "created_milliseconds", "table_id"),
    Index("lobby_tables_by_state", "state", "table_id"),
    Index("lobby_tables_by_update", "updated_milliseconds"),
    Index("lobby_tables_by_idle_seats", "frees_milliseconds", sqlite_where=_FREES, postgresql_where=_FREES),
)

# The seats of players at tables that have not ended. `network` is that from which the player took the seat; null if it
# is not known.
SEATS = Table(
    "lobby_seats",
    METADATA,
    Column("table_id", String(32), primary_key=True),
    Column("player_id", String(32), primary_key=True),
    Column("network", String(24)),
    Index("lobby_seats_by_player", "player_id"),
    Index("lobby_seats_by_network", "network", "table_id"),
)

# When the players of forming tables were last seen. The row of a player who is away is deleted.
PRESENCE = Table(
    "lobby_presence",
    METADATA,
    Column("table_id", String(32), primary_key=True),
    Column("player_id", String(32), primary_key=True),
    Column("seen_milliseconds", BigInteger, nullable=False),
    Index("lobby_presence_by_time", "seen_milliseconds"),
)

# A ticket with a table_id is matched; the state of the match is that of the table. Delivered tickets are kept for a
# while, because the answer may be lost: a call with the same request_id gets it again. `stream_id` is the newest
# stream that waits on the ticket, so that changes in the name of an older one have no effect.
TICKETS = Table(
    "lobby_tickets",
    METADATA,
    Column("ticket_id", String(32), primary_key=True),
    Column("player_id", String(32), nullable=False, unique=True),
    Column("name", String(128), nullable=False),
    Column("game", String(64), nullable=False),
    Column("seat_count", Integer, nullable=False),
    Column("client_seed", LargeBinary, nullable=False),
    Column("created_milliseconds", BigInteger, nullable=False),
    Column("heartbeat_milliseconds", BigInteger, nullable=False),
    Column("stream_id", String(32)),
    Column("table_id", String(32)),
    Column("request_id", String(64), nullable=False),
    Column("is_delivered", Boolean, nullable=False),
    # Of the player's newest call; empty if it is not known.
    Column("network", String(24), nullable=False, server_default=""),
    Index("lobby_tickets_by_criteria", "game", "seat_count", "created_milliseconds", "ticket_id"),
    Index("lobby_tickets_by_stream", "stream_id"),
)
