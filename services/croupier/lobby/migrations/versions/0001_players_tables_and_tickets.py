"""Players, their sign-ins, tables and tickets."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    _create_players()
    _create_tables()
    _create_tickets()


def _create_players() -> None:
    op.create_table(
        "lobby_players",
        sa.Column("player_id", sa.String(32), primary_key=True),
        sa.Column("device_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("name", sa.String(32), nullable=False),
        sa.Column("created_milliseconds", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "lobby_sign_ins",
        sa.Column("family", sa.String(32), primary_key=True),
        sa.Column("player_id", sa.String(32), sa.ForeignKey("lobby_players.player_id"), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("expires_milliseconds", sa.BigInteger, nullable=False),
    )
    op.create_index("lobby_sign_ins_by_player", "lobby_sign_ins", ["player_id", "expires_milliseconds"])
    op.create_index("lobby_sign_ins_by_expiry", "lobby_sign_ins", ["expires_milliseconds"])


def _create_tables() -> None:
    op.create_table(
        "lobby_tables",
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
        sa.Column("is_private", sa.Boolean, nullable=False),
        sa.Column("invite_code", sa.String(8), unique=True),
        sa.Column("seed_commitment", sa.String(128), nullable=False),
        sa.Column("created_milliseconds", sa.BigInteger, nullable=False),
        sa.Column("updated_milliseconds", sa.BigInteger, nullable=False),
    )
    op.create_index("lobby_tables_by_creation", "lobby_tables", ["is_private", "created_milliseconds", "table_id"])
    op.create_index("lobby_tables_by_state", "lobby_tables", ["state", "table_id"])
    op.create_index("lobby_tables_by_host", "lobby_tables", ["host_player_id", "state"])
    op.create_index("lobby_tables_by_update", "lobby_tables", ["updated_milliseconds"])


def _create_tickets() -> None:
    op.create_table(
        "lobby_tickets",
        sa.Column("ticket_id", sa.String(32), primary_key=True),
        sa.Column("player_id", sa.String(32), nullable=False, unique=True),
        sa.Column("name", sa.String(32), nullable=False),
        sa.Column("game", sa.String(64), nullable=False),
        sa.Column("seat_count", sa.Integer, nullable=False),
        sa.Column("client_seed", sa.LargeBinary, nullable=False),
        sa.Column("created_milliseconds", sa.BigInteger, nullable=False),
        sa.Column("heartbeat_milliseconds", sa.BigInteger, nullable=False),
        sa.Column("stream_id", sa.String(32)),
        sa.Column("table_id", sa.String(32)),
        sa.Column("request_id", sa.String(64), nullable=False),
        sa.Column("is_delivered", sa.Boolean, nullable=False),
    )
    criteria = ["game", "seat_count", "created_milliseconds", "ticket_id"]
    op.create_index("lobby_tickets_by_criteria", "lobby_tickets", criteria)
    op.create_index("lobby_tickets_by_stream", "lobby_tickets", ["stream_id"])
