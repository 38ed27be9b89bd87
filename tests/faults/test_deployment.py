"""A deployment runs again once each killed instance was restarted, although its process seems to run until then."""

import asyncio
from contextlib import suppress
from typing import Any, cast

from loadtest.faults.deployment import Deployment


class FakeServices:
    """Services whose processes have not been noticed to end."""

    def __init__(self) -> None:
        self.restarts = {"engine": 0, "engine-2": 3}
        self.are_running = True

    def kill(self, instance: str, number: int) -> None:
        assert instance in self.restarts
        assert number


async def is_running(deployment: Deployment) -> bool:
    waiting = asyncio.ensure_future(deployment.wait_until_running())
    # It looks at once, and polls only then.
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    has_ended = waiting.done()
    waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting
    return has_ended


async def test_a_deployment_runs_again_after_the_restart_of_each_killed_instance() -> None:
    services, unused = FakeServices(), cast("Any", None)
    deployment = Deployment(cast("Any", services), unused, unused, None, {}, unused, None, "")
    assert await is_running(deployment)
    deployment.kill("engine", "engine-2")
    assert not await is_running(deployment)
    services.restarts["engine"] += 1
    assert not await is_running(deployment)
    services.restarts["engine-2"] += 1
    assert await is_running(deployment)
    services.are_running = False
    assert not await is_running(deployment)
