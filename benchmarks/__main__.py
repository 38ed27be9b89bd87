"""`make bench`: the rules, the engine beside a bare fan-out, the gateway, and several writers on one database."""

import asyncio
import os
import platform
import sys
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import uvloop

from benchmarks import actions, rules, scale

PARTS: Mapping[str, Callable[[], Coroutine[Any, Any, None]]] = {
    "rules": rules.compare,
    "engine": actions.compare_engine,
    "gateway": actions.compare_gateway,
    "scale": scale.compare,
}


async def main(parts: list[str]) -> None:
    """Print the benchmarks of these parts with their conditions; all parts if none are named."""
    print(f"Python {platform.python_version()}, {platform.machine()}, {len(os.sched_getaffinity(0))} cores")
    for name in parts or PARTS:
        await PARTS[name]()


if __name__ == "__main__":
    if unknown := set(sys.argv[1:]) - set(PARTS):
        raise SystemExit(f"invalid part {min(unknown)!r}: expected {', '.join(PARTS)}")
    # The driver represents many clients elsewhere, so it has none of the services' tuning for throughput.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(sys.argv[1:]))
