"""Notes, headlines and details of rounds as one value; those of stored rounds, which were plain text, are gone."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    # In SQLite '' is a text, also in a column of bytes.
    empty = sa.text("X''" if op.get_bind().dialect.name == "sqlite" else "''")
    op.add_column("rounds", sa.Column("texts", sa.LargeBinary, nullable=False, server_default=empty))
    for column in ("notes", "headline", "details"):
        op.drop_column("rounds", column)
