"""`python -m loadtest.swarm`: plays what its parent says on standard input, and tells what it measured every second."""

import asyncio
import gc
import json
import os
import sys
import time
from contextlib import suppress
from typing import Any, NoReturn

from loadtest.orphans import end_with_parent
from loadtest.players.door import ANSWER_SECONDS, NO_ANSWER, backend_fault
from loadtest.scenarios import Kind
from loadtest.swarm.client import Connections
from loadtest.swarm.order import JUDGING_SECONDS, Order
from loadtest.swarm.swarm import Swarm

BATCH_SECONDS = 1.0
LONGEST_LINE_BYTES = 1_000_000


def main() -> NoReturn:
    """Play until the parent says that it is over, or is gone."""
    gc.set_threshold(50_000, 20, 100)
    from uvloop import new_event_loop

    end_with_parent()
    runner = asyncio.Runner(loop_factory=new_event_loop)
    runner.run(_play())
    # Everything has been told. What still hangs, a stream to services that have gone perhaps, is nobody's business.
    os._exit(0)


async def _play() -> None:
    orders = await _standard_input()
    order = Order.from_json(json.loads(await orders.readline()))
    connections = Connections(order.endpoints, order.connections)
    manners = order.for_all()
    swarm = Swarm(manners, connections, order.ports)
    if fault := await _fault_at_the_door(swarm):
        _say({"fault": fault})
        await swarm.close()
        return
    _say({"ready": True})
    telling = asyncio.create_task(_tell(swarm))
    storming = asyncio.create_task(swarm.storms(manners.scenario.storm_seconds))
    try:
        if await _obey(orders, swarm):
            await swarm.last_orders(manners.scenario.grace_seconds)
            await swarm.judged(JUDGING_SECONDS)
            telling.cancel()
            _say({**_state(swarm, 0.0), "ended": True})
    finally:
        telling.cancel()
        storming.cancel()
        await swarm.close()


async def _fault_at_the_door(swarm: Swarm) -> str:
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await backend_fault(swarm.guest("at the door"), swarm.manners.games)
    except TimeoutError:
        return NO_ANSWER


async def _standard_input() -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=LONGEST_LINE_BYTES)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


async def _obey(orders: asyncio.StreamReader, swarm: Swarm) -> bool:
    """Do what the parent says; True at last orders, False if the parent is gone."""
    while line := await orders.readline():
        order: dict[str, Any] = json.loads(line)
        match order["do"]:
            case "come":
                swarm.come(order["name"], Kind(order["kind"]))
            case "leave":
                swarm.leave(order["name"])
            case "last orders":
                return True
    return False


async def _tell(swarm: Swarm) -> None:
    used, at = time.process_time(), time.monotonic()
    while True:
        await asyncio.sleep(BATCH_SECONDS)
        now_used, now = time.process_time(), time.monotonic()
        _say(_state(swarm, (now_used - used) / (now - at)))
        used, at = now_used, now


def _state(swarm: Swarm, cpu: float) -> dict[str, Any]:
    gauges = {"people": swarm.people, "tables": len(swarm.tables), "waiting": swarm.waiting_for_referee, "cpu": cpu}
    return {"batch": swarm.measures.take(), "gauges": gauges}


def _say(message: dict[str, Any]) -> None:
    # The parent reads all the time; one that is gone is noticed at the end of the orders.
    with suppress(BrokenPipeError):
        os.write(_OUT, json.dumps(message).encode() + b"\n")


_OUT = 1

if __name__ == "__main__":
    main()
