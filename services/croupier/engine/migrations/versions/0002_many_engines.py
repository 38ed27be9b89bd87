"""Several engines on one database: deadlines, heartbeats, outages and an archive."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("tables", sa.Column("finished_at", sa.BigInteger))
    op.add_column("tables", sa.Column("reports_at", sa.BigInteger, nullable=False, server_default="0"))
    op.create_index("tables_by_end", "tables", ["finished_at"])
    unreported = sa.text("reports_done < reports_due")
    op.create_index("tables_unreported", "tables", ["reports_at"], sqlite_where=unreported, postgresql_where=unreported)
    op.create_table(
        "deadlines",
        sa.Column("table_id", sa.String(64), primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_index("deadlines_in_order", "deadlines", ["at"])
    op.create_table(
        "archive",
        sa.Column("table_id", sa.String(64), primary_key=True),
        sa.Column("game", sa.String(32), nullable=False),
        sa.Column("rules_version", sa.Integer, nullable=False),
        sa.Column("config", sa.Text, nullable=False),
        sa.Column("seed", sa.LargeBinary(32), nullable=False),
        sa.Column("finished_at", sa.BigInteger, nullable=False),
        sa.Column("log", sa.LargeBinary, nullable=False),
    )
    op.create_index("archive_by_end", "archive", ["finished_at"])
    op.create_table(
        "engines",
        sa.Column("engine_id", sa.String(64), primary_key=True),
        sa.Column("seen_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "outages",
        sa.Column("engine_id", sa.String(64), primary_key=True),
        sa.Column("began", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("ended", sa.BigInteger, nullable=False),
    )
    _take_over()


def _take_over() -> None:
    """Tables from before get the ends and deadlines that their last entries tell."""
    op.execute(
        "UPDATE tables SET finished_at = "
        "(SELECT max(entries.at) FROM entries WHERE entries.table_id = tables.table_id) WHERE status = 'finished'"
    )
    op.execute(
        "INSERT INTO deadlines (table_id, at) SELECT table_id, (SELECT deadline FROM entries "
        "WHERE entries.table_id = tables.table_id ORDER BY sequence DESC LIMIT 1) FROM tables WHERE status = 'open'"
    )


def downgrade() -> None:
    for table in ("outages", "engines", "archive", "deadlines"):
        op.drop_table(table)
    op.drop_index("tables_unreported", "tables")
    op.drop_index("tables_by_end", "tables")
    op.drop_column("tables", "reports_at")
    op.drop_column("tables", "finished_at")
