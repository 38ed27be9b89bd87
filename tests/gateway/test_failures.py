"""A game continues after the gateway or Envoy was killed, with a short interruption."""

import asyncio
import os
import signal
from pathlib import Path
from random import Random

import pytest

from croupier.cli.launcher.background import started_services
from croupier_client import Client, choose_random_action, play_game
from croupier_client.sockets import TRANSPORTS
from tests.gateway.conftest import GatewayDeployment
from tests.processes import children, is_alive
from tests.tables import opened_table
from tests.waiting import until

pytestmark = pytest.mark.gateway
DEADLINE_SECONDS = 90.0
ACTIONS_BEFORE = 3


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_game_continues_after_the_gateway_was_killed(deployment: GatewayDeployment, transport: str) -> None:
    before, killed = deployment.services.addresses["gateway"]["listen"], deployment.services.pids["gateway"]
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        Client(deployment.endpoints, "the gateway is killed", "Ada", transport=transport) as client,
        client.play_table(await opened_table(client)) as table,
    ):
        for _ in range(ACTIONS_BEFORE):
            assert await table.wait_for_turn()
            await table.submit_action(table.legal_actions.actions[0])
        deployment.services.kill("gateway")
        await play_game(table, lambda seen: choose_random_action(seen, Random(3)))
        assert table.ranking
    # It may serve before it is reported.
    await until(lambda: deployment.services.pids["gateway"] != killed)
    assert deployment.services.addresses["gateway"]["listen"] == before


async def test_an_envoy_that_was_killed_is_restarted(deployment: GatewayDeployment) -> None:
    gateway = deployment.services.pids["gateway"]
    [envoy] = children(gateway)
    os.kill(envoy, signal.SIGKILL)
    await until(lambda: deployment.services.pids["gateway"] != gateway)
    assert deployment.gateway.ask("GET", "/healthz").status == 200


@pytest.mark.slow
def test_no_process_of_the_gateway_remains(tmp_path: Path) -> None:
    with started_services(tmp_path, gateway=[]) as services:
        wrapper = services.pids["gateway"]
        [envoy] = children(wrapper)
        services.process.send_signal(signal.SIGINT)
        assert services.process.wait(DEADLINE_SECONDS) == 0
        assert not any(map(is_alive, (wrapper, envoy)))
