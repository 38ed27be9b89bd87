"""`python -m benchmarks.own_tables --streams 20000`: one lobby with very many streams of players' own tables.

Every player follows their own tables: a slow game with another player, and some also a forming table, whose changes are
delivered. Another replica makes the changes, here by writing to the database and notifying. The baseline has as many
streams of one table each. For both the memory of the lobby, its CPU without changes, and the delivery are printed.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import psutil
import structlog
from sqlalchemy import Connection, Executable, bindparam, insert, update

from benchmarks.measurement import Row, format_table, usage
from benchmarks.own_table_streams import StreamProcess
from benchmarks.services import DRIVER_CORES, NO_LIMITS, PACKAGES, SERVER_CORES, free_server_cores, pin
from croupier.cli.launcher.background import started_services
from croupier.engine.storage.schema import ENTRIES
from croupier.engine.storage.schema import TABLES as ENGINE_TABLES
from croupier.lobby.feed.own_tables import SLOW_ACTION_SECONDS
from croupier.lobby.storage.schema import SEATS, TABLES
from croupier.lobby.storage.store import NOTIFICATION_CHANNEL
from croupier.lobby.storage.table_store import to_row
from croupier.lobby.tables.forming_table import Seat, Table, TableState, TimeControl
from croupier.runtime.database.database import Database, open_database
from croupier.runtime.database.notifications import Notifications
from croupier.runtime.database.schema_versions import migrate_database
from croupier.runtime.identity.tokens import PLAYER_AUDIENCE, TokenIssuer, load_private_key
from croupier.runtime.server.service import now_milliseconds
from croupier.runtime.server.tasks import end_tasks
from croupier.runtime.table_access import SEATED
from croupier_loadtest.postgres import postgres_server

HOUR = 3600
SEATS_OF_A_TABLE = 2
PROCESSES = 2
CHANGING_TABLES = 1_000
TICK_SECONDS = 0.05
SETTLING_SECONDS = 10.0
KIBIBYTE = 1024
INSERTED = 1_000


@dataclass(frozen=True, slots=True)
class Found:
    """The figures of one variant: bytes of memory, the share of a core, seconds from a commit to its message."""

    before_bytes: int
    streams_bytes: int
    idle_cores: float
    busy_cores: float
    changes_per_second: float
    latencies: Sequence[float]
    expected: int


def player_id(number: int) -> str:
    """Return the id of a player."""
    return f"{number:032x}"


def table_of(number: int, state: TableState) -> Table:
    """Return the table of two players: a slow game or a forming table."""
    seats = tuple(Seat(player_id(SEATS_OF_A_TABLE * number + seat), f"Player {seat}") for seat in range(2))
    return Table(
        table_id=f"{state.value.lower()}-{number}",
        state=state,
        game="solo",
        options={"rounds": 3},
        time_control=TimeControl(SLOW_ACTION_SECONDS, 0, 0),
        seats=seats,
        host_player_id=seats[0].player_id,
        access=SEATED,
        created_milliseconds=now_milliseconds(),
        updated_milliseconds=now_milliseconds(),
    )


async def fill(database: Database, players: int) -> list[Table]:
    """Store the tables of all players, as lobby and engine do; return the forming ones."""
    pairs = players // SEATS_OF_A_TABLE
    games = [table_of(number, TableState.PLAYING) for number in range(pairs)]
    forming = [table_of(number, TableState.FORMING) for number in range(min(CHANGING_TABLES, pairs))]
    deadline = now_milliseconds() + HOUR * 1000
    known = {"status": "open", "game": "solo", "rules_version": 1, "config": "{}", "seed": bytes(32), "created_at": 0}
    entry = {"sequence": 1, "at": 0, "body": "{}", "to_act": 1, "away": 0}
    rows = {
        TABLES: [to_row(table) for table in (*games, *forming)],
        SEATS: [
            {"table_id": table.table_id, "player_id": seat.player_id}
            for table in (*games, *forming)
            for seat in table.seats
        ],
        ENGINE_TABLES: [{"table_id": game.table_id, **known} for game in games],
        ENTRIES: [{"table_id": game.table_id, "deadline": deadline, **entry} for game in games],
    }
    for table, values in rows.items():
        for start in range(0, len(values), INSERTED):
            part = values[start : start + INSERTED]
            await database.write(_execute, insert(table), part)
    return forming


def _execute(connection: Connection, statement: Executable, values: list[dict[str, Any]]) -> None:
    connection.execute(statement, values)


async def make_changes(
    database: Database, tables: Sequence[Table], per_second: int, seconds: float
) -> tuple[int, Sequence[int]]:
    """Change the tables in turn as another replica does, and notify; each has the number of its transaction as a name.

    Returns the number of changes, and when each transaction was committed, in nanoseconds of the monotonic clock.
    """
    notifications = Notifications(database, structlog.get_logger())
    notifying = asyncio.create_task(notifications.run({}))
    statement = (
        update(TABLES)
        .where(TABLES.c.table_id == bindparam("id_before"))
        .values(version=TABLES.c.version + 1, seats=bindparam("new_seats"), updated_milliseconds=bindparam("now"))
    )
    upcoming, began, made, committed = cycle(tables), time.monotonic(), 0, list[int]()
    while (elapsed := time.monotonic() - began) < seconds:
        changed = list(islice(upcoming, min(round(elapsed * per_second) - made, len(tables))))
        if changed:
            name, now = f"change {len(committed):08d}", now_milliseconds()
            rows = [{"id_before": table.table_id, "new_seats": _seats(table, name), "now": now} for table in changed]
            await database.write(_execute, statement, rows)
            committed.append(time.monotonic_ns())
            for table in changed:
                notifications.send(NOTIFICATION_CHANNEL, table.table_id)
            made += len(changed)
        await asyncio.sleep(TICK_SECONDS)
    await end_tasks([notifying])
    return made, committed


def _seats(table: Table, name: str) -> Any:
    return to_row(replace(table, seats=(replace(table.seats[0], name=name), *table.seats[1:])))["seats"]


async def measure(url: str, options: argparse.Namespace, *, mine: bool) -> Found:
    """Measure a new lobby on a new database."""
    await migrate_database(url, PACKAGES)
    flags = [f"--max-streams={2 * options.streams}", f"--access-token-seconds={HOUR}"]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        extra = {"lobby": (*NO_LIMITS, *flags), "engine": NO_LIMITS}
        services = stack.enter_context(started_services(Path(folder), database=url, extra_flags=extra))
        database = open_database(url)
        forming = await fill(database, options.streams)
        key = load_private_key(services.folder.signing_key("lobby"))
        issuer = TokenIssuer(key, PLAYER_AUDIENCE, HOUR, now_milliseconds)
        stack.enter_context(free_server_cores())
        pid, address = services.pids["lobby"], services.addresses["lobby"]["listen"]
        pin(pid, SERVER_CORES)
        await asyncio.sleep(SETTLING_SECONDS)
        before = psutil.Process(pid).memory_info().rss
        calls = []
        for number in range(options.streams):
            pair = number // SEATS_OF_A_TABLE
            one = forming[pair].table_id if pair < len(forming) else f"playing-{pair}"
            calls.append((issuer.issue(player_id(number))[0], "" if mine else one))
        processes = [
            stack.enter_context(StreamProcess(address, calls[number::PROCESSES])) for number in range(PROCESSES)
        ]
        began = time.monotonic()
        for process in processes:
            pin(process.pid, DRIVER_CORES)
        await asyncio.gather(*(process.opened() for process in processes))
        print(f"  {options.streams:,} streams are open after {time.monotonic() - began:.0f} s", flush=True)
        await asyncio.sleep(SETTLING_SECONDS)
        after = psutil.Process(pid).memory_info().rss
        idle = usage(pid)
        await asyncio.sleep(options.idle_seconds)
        idle_cores = usage(pid).since(idle).cpu_seconds / options.idle_seconds
        busy, began = usage(pid), time.monotonic()
        made, committed = await make_changes(database, forming, options.changes, options.seconds)
        seconds = time.monotonic() - began
        busy_cores = usage(pid).since(busy).cpu_seconds / seconds
        await asyncio.sleep(SETTLING_SECONDS)
        arrivals = [arrival for process in processes for arrival in await process.arrivals()]
        # The lobby may find a change before its writer goes on.
        latencies = [max(0, at - committed[number]) / 1e9 for number, at in arrivals]
        await database.close()
    return Found(before, after, idle_cores, busy_cores, made / seconds, latencies, made * SEATS_OF_A_TABLE)


def rows(found: Mapping[str, Found], streams: int) -> list[Row]:
    """Return the rows of all variants."""
    base = found[BASELINE]
    shown = []
    for name, one in found.items():
        part = [] if name == BASELINE else [one]
        of_stream = [(each.streams_bytes - each.before_bytes) / streams for each in (one, base)]
        centiles = statistics.quantiles(one.latencies, n=100)
        shown += [
            Row(
                "memory",
                name,
                f"RSS {one.streams_bytes / KIBIBYTE**2:.0f} MiB, {one.before_bytes / KIBIBYTE**2:.0f} without streams, "
                f"{of_stream[0] / KIBIBYTE:.1f} KiB a stream",
                [of_stream[0] / of_stream[1] for _ in part],
                "to baseline",
            ),
            Row(
                "idle",
                name,
                f"{100 * one.idle_cores:.1f} % of a core",
                [one.idle_cores / base.idle_cores for _ in part],
                "to baseline",
            ),
            Row(
                "delivery",
                name,
                f"{one.changes_per_second:.0f} changes/s, {len(one.latencies):,} of at most {one.expected:,} messages, "
                f"p50 {1000 * centiles[49]:.0f}, p99 {1000 * centiles[98]:.0f} ms, "
                f"{100 * one.busy_cores:.1f} % of a core",
                [one.busy_cores / base.busy_cores for _ in part],
                "CPU to baseline",
            ),
        ]
    return shown


BASELINE, OWN = "one table each", "own tables"


async def compare(options: argparse.Namespace) -> list[Row]:
    """Measure both variants."""
    found = {}
    with postgres_server(settings={}) as postgres:
        for name, database in ((BASELINE, "one"), (OWN, "own")):
            print(f"{name}:", flush=True)
            found[name] = await measure(postgres.create_database(database), options, mine=name == OWN)
    return rows(found, options.streams)


def main() -> None:
    """Measure and print all rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.own_tables", description=__doc__)
    parser.add_argument("--streams", type=int, default=20_000)
    parser.add_argument("--changes", type=int, default=1_000, help="changes a second")
    parser.add_argument("--seconds", type=float, default=20, help="the time with changes")
    parser.add_argument("--idle-seconds", type=float, default=60, help="the time without changes")
    print(format_table(asyncio.run(compare(parser.parse_args()))))


if __name__ == "__main__":
    main()
