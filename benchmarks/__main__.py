"""`make bench`: the speed of the rules, the engine compared with a bare fan-out, and the cost of the gateway."""

import asyncio
import os
import platform

import uvloop

from benchmarks import actions, rules


def main() -> None:
    """Print all benchmarks with their conditions."""
    print(f"Python {platform.python_version()}, {platform.machine()}, {len(os.sched_getaffinity(0))} cores")
    print("\nRules: random play with legal actions and facts, one core")
    rules.main()
    # The driver represents many clients elsewhere, so it has none of the services' tuning for throughput.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(actions.compare())


if __name__ == "__main__":
    main()
