"""The operator's limits of a table: its length, the least bot delay, and the time without people."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import chain

import pytest
from google.protobuf.duration_pb2 import Duration

from croupier.engine.core.replay_verification import verify_replay
from croupier_api.v1 import engine_pb2 as pb
from croupier_api.v1 import tables_pb2
from croupier_internal.v1 import engine_control_pb2 as control_pb
from tests.contract.conftest import running_engine
from tests.contract.deployment import (
    CALL_SECONDS,
    TIME_CONTROL,
    EngineClient,
    EngineProcess,
    bot_seat,
    connected,
    person,
)

LIMITS = ("--max-table-entries=8", "--min-bot-delay-milliseconds=300", "--abandoned-seconds=1")
QUICK = tables_pb2.TimeControl(action_time=Duration(seconds=5), reserve_time=Duration(), bot_delay=Duration())
DESERTED_SECONDS = 60
"""More than the times of one person, and then of an action."""


@pytest.fixture(scope="module")
def limited_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineProcess]:
    with running_engine(tmp_path_factory, *LIMITS) as engine:
        yield engine


@pytest.fixture
async def limited(limited_engine: EngineProcess) -> AsyncIterator[EngineClient]:
    async with connected(limited_engine) as client:
        yield client


async def test_a_low_bot_delay_is_raised_and_a_table_ends_at_the_limit_of_entries(limited: EngineClient) -> None:
    prepared = control_pb.PrepareTableRequest(table_id="t", game="thulla", seat_count=2, time_control=TIME_CONTROL)
    answer = await limited.control.PrepareTable(prepared, metadata=limited.engine.lobby(), timeout=CALL_SECONDS)
    assert answer.time_control.bot_delay.ToMilliseconds() == 300
    table = await limited.new_table()
    played = await asyncio.gather(*(limited.play_seat(table, player) for player in ("anna", "ben")))
    assert sorted(chain.from_iterable(played)) == list(range(2, 9))
    watch = limited.players.WatchTable(
        pb.WatchTableRequest(table_id=table, after_sequence=8),
        metadata=limited.engine.player("anna"),
        timeout=CALL_SECONDS,
    )
    (update,) = [message.table_event.update async for message in watch]
    (ended,) = [fact.game_ended for fact in update.facts if fact.HasField("game_ended")]
    assert (ended.reason, ended.is_void, [list(group.seats) for group in ended.ranking]) == ("limit", True, [[0, 1]])
    seen = await limited.players.GetView(
        pb.GetViewRequest(table_id=table), metadata=limited.engine.player("ben"), timeout=CALL_SECONDS
    )
    assert seen.snapshot.view.is_void
    request, metadata = pb.GetReplayRequest(table_id=table), limited.engine.player("anna")
    parts = limited.players.GetReplay(request, metadata=metadata, timeout=CALL_SECONDS)
    assert verify_replay("".join([part.replay async for part in parts])).entries == 9
    assert limited.engine.metrics()['croupier_tables_ended_total{limit="entries"}'] == 1


@pytest.mark.slow
async def test_a_table_that_its_only_person_left_ends_void(limited: EngineClient) -> None:
    table = await limited.new_table(person("anna"), bot_seat(), time_control=QUICK)
    watch = limited.players.WatchTable(
        pb.WatchTableRequest(table_id=table), metadata=limited.engine.player("eve"), timeout=DESERTED_SECONDS
    )
    *_, last = [message.table_event async for message in watch]
    (ended,) = [fact.game_ended for fact in last.update.facts if fact.HasField("game_ended")]
    assert (ended.reason, ended.is_void) == ("abandoned", True)
    assert limited.engine.metrics()['croupier_tables_ended_total{limit="abandoned"}'] == 1
