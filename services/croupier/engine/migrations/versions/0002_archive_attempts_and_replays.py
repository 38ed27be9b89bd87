"""The time of a table's next attempt at archiving it, and the replays of archived tables."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("tables", sa.Column("archive_at", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("archive", sa.Column("replay", sa.LargeBinary))
