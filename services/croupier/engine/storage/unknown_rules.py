"""The unfinished tables whose rules nobody here knows."""

from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from croupier.engine.core.log_codec import decode_config
from croupier.engine.storage.schema import TABLES
from croupier.games.registry import registry
from croupier.runtime.database.database import Database
from croupier.runtime.database.schema_versions import database_error


class UnknownTable(NamedTuple):
    """An unfinished table; `package` is the one that had its rules, empty for croupier's own."""

    table_id: str
    game: str
    rules_version: int
    package: str


async def tables_with_unknown_rules(database: Database) -> list[UnknownTable]:
    """Return the prepared and open tables whose game or version of rules is not installed, by game and version.

    Raises InvalidGames, SettingsError for a database that cannot be used, DatabaseUnreachable while it does not answer.
    """
    try:
        return await database.connections.read(_unknown)
    except (SQLAlchemyError, OSError) as fault:
        raise database_error(database, fault) from None


def _unknown(connection: sa.Connection) -> list[UnknownTable]:
    if not sa.inspect(connection).has_table(TABLES.name):
        return []
    known = sa.or_(
        sa.false(),
        *[sa.and_(TABLES.c.game == game, TABLES.c.rules_version == version) for game, version in registry().rules],
    )
    query = (
        sa.select(TABLES)
        .where(TABLES.c.status.in_(("prepared", "open")), sa.not_(known))
        .order_by(TABLES.c.game, TABLES.c.rules_version, TABLES.c.table_id)
    )
    return [
        UnknownTable(
            row.table_id,
            row.game,
            row.rules_version,
            decode_config(row.table_id, row.game, row.rules_version, row.seed, row.config).package,
        )
        for row in connection.execute(query)
    ]
