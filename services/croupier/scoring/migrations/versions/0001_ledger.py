"""Score sheets, rounds, results, and the rows of which statistics are sums."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "sheets",
        sa.Column("table_id", sa.String(64), primary_key=True),
        sa.Column("game", sa.String(32), nullable=False),
        sa.Column("seats", sa.Text, nullable=False),
    )
    op.create_table(
        "rounds",
        sa.Column("table_id", sa.String(64), sa.ForeignKey("sheets.table_id"), primary_key=True),
        sa.Column("round", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("points", sa.Text, nullable=False),
        sa.Column("totals", sa.Text, nullable=False),
        sa.Column("notes", sa.Text, nullable=False),
        sa.Column("headline", sa.Text, nullable=False),
        sa.Column("details", sa.Text, nullable=False),
        sa.Column("counts", sa.Text, nullable=False),
    )
    op.create_table(
        "seat_counts",
        sa.Column("table_id", sa.String(64), sa.ForeignKey("sheets.table_id"), primary_key=True),
        sa.Column("seat", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("amount", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "results",
        sa.Column("table_id", sa.String(64), sa.ForeignKey("sheets.table_id"), primary_key=True),
        sa.Column("ranking", sa.Text, nullable=False),
        sa.Column("totals", sa.Text, nullable=False),
        sa.Column("end_milliseconds", sa.BigInteger, nullable=False),
    )
    op.create_index("results_by_time", "results", ["end_milliseconds", "table_id"])
    op.create_table(
        "result_players",
        sa.Column("table_id", sa.String(64), sa.ForeignKey("results.table_id"), primary_key=True),
        sa.Column("player_id", sa.String(64), primary_key=True),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("game", sa.String(32), nullable=False),
        sa.Column("seat", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("won", sa.Boolean, nullable=False),
        sa.Column("end_milliseconds", sa.BigInteger, nullable=False),
    )
    op.create_index("result_players_by_game", "result_players", ["game", "player_id"])
    op.create_index("result_players_by_player", "result_players", ["player_id", "end_milliseconds"])
