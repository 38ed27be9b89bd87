"""The access of tables. Private tables become those of their players alone, all others stay public."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("lobby_tables", sa.Column("visibility", sa.String(16), nullable=False, server_default="seated"))
    op.add_column("lobby_tables", sa.Column("watch_policy", sa.String(16), nullable=False, server_default="nobody"))
    op.add_column("lobby_tables", sa.Column("watch_delay_seconds", sa.Integer, nullable=False, server_default="0"))
    op.add_column("lobby_tables", sa.Column("removed_players", sa.JSON, nullable=False, server_default="[]"))
    op.add_column("lobby_tables", sa.Column("is_matched", sa.Boolean, nullable=False, server_default=sa.false()))
    op.execute("UPDATE lobby_tables SET visibility = 'public', watch_policy = 'anyone' WHERE NOT is_private")
    op.drop_index("lobby_tables_by_creation", "lobby_tables")
    op.drop_column("lobby_tables", "is_private")
    order = ["state", "created_milliseconds", "table_id"]
    op.create_index("lobby_tables_by_creation", "lobby_tables", ["visibility", *order])
    op.create_index("lobby_tables_by_game", "lobby_tables", ["visibility", "game", *order])
