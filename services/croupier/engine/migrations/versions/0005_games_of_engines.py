"""The digest of the games that an engine knows: engines that know other games show that a roll-out is in progress."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("engines", sa.Column("games_digest", sa.String(64)))
