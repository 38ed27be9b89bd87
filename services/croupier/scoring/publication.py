"""Publication: results of tables with a watch delay become visible to all players once the delay is over."""

from sqlalchemy import BigInteger, Connection, String, bindparam, select, update

from croupier.runtime.database.database import Database
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.table_access import Visibility
from croupier.scoring import standings_writer
from croupier.scoring.schema import RESULT_PLAYERS, RESULTS, SHEETS

BATCH_SIZE = 50


async def publish_due(database: Database, clock: Clock) -> None:
    """Publish the results whose watch delay is over, each in a transaction of its own.

    Lists of public results and the standings that all players see then have them.
    """
    now = {"now": clock()}
    while table_ids := await database.read(lambda connection: connection.scalars(_DUE, now).all()):
        for table_id in table_ids:
            await database.write(_publish, table_id)


def _publish(connection: Connection, table_id: str) -> None:
    # The lock of the table, as reports take it. On SQLite it is that of the database.
    visibility = connection.execute(_LOCK, {"locked_id": table_id}).scalar_one_or_none()
    values = {"published_id": table_id, "is_public": visibility == Visibility.PUBLIC}
    if not connection.execute(_PUBLISH, values).rowcount:
        return  # Another replica has published it.
    connection.execute(_PUBLISH_PLAYERS, values)
    standings_writer.add_result(connection, table_id, standings_writer.PUBLISHED)


# The statements have their values as parameters: building one takes longer than its execution.
_PUBLISHED_ID = bindparam("published_id", type_=String)
_DUE = (
    select(RESULTS.c.table_id)
    .where(RESULTS.c.publish_milliseconds <= bindparam("now", type_=BigInteger))
    .order_by(RESULTS.c.publish_milliseconds)
    .limit(BATCH_SIZE)
)
_LOCK = (
    update(SHEETS)
    .where(SHEETS.c.table_id == bindparam("locked_id"))
    .values(reported_milliseconds=SHEETS.c.reported_milliseconds)
    .returning(SHEETS.c.visibility)
)
_PUBLISH = (
    update(RESULTS)
    .where(RESULTS.c.table_id == _PUBLISHED_ID, RESULTS.c.publish_milliseconds.is_not(None))
    .values(publish_milliseconds=None, is_public=bindparam("is_public"))
)
_PUBLISH_PLAYERS = (
    update(RESULT_PLAYERS).where(RESULT_PLAYERS.c.table_id == _PUBLISHED_ID).values(is_public=bindparam("is_public"))
)
