"""The time of the last report of each table, by which sheets without result are deleted.

That of stored tables is not known, so they count as reported now: a table that still plays loses no rounds. The default
also serves a scoring of the version before that still runs.
"""

import time

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    now = str(time.time_ns() // 1_000_000)
    op.add_column("sheets", sa.Column("reported_milliseconds", sa.BigInteger, nullable=False, server_default=now))
    op.create_index("sheets_by_report", "sheets", ["reported_milliseconds"])
