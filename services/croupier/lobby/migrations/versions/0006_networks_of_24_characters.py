"""Networks of up to 24 characters, instead of hashes; those of stored tables and tickets are not known."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.drop_index("lobby_tables_by_network", "lobby_tables")
    op.drop_column("lobby_tables", "network")
    op.add_column("lobby_tables", sa.Column("network", sa.String(24)))
    op.create_index("lobby_tables_by_network", "lobby_tables", ["network"])
    op.drop_column("lobby_tickets", "network")
    op.add_column("lobby_tickets", sa.Column("network", sa.String(24), nullable=False, server_default=""))
