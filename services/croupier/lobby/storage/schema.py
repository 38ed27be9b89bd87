"""The lobby's tables in the database. Times are milliseconds since 1970 UTC."""

import sqlalchemy as sa

METADATA = sa.MetaData()

# Guests who have not played, and were not seen for long, are deleted; a player is seen by a sign-in or a refresh.
_UNPLAYED = sa.text("played_milliseconds IS NULL")
PLAYERS = sa.Table(
    "lobby_players",
    METADATA,
    sa.Column("player_id", sa.String(32), primary_key=True),
    sa.Column("name", sa.String(128), nullable=False),
    sa.Column("created_milliseconds", sa.BigInteger, nullable=False),
    sa.Column("seen_milliseconds", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("played_milliseconds", sa.BigInteger),
    sa.Index("lobby_players_unplayed", "seen_milliseconds", sqlite_where=_UNPLAYED, postgresql_where=_UNPLAYED),
)

# The devices whose secrets sign a player in, by the hashes of the secrets.
DEVICES = sa.Table(
    "lobby_devices",
    METADATA,
    sa.Column("device_hash", sa.String(64), primary_key=True),
    sa.Column("player_id", sa.String(32), sa.ForeignKey("lobby_players.player_id"), nullable=False),
    sa.Index("lobby_devices_by_player", "player_id"),
)

# The identities of users of the app's identity provider, by hashes of issuer and subject. A player has at most one: so
# a person who signs in on the device of another does not get the other's player.
IDENTITIES = sa.Table(
    "lobby_identities",
    METADATA,
    sa.Column("identity_hash", sa.String(64), primary_key=True),
    sa.Column("player_id", sa.String(32), sa.ForeignKey("lobby_players.player_id"), nullable=False, unique=True),
)

# The newest code of each player for another device. A used one is kept, since the answer may be lost.
DEVICE_CODES = sa.Table(
    "lobby_device_codes",
    METADATA,
    sa.Column("player_id", sa.String(32), sa.ForeignKey("lobby_players.player_id"), primary_key=True),
    sa.Column("code_hash", sa.String(64), nullable=False, unique=True),
    sa.Column("expires_milliseconds", sa.BigInteger, nullable=False),
    sa.Column("is_used", sa.Boolean, nullable=False),
    sa.Index("lobby_device_codes_by_expiry", "expires_milliseconds"),
)

# Deleted players, until their names and seats are gone everywhere and their access tokens have expired.
DELETIONS = sa.Table(
    "lobby_deletions",
    METADATA,
    sa.Column("player_id", sa.String(32), primary_key=True),
    sa.Column("deleted_milliseconds", sa.BigInteger, nullable=False),
    # When the names and seats are to be removed, for the first time or again.
    sa.Column("due_milliseconds", sa.BigInteger, nullable=False),
    sa.Index("lobby_deletions_by_time", "due_milliseconds"),
)

# One row for each sign-in, with the hash of its current refresh token, and the device whose secret it was made by,
# null for a sign-in by an identity alone.
SIGN_INS = sa.Table(
    "lobby_sign_ins",
    METADATA,
    sa.Column("family", sa.String(32), primary_key=True),
    sa.Column("player_id", sa.String(32), sa.ForeignKey("lobby_players.player_id"), nullable=False),
    sa.Column("token_hash", sa.String(64), nullable=False),
    sa.Column("expires_milliseconds", sa.BigInteger, nullable=False),
    sa.Column("device_hash", sa.String(64)),
    sa.Index("lobby_sign_ins_by_player", "player_id", "expires_milliseconds"),
    sa.Index("lobby_sign_ins_by_expiry", "expires_milliseconds"),
)

_FREES = sa.text("frees_milliseconds IS NOT NULL")
# `version` counts the changes of a row: an update is conditional on the version that it has read.
TABLES = sa.Table(
    "lobby_tables",
    METADATA,
    sa.Column("table_id", sa.String(32), primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("game", sa.String(64), nullable=False),
    sa.Column("rules_version", sa.Integer, nullable=False),
    sa.Column("options", sa.JSON, nullable=False),
    sa.Column("time_control", sa.JSON, nullable=False),
    sa.Column("seats", sa.JSON, nullable=False),
    sa.Column("teams", sa.JSON, nullable=False),
    sa.Column("host_player_id", sa.String(32), nullable=False),
    sa.Column("visibility", sa.String(16), nullable=False, server_default="seated"),
    sa.Column("watch_policy", sa.String(16), nullable=False, server_default="nobody"),
    sa.Column("watch_delay_seconds", sa.Integer, nullable=False, server_default="0"),
    sa.Column("removed_players", sa.JSON, nullable=False, server_default="[]"),
    sa.Column("is_matched", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("invite_code", sa.String(8), unique=True),
    # Of the player who created it; null if it is not known, and after the end.
    sa.Column("network", sa.String(24)),
    sa.Column("seed_commitment", sa.String(128), nullable=False),
    sa.Column("created_milliseconds", sa.BigInteger, nullable=False),
    sa.Column("updated_milliseconds", sa.BigInteger, nullable=False),
    # From when on bots take free seats; null for never.
    sa.Column("bots_at_milliseconds", sa.BigInteger),
    # The rates of changes, and when a seat falls free whose player is not ready or does not come, or bots take free
    # seats: see table_changes.py.
    sa.Column("changes", sa.JSON, nullable=False, server_default="{}"),
    sa.Column("frees_milliseconds", sa.BigInteger),
    # By rematches; empty for none. The next version of the finished table, in the transaction that adds the next table,
    # sets `next_table_id`: so of two callers at once one adds a table.
    sa.Column("previous_table_id", sa.String(32), nullable=False, server_default=""),
    sa.Column("next_table_id", sa.String(32), nullable=False, server_default=""),
    sa.Column("revision", sa.Integer, nullable=False, server_default="0"),
    sa.Column("hidden_version", sa.Integer, nullable=False, server_default="0"),
    # Of the request that created it: the player and the id that they chose, and the hash of its content.
    sa.Column("request_key", sa.String(97)),
    sa.Column("request_hash", sa.String(64)),
    sa.Index("lobby_tables_by_request", "request_key", unique=True),
    sa.Index("lobby_tables_by_game", "visibility", "game", "state", "created_milliseconds", "table_id"),
    sa.Index("lobby_tables_by_creation", "visibility", "state", "created_milliseconds", "table_id"),
    sa.Index("lobby_tables_by_state", "state", "table_id"),
    sa.Index("lobby_tables_by_update", "updated_milliseconds"),
    sa.Index("lobby_tables_by_idle_seats", "frees_milliseconds", sqlite_where=_FREES, postgresql_where=_FREES),
)

# The seats of players, by which they list their tables and have a share of those that have not ended. `network` is that
# from which the player took the seat; null if it is not known, and after the end. `created_milliseconds` is that of a
# table that has ended, and null before.
SEATS = sa.Table(
    "lobby_seats",
    METADATA,
    sa.Column("table_id", sa.String(32), primary_key=True),
    sa.Column("player_id", sa.String(32), primary_key=True),
    sa.Column("network", sa.String(24)),
    sa.Column("created_milliseconds", sa.BigInteger),
    sa.Index("lobby_seats_by_player", "player_id", "created_milliseconds", "table_id"),
    sa.Index("lobby_seats_by_network", "network", "table_id"),
)

# When the players of forming tables were last seen. The row of a player who is away is deleted.
PRESENCE = sa.Table(
    "lobby_presence",
    METADATA,
    sa.Column("table_id", sa.String(32), primary_key=True),
    sa.Column("player_id", sa.String(32), primary_key=True),
    sa.Column("seen_milliseconds", sa.BigInteger, nullable=False),
    sa.Index("lobby_presence_by_time", "seen_milliseconds"),
)

# A ticket with a table_id is matched; the state of the match is that of the table. Delivered tickets are kept for a
# while, because the answer may be lost: a call with the same request_id gets it again. `stream_id` is the newest
# stream that waits on the ticket, so that changes in the name of an older one have no effect.
TICKETS = sa.Table(
    "lobby_tickets",
    METADATA,
    sa.Column("ticket_id", sa.String(32), primary_key=True),
    sa.Column("player_id", sa.String(32), nullable=False, unique=True),
    sa.Column("name", sa.String(128), nullable=False),
    sa.Column("game", sa.String(64), nullable=False),
    sa.Column("seat_count", sa.Integer, nullable=False),
    sa.Column("client_seed", sa.LargeBinary, nullable=False),
    sa.Column("created_milliseconds", sa.BigInteger, nullable=False),
    sa.Column("heartbeat_milliseconds", sa.BigInteger, nullable=False),
    sa.Column("stream_id", sa.String(32)),
    sa.Column("table_id", sa.String(32)),
    sa.Column("request_id", sa.String(64), nullable=False),
    sa.Column("is_delivered", sa.Boolean, nullable=False),
    # Of the player's newest call; empty if it is not known.
    sa.Column("network", sa.String(24), nullable=False, server_default=""),
    sa.Column("preset", sa.String(64), nullable=False, server_default=""),
    # Null for a player who is not seated with bots.
    sa.Column("bots_after_seconds", sa.Integer),
    sa.Index("lobby_tickets_by_criteria", "game", "seat_count", "preset", "created_milliseconds", "ticket_id"),
    sa.Index("lobby_tickets_by_stream", "stream_id"),
)
