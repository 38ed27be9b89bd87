"""A Locust worker: joins a master and plays what he orders."""

import sys

from locust.env import Environment
from locust.event import Events

from loadtest.conductor.crew import WorkerPlayers
from loadtest.conductor.users import user_classes
from loadtest.options import Options
from loadtest.scenarios import Kind


def work(options: Options) -> int:
    """Play until the master has no more use for it; gives the exit code."""
    host, _, port = options.master.rpartition(":")
    environment = Environment(events=Events())  # type: ignore[no-untyped-call]
    players = WorkerPlayers(environment)
    environment.user_classes = [*user_classes(players, dict.fromkeys(Kind, 1))]
    try:
        runner = environment.create_worker_runner(host, int(port))
    except (ConnectionError, OSError, ValueError) as fault:
        print(f"loadtest: no master answers at {options.master}: {fault}", file=sys.stderr)
        return 2
    players.join(runner)
    try:
        runner.greenlet.join()
    finally:
        players.stop()
    return 0
