"""The initial schema: tables, their logs, deadlines and archive, heartbeats and outages of engines."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    _create_tables()
    _create_logs()
    op.create_table(
        "engines",
        sa.Column("engine_id", sa.String(64), primary_key=True),
        sa.Column("heartbeat_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "outages",
        sa.Column("engine_id", sa.String(64), primary_key=True),
        sa.Column("began", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("ended", sa.BigInteger, nullable=False),
    )


def _create_tables() -> None:
    op.create_table(
        "tables",
        sa.Column("table_id", sa.String(64), primary_key=True),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("game", sa.String(32), nullable=False),
        sa.Column("rules_version", sa.Integer, nullable=False),
        sa.Column("config", sa.Text, nullable=False),
        sa.Column("seed", sa.LargeBinary(32), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("finished_at", sa.BigInteger),
        sa.Column("reports_due", sa.Integer, nullable=False),
        sa.Column("reports_done", sa.Integer, nullable=False),
        sa.Column("reports_at", sa.BigInteger, nullable=False),
    )
    op.create_index("tables_by_status", "tables", ["status"])
    op.create_index("tables_by_end", "tables", ["finished_at"])
    unreported = sa.text("reports_done < reports_due")
    op.create_index("tables_unreported", "tables", ["reports_at"], sqlite_where=unreported, postgresql_where=unreported)


def _create_logs() -> None:
    op.create_table(
        "entries",
        sa.Column("table_id", sa.String(64), sa.ForeignKey("tables.table_id"), primary_key=True),
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("deadline", sa.BigInteger, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
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
