"""The identities of users of an identity provider."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "lobby_identities",
        sa.Column("identity_hash", sa.String(64), primary_key=True),
        sa.Column("player_id", sa.String(32), sa.ForeignKey("lobby_players.player_id"), nullable=False, unique=True),
    )
