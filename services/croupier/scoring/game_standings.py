"""How the results of each game count: as the report of its first result said. A change of that needs a migration."""

import json

from sqlalchemy import Connection, bindparam, select

from croupier.runtime.database.upsert import insert_into
from croupier.runtime.errors import Unavailable
from croupier.scoring.schema import GAME_STANDINGS
from croupier.scoring.standings import WON_OR_LOST, Standing
from croupier_api.v1 import errors_pb2


def standing_of(connection: Connection, game: str, reported: Standing | None) -> Standing:
    """Return how the results of a game count, and store what its first report says.

    Raises Unavailable if the engine reports no outcomes, since its version is earlier, and they do not follow from the
    ranking: a later engine will repeat the report.
    """
    stored = find_standing(connection, game)
    if stored is None:
        row = {"game": game, "standing": json.dumps(reported or WON_OR_LOST)}
        connection.execute(insert_into(connection.dialect.name, GAME_STANDINGS).on_conflict_do_nothing(), row)
        return reported or WON_OR_LOST
    if reported is None and not stored.has_winners:
        reason = errors_pb2.ERROR_REASON_SERVICE_UNAVAILABLE
        raise Unavailable(reason, f"the result of {game} has no outcomes: report it by a later version of the engine")
    return stored


def find_standing(connection: Connection, game: str) -> Standing | None:
    """Return how the results of a game count; None before its first result."""
    stored = connection.execute(_STANDING, {"game": game}).scalar_one_or_none()
    return None if stored is None else decode_standing(stored)


def decode_standing(stored: str) -> Standing:
    """Return the standing of a row of GAME_STANDINGS."""
    (better, worse), *others = json.loads(stored)
    return Standing((better, worse), *others)


_STANDING = select(GAME_STANDINGS.c.standing).where(GAME_STANDINGS.c.game == bindparam("game"))
