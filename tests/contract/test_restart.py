"""An engine on SQLite that was killed continues its tables after a restart, without a call about them."""

import sqlite3
from contextlib import closing
from functools import partial

import pytest
from google.protobuf.duration_pb2 import Duration

from croupier_api.v1 import tables_pb2
from croupier_internal.v1 import engine_control_pb2 as control_pb
from tests.contract.deployment import CALL_SECONDS, EngineClient, EngineProcess, bot_seat, connected, person
from tests.waiting import until

DAY, MOMENT = Duration(seconds=86_400), Duration(seconds=5)
SLOW = tables_pb2.TimeControl(action_time=DAY, reserve_time=Duration(), bot_delay=MOMENT)
QUICK = tables_pb2.TimeControl(action_time=MOMENT, reserve_time=Duration(), bot_delay=Duration())


async def turns(client: EngineClient, *table_ids: str) -> dict[str, control_pb.Turn]:
    request = control_pb.GetTableStatusesRequest(table_ids=table_ids)
    answer = await client.control.GetTableStatuses(request, metadata=client.engine.lobby(), timeout=CALL_SECONDS)
    return {status.table_id: status.turn for status in answer.statuses}


def entries(engine: EngineProcess, table_id: str) -> int:
    with closing(sqlite3.connect(engine.folder / "engine.db")) as connection:
        count: int = connection.execute("SELECT count(*) FROM entries WHERE table_id = ?", [table_id]).fetchone()[0]
        return count


def has_grown(engine: EngineProcess, table_id: str, before: int) -> bool:
    return entries(engine, table_id) > before


@pytest.mark.slow
async def test_a_killed_engine_knows_turns_and_deadlines_again(own_engine: EngineProcess) -> None:
    async with connected(own_engine) as client:
        resting = await client.new_table(time_control=SLOW)
        player, view = await client.turn(resting)
        await client.submit(resting, player, view.legal_actions.actions[0])
        of_bot = await client.new_table(person("anna"), *[bot_seat()] * 3, time_control=SLOW)
        player, view = await client.turn(of_bot)
        await client.submit(of_bot, player, view.legal_actions.actions[0])
        hurried = await client.new_table(time_control=QUICK)
        before = await turns(client, resting, of_bot, hurried)
    own_engine.kill()
    stored = {table_id: entries(own_engine, table_id) for table_id in (resting, of_bot, hurried)}
    own_engine.start()
    async with connected(own_engine) as client:
        after = await turns(client, resting, of_bot, hurried)
        assert after[resting] == before[resting]
        assert after[resting].to_act in (0b01, 0b10)
        for table_id in (of_bot, hurried):
            await until(partial(has_grown, own_engine, table_id, stored[table_id]))
        assert entries(own_engine, resting) == stored[resting]
        assert (await turns(client, resting))[resting] == before[resting]
