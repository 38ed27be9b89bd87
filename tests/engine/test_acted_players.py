"""Who has acted in a game that is over follows from its log."""

from random import Random

import pytest

from croupier.engine.core.log import ActedBy, SeatConfig
from croupier.engine.storage.port import TableChange
from croupier.engine.storage.sql_store import SqlTableStore
from tests.engine.databases import archive_finished
from tests.engine.fakes import START
from tests.engine.play import make_config, people, whole_log

SEATS = (*people(2), SeatConfig("", "Bot", "random"))


@pytest.mark.parametrize("absent", [0, 1, None])
async def test_players_act_by_requests_of_their_own(store: SqlTableStore, absent: int | None) -> None:
    """Time-outs and bots have none, and an id may have any characters."""
    config = make_config("thulla", 3, seats=SEATS)
    log = []
    for entry in whole_log(config, Random(1)):
        seat = getattr(entry.event, "seat", None)
        is_own = seat in (0, 1) and seat != absent
        request_id, by = (f'{{"t":"act","v":1,"seat":{absent},', ActedBy.PLAYER) if is_own else ("", ActedBy.TIMEOUT)
        log.append(entry if seat is None else entry._replace(request_id=request_id, acted_by=by))
    await store.prepare(config, START)
    await store.open(config, log[:1])
    await store.append(config.table_id, log[1:-1], None)
    # None is asked for a game that is played.
    assert await store.acted_players([config.table_id, "unknown"]) == {}
    await store.append(config.table_id, log[-1:], TableChange(0, finished=True))
    acted = [one.player_id for number, one in enumerate(SEATS[:2]) if number != absent]
    assert await store.acted_players([config.table_id, "unknown"]) == {config.table_id: acted}
    await archive_finished(store, log[-1].at + 1)
    everybody = [one.player_id for one in SEATS[:2]]
    assert await store.acted_players([config.table_id]) == {config.table_id: everybody}
