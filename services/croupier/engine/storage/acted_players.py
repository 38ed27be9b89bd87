"""The players who have acted at tables, by their logs."""

from collections.abc import Sequence

from sqlalchemy import Connection, exists, literal, select

from croupier.engine.core.log_codec import decode_config
from croupier.engine.storage.schema import ARCHIVE, ENTRIES, TABLES


def acted_players(connection: Connection, table_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return the players of each table that is over who have acted; of an archived one all players.

    Raises UnreadableLog.
    """
    acted = {}
    for rows in (TABLES, ARCHIVE):
        over = rows.c.table_id.in_(table_ids), rows.c.finished_at.is_not(None)
        for row in connection.execute(select(rows).where(*over)).all():
            config = decode_config(row.table_id, row.game, row.rules_version, row.seed, row.config)
            players = {seat: one.player_id for seat, one in enumerate(config.seats) if not one.bot}
            acted[row.table_id] = (
                [player for seat, player in players.items() if _has_acted(connection, row.table_id, seat)]
                if rows is TABLES
                else [*players.values()]
            )
    return acted


def _has_acted(connection: Connection, table_id: str, seat: int) -> bool:
    # As log_codec.py writes the action of a player, which alone has a request.
    action = f'{{"t":"act","v":_,"seat":{seat},%"request":%'
    entry = exists().where(ENTRIES.c.table_id == table_id, ENTRIES.c.body.like(action))
    return bool(connection.execute(select(literal(1)).where(entry)).scalar())
