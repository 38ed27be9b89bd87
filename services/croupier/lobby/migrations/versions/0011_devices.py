"""Several devices of a player, codes that add them, and deleted players.

Lobbies of earlier versions that still run cannot sign players in any more; they refresh tokens.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_PLAYERS, _NEW_PLAYERS = "lobby_players", "lobby_new_players"
_SIGN_INS, _NEW_SIGN_INS = "lobby_sign_ins", "lobby_new_sign_ins"


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        _replace_tables()
    else:
        _create_devices(_PLAYERS)
        op.add_column(_SIGN_INS, sa.Column("device_hash", sa.String(64)))
        op.execute(
            "UPDATE lobby_sign_ins SET device_hash = lobby_players.device_hash"
            " FROM lobby_players WHERE lobby_players.player_id = lobby_sign_ins.player_id"
        )
        op.drop_column(_PLAYERS, "device_hash")
    op.create_index("lobby_devices_by_player", "lobby_devices", ["player_id"])
    _create_codes()
    _create_deletions()


def _create_devices(players: str) -> None:
    op.create_table(
        "lobby_devices",
        sa.Column("device_hash", sa.String(64), primary_key=True),
        sa.Column("player_id", sa.String(32), sa.ForeignKey(f"{players}.player_id"), nullable=False),
    )
    op.execute("INSERT INTO lobby_devices (device_hash, player_id) SELECT device_hash, player_id FROM lobby_players")


def _replace_tables() -> None:
    """Drop a unique column, which SQLite can do only with its table, and with the table that refers to that."""
    op.create_table(
        _NEW_PLAYERS,
        sa.Column("player_id", sa.String(32), primary_key=True),
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("created_milliseconds", sa.BigInteger, nullable=False),
        sa.Column("seen_milliseconds", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("played_milliseconds", sa.BigInteger),
    )
    op.execute(
        "INSERT INTO lobby_new_players SELECT player_id, name, created_milliseconds, seen_milliseconds,"
        " played_milliseconds FROM lobby_players"
    )
    _create_devices(_NEW_PLAYERS)
    op.create_table(
        _NEW_SIGN_INS,
        sa.Column("family", sa.String(32), primary_key=True),
        sa.Column("player_id", sa.String(32), sa.ForeignKey(f"{_NEW_PLAYERS}.player_id"), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("expires_milliseconds", sa.BigInteger, nullable=False),
        sa.Column("device_hash", sa.String(64)),
    )
    op.execute(
        "INSERT INTO lobby_new_sign_ins SELECT family, player_id, token_hash, expires_milliseconds, device_hash"
        " FROM lobby_sign_ins JOIN lobby_players USING (player_id)"
    )
    op.drop_table(_SIGN_INS)
    op.drop_table(_PLAYERS)
    op.rename_table(_NEW_PLAYERS, _PLAYERS)
    op.rename_table(_NEW_SIGN_INS, _SIGN_INS)
    op.create_index("lobby_sign_ins_by_player", _SIGN_INS, ["player_id", "expires_milliseconds"])
    op.create_index("lobby_sign_ins_by_expiry", _SIGN_INS, ["expires_milliseconds"])
    unplayed = sa.text("played_milliseconds IS NULL")
    op.create_index("lobby_players_unplayed", _PLAYERS, ["seen_milliseconds"], sqlite_where=unplayed)


def _create_codes() -> None:
    op.create_table(
        "lobby_device_codes",
        sa.Column("player_id", sa.String(32), sa.ForeignKey("lobby_players.player_id"), primary_key=True),
        sa.Column("code_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("expires_milliseconds", sa.BigInteger, nullable=False),
        sa.Column("is_used", sa.Boolean, nullable=False),
    )
    op.create_index("lobby_device_codes_by_expiry", "lobby_device_codes", ["expires_milliseconds"])


def _create_deletions() -> None:
    op.create_table(
        "lobby_deletions",
        sa.Column("player_id", sa.String(32), primary_key=True),
        sa.Column("deleted_milliseconds", sa.BigInteger, nullable=False),
        sa.Column("due_milliseconds", sa.BigInteger, nullable=False),
    )
    op.create_index("lobby_deletions_by_time", "lobby_deletions", ["due_milliseconds"])
