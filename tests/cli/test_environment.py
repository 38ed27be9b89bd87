"""Each process of `croupier up` has only the variables that it needs."""

import asyncio

import psutil
import pytest
from google.protobuf.duration_pb2 import Duration

from croupier.cli.launcher.background import BackgroundServices
from croupier.cli.launcher.environment import child_environment
from croupier.cli.services import endpoints_of
from croupier_api.v1.tables_pb2 import TimeControl
from croupier_client import Endpoints
from croupier_client.aio import Client
from tests.cli.conftest import FOREIGN
from tests.waiting import TIMEOUT_SECONDS, until

DATABASE = "CROUPIER_DATABASE"


def test_variables_without_use_for_a_service_are_left_out() -> None:
    inherited = {
        "PATH": "/bin",
        "HOME": "/home/ada",
        "LC_ALL": "C.UTF-8",
        "CROUPIER_LOG_LEVEL": "debug",
        "PGPASSWORD": "x",
        FOREIGN: "y",
        DATABASE: "postgresql://old",
        "LS_COLORS": "z",
    }
    used = {"PATH", "HOME", "LC_ALL", "CROUPIER_LOG_LEVEL"}
    assert child_environment(inherited, "gateway", "postgresql://new").keys() == used
    lobby = child_environment(inherited, "lobby", "postgresql://new")
    assert lobby.keys() == used | {"PGPASSWORD", DATABASE}
    assert lobby[DATABASE] == "postgresql://new"


async def play_beside_a_search_bot(endpoints: Endpoints) -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS), Client(endpoints, "the secret of a device") as client:
        # The player does not act: a bot does so in their place after five seconds at most.
        time_control = TimeControl(action_time=Duration(seconds=5), reserve_time=Duration())
        created = await client.create_table(game="thulla", seat_count=4, time_control=time_control)
        table_id = created.table.table_id
        for _ in range(3):
            await client.add_bot(table_id=table_id, bot="search")
        await client.set_ready(table_id=table_id)


@pytest.mark.gateway
async def test_no_process_has_a_variable_that_it_does_not_need(services: BackgroundServices) -> None:
    await play_beside_a_search_bot(endpoints_of(services.addresses))
    engine = psutil.Process(services.pids["engine"])
    await until(lambda: len(engine.children()) > 1)
    gateway = psutil.Process(services.pids["gateway"])
    envoy = [child for child in gateway.children() if "envoy" in child.name()]
    # Python sets the second one if there is no locale.
    assert [child.environ().keys() - {"LC_CTYPE"} for child in envoy] == [{"PATH"}]
    supervisor = psutil.Process(services.process.pid)
    assert supervisor.environ()[FOREIGN] == "x"
    started = {process.pid: process.environ() for process in supervisor.children(recursive=True)}
    holders = {pid for pid, variables in started.items() if DATABASE in variables}
    assert holders == {services.pids[name] for name in ("lobby", "engine", "scoring")}
    assert [pid for pid, variables in started.items() if FOREIGN in variables] == []
