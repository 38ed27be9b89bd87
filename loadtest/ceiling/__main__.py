"""`python -m loadtest.ceiling`: the highest load of one engine on SQLite, one on PostgreSQL, and two on PostgreSQL."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from croupier.cli.replicas import Replicas
from loadtest.ceiling.options import CeilingOptions, Setup, read_ceiling_options

FINE, BROKEN, NOT_RUN, INTERRUPTED = 0, 1, 2, 130
UNLIMITED = ("--player-calls-per-second=0",)
"""Services are to be at their limits, not at those of single players, who do not think here."""
DURABLE: Mapping[str, str] = {}
"""PostgreSQL as it is usually run: what is committed is on the disk."""


def main(arguments: Sequence[str]) -> int:
    """Find all ceilings; gives the exit code."""
    options = read_ceiling_options(arguments)
    # Locust makes greenlets of threads when it is imported, which whatever comes later must find.
    import locust  # noqa: F401

    from loadtest.backend import BackendMissing
    from loadtest.ceiling.climb import Interrupted
    from loadtest.report.write import ReportFault, check_folder

    try:
        for setup in options.setups:
            check_folder(options.results / setup.name)
        with _databases(options.setups) as databases:
            return _climb_all(options, databases)
    except (BackendMissing, ReportFault, RuntimeError) as fault:
        print(f"loadtest.ceiling: {fault}", file=sys.stderr, flush=True)
        return NOT_RUN
    except Interrupted:
        return INTERRUPTED


@contextmanager
def _databases(setups: Sequence[Setup]) -> Iterator[Mapping[str, str]]:
    """By setup the URL of a database of its own that is up to date, empty for SQLite; raises RuntimeError."""
    wanted = [setup.name for setup in setups if setup.is_on_postgres]
    if not wanted:
        yield {}
        return
    from loadtest.postgres import postgres_server

    with postgres_server(DURABLE) as server:
        urls = {name: server.create_database(f"croupier-{name}") for name in wanted}
        for url in urls.values():
            _migrate(url)
        yield urls


def _migrate(url: str) -> None:
    # The URL holds a password, and every user of a machine can read command lines.
    environment = {**os.environ, "CROUPIER_DATABASE": url}
    command = [sys.executable, "-m", "croupier.cli", "migrate"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    if done.returncode:
        raise RuntimeError(f"the database cannot be brought up to date: {done.stderr.strip()}")


def _climb_all(options: CeilingOptions, databases: Mapping[str, str]) -> int:
    from loadtest.backend import own_backend
    from loadtest.ceiling.climb import SCENARIO, Climb
    from loadtest.ceiling.search import ceiling_line
    from loadtest.conductor.run import told

    lines, codes = [], []
    for setup in options.setups:
        flags = dict.fromkeys(Replicas(engine=setup.engines).all(), UNLIMITED)
        with own_backend(databases.get(setup.name, ""), setup.engines, flags) as backend:
            _say(f"\n{backend.description}")
            result, replays = Climb(options, backend, _say).result()
        codes.append(told(result, replays, options.results / setup.name))
        lines.append(f"{backend.description}: {ceiling_line(result, SCENARIO.limits.p99_milliseconds)}")
    _say("\n" + "\n".join(lines))
    return max(codes)


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
