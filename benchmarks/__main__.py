"""`make bench`: the speed of the rules, the engine beside a bare fan-out, and what the front door costs."""

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
    # The driver stands for many clients elsewhere, so it gets none of what the services do for throughput.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(actions.compare())


if __name__ == "__main__":
    main()
