"""`make bench`: the speed of the rules, the engine beside a bare fan-out, and what the front door costs."""

import os
import platform

from benchmarks import door_cost, engine_throughput, rules


def main() -> None:
    """Print all benchmarks with their conditions."""
    print(f"Python {platform.python_version()}, {platform.machine()}, {len(os.sched_getaffinity(0))} cores")
    print("\nRules: random play with legal actions and facts, one core")
    rules.main()
    print("\nEngine: random play over real streams, beside grpc.aio that fans the same bytes out and does nothing else")
    engine_throughput.main()
    print("\nDoor: what it costs for each action, beside players who reach the engine directly")
    door_cost.main()


if __name__ == "__main__":
    main()
