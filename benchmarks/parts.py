"""The parts of `make bench`."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

import uvloop

from benchmarks import engine, gateway, instructions, lobby, page, rules, scale
from benchmarks.measurement import Row

PARTS: Mapping[str, Callable[[], Coroutine[Any, Any, Sequence[Row]]]] = {
    "rules": rules.compare,
    "instructions": instructions.compare,
    "scale": scale.compare,
    "engine": engine.compare_full_speed,
    "pace": engine.compare_human_pace,
    "lobby": lobby.compare,
    "gateway": gateway.compare,
    "page": page.compare,
}


def measure(name: str) -> Sequence[Row]:
    """Measure a part, with lines of progress."""
    print(f"{name}:", flush=True)
    began = time.monotonic()
    # The driver represents many clients elsewhere, so it has none of the services' tuning for throughput.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        rows = runner.run(PARTS[name]())
    print(f"  {time.monotonic() - began:.0f} s", flush=True)
    return rows
