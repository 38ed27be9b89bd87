"""The turn of each open table, beside its deadline: the seats that are to act, and those that are away.

It is not known of stored tables until their next entry.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("deadlines", sa.Column("to_act", sa.SmallInteger))
    op.add_column("deadlines", sa.Column("away", sa.SmallInteger))
