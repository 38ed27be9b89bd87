"""Names of players of up to 160 code points: emoji and letters of some scripts have several."""

from croupier.runtime.database.alembic_migrations import alter_length

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    for table in ("result_players", "player_names"):
        alter_length(table, "name", 160, old_length=64)
