"""The turn of a table moves from its deadline to its last entry; SQLite, whose engine knows them, has no deadlines."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

# Not of all entries: only the turn after the last entry of an open table is read.
_TAKE_OVER = """
UPDATE entries SET
    to_act = (SELECT deadlines.to_act FROM deadlines WHERE deadlines.table_id = entries.table_id),
    away = (SELECT deadlines.away FROM deadlines WHERE deadlines.table_id = entries.table_id)
WHERE (table_id, sequence) IN (
    SELECT entries.table_id, max(entries.sequence)
    FROM entries JOIN deadlines ON deadlines.table_id = entries.table_id
    GROUP BY entries.table_id
)
"""


def upgrade() -> None:
    for name in ("to_act", "away"):
        op.add_column("entries", sa.Column(name, sa.SmallInteger))
    op.execute(_TAKE_OVER)
    for name in ("to_act", "away"):
        op.drop_column("deadlines", name)
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DELETE FROM deadlines")
