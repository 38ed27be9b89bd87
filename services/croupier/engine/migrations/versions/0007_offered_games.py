"""The rules that an engine knows, and the games that it offers: what all living engines offer is open to new tables."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("engines", sa.Column("games", sa.Text))
