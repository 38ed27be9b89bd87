"""When bots take the free seats of forming tables; never at stored tables."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("lobby_tables", sa.Column("bots_at_milliseconds", sa.BigInteger))
