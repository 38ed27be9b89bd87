"""What rounds were and what seats did in them; rounds from before say nothing of it."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("rounds", sa.Column("headline", sa.Text, nullable=False, server_default=""))
    op.add_column("rounds", sa.Column("details", sa.Text, nullable=False, server_default="[]"))
    op.add_column("rounds", sa.Column("counts", sa.Text, nullable=False, server_default="[]"))
    op.create_table(
        "seat_counts",
        sa.Column("table_id", sa.String(64), sa.ForeignKey("sheets.table_id"), primary_key=True),
        sa.Column("seat", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("amount", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("seat_counts")
    with op.batch_alter_table("rounds") as rounds:
        for column in ("counts", "details", "headline"):
            rounds.drop_column(column)
