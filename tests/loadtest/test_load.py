"""The load of a process ends in time, whatever its users and the judge do."""

import asyncio
from typing import Any

from loadtest.players.client import Connections, new_clients
from loadtest.process.load import Load
from loadtest.process.plan import LoadPlan
from loadtest.record import TableRecord
from loadtest.scenarios import Behaviour

PLAN = LoadPlan("smoke", users=1, seed=1, lobby="127.0.0.1:1", engine="127.0.0.1:1", scoring="127.0.0.1:1")


async def test_a_judge_without_room_does_not_keep_the_load_from_its_end() -> None:
    async def wait_for_room(_: Any) -> None:
        await asyncio.Event().wait()

    connections = Connections(PLAN.endpoints, 1)
    load = Load(PLAN.settings(), new_clients(connections, PLAN.seed), wait_for_room)
    load.tables.add_viewer(TableRecord("t", "solo", 4, "c"), "p1", Behaviour.STEADY)
    assert await load.drain(0, judging_seconds=0) == 0
    assert load.measures.failures == {"judging": 1}
    await connections.close()
