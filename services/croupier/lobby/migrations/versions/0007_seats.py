"""The seats of players, with their networks; those of hosts are known. The rate of a table's changes.

Players who are not ready at stored tables keep their seats, since it is not known since when they are not.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_TABLES = sa.table(
    "lobby_tables",
    sa.column("table_id", sa.String),
    sa.column("state", sa.String),
    sa.column("seats", sa.JSON),
    sa.column("host_player_id", sa.String),
    sa.column("network", sa.String),
)
_RUNNING = ("PREPARING", "FORMING", "OPENING", "PLAYING")


def upgrade() -> None:
    seats = op.create_table(
        "lobby_seats",
        sa.Column("table_id", sa.String(32), primary_key=True),
        sa.Column("player_id", sa.String(32), primary_key=True),
        sa.Column("network", sa.String(24)),
    )
    op.create_index("lobby_seats_by_player", "lobby_seats", ["player_id"])
    op.create_index("lobby_seats_by_network", "lobby_seats", ["network", "table_id"])
    running = op.get_bind().execute(sa.select(_TABLES).where(_TABLES.c.state.in_(_RUNNING))).all()
    rows = [
        {
            "table_id": table.table_id,
            "player_id": seat["player_id"],
            "network": table.network if seat["player_id"] == table.host_player_id else None,
        }
        for table in running
        for seat in table.seats
        if seat.get("player_id")
    ]
    if rows:
        op.bulk_insert(seats, rows)
    op.add_column("lobby_tables", sa.Column("changes", sa.JSON, nullable=False, server_default="{}"))
    op.add_column("lobby_tables", sa.Column("frees_milliseconds", sa.BigInteger))
    frees = sa.text("frees_milliseconds IS NOT NULL")
    op.create_index(
        "lobby_tables_by_idle_seats",
        "lobby_tables",
        ["frees_milliseconds"],
        sqlite_where=frees,
        postgresql_where=frees,
    )
    op.drop_index("lobby_tables_by_network", "lobby_tables")
    op.drop_index("lobby_tables_by_host", "lobby_tables")
