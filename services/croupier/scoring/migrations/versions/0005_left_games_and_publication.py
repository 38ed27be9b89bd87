"""Games that players left, the rank of each result, and the time at which a result with a watch delay is published.

Stored results stay as they counted: a game that a player left was not on their leaderboard, and all are published.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("results", sa.Column("is_ranked", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("results", sa.Column("publish_milliseconds", sa.BigInteger))
    op.add_column("result_players", sa.Column("has_left", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("standings", sa.Column("games_left", sa.BigInteger, nullable=False, server_default="0"))
    op.execute(
        """UPDATE results SET is_ranked = EXISTS (
            SELECT 1 FROM result_players AS player WHERE player.table_id = results.table_id AND player.is_ranked
        )"""
    )
    op.create_index("results_to_publish", "results", ["publish_milliseconds"])
    columns = ["player_id", "is_ranked", "end_milliseconds", "table_id"]
    op.create_index("result_players_ranked", "result_players", columns)
