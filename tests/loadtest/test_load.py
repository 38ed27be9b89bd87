"""The load of a process ends in time, whatever its users and the judge do."""

import asyncio
from typing import Any

from croupier_client import Endpoints
from loadtest.measures import Measures
from loadtest.mix import ALL_GAMES, read_mix
from loadtest.players.client import Connections, new_clients
from loadtest.players.user_context import LoadSettings
from loadtest.process.load import Load
from loadtest.record import TableRecord
from loadtest.scenarios import SCENARIOS, Behaviour

SETTINGS = LoadSettings(SCENARIOS["smoke"], read_mix(ALL_GAMES), seed=1, endpoints=Endpoints.single("127.0.0.1:1"))


async def test_a_judge_without_room_does_not_keep_the_load_from_its_end() -> None:
    async def wait_for_room(_: Any) -> None:
        await asyncio.Event().wait()

    connections = Connections(SETTINGS.endpoints, 1)
    load = Load(SETTINGS, new_clients(connections, SETTINGS.seed), wait_for_room, Measures())
    load.tables.add_viewer(TableRecord("t", "solo", 4, "c"), "p1", Behaviour.STEADY)
    assert await load.drain(0, judging_seconds=0) == 0
    assert load.measures.failures == {"judging": 1}
    await connections.close()
