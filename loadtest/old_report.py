"""What a run tells at its end, and its exit code."""

import os
import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import version

from loadtest.court import Court
from loadtest.tally import Tally

FINE, BROKEN, MISSING = 0, 1, 2
Percentiles = tuple[float, float, float]


def report_lines(
    court: Court, tally: Tally, seconds: float, latencies: Mapping[str, Percentiles], conditions: str
) -> Iterator[str]:
    """The report; `latencies` are p50, p95 and p99 in milliseconds by what took so long."""
    unfinished = court.tables_opened - court.tables_finished
    yield f"tables      {court.tables_finished} finished, {unfinished} not over at the end"
    games = ", ".join(f"{game} {count}" for game, count in sorted(court.games_finished.items()))
    yield f"games       {games or 'none finished'}"
    yield f"actions     {tally.actions} acknowledged in {seconds:.1f} s, {tally.actions / seconds:.1f} a second"
    for name, (p50, p95, p99) in latencies.items():
        yield f"latency     {name}: p50 {p50:.0f} ms, p95 {p95:.0f} ms, p99 {p99:.0f} ms"
    yield (
        f"checked     {tally.views_compared} views, {tally.replays_checked} replays and {tally.sheets_checked} score "
        f"sheets by their players, {tally.repeats} repeated requests"
    )
    probes = ", ".join(f"{name} {count}" for name, count in sorted(tally.refusals.items()))
    yield f"refused     {tally.refusals.total()} on purpose: {probes or 'none'}"
    if tally.failures:
        yield f"failed      {tally.failures.total()} calls"
        yield from (f"  {what} {count}: {tally.first_failures[what]}" for what, count in tally.failures.items())
    yield f"violations  {violations_line(court)}"
    for first in court.first.values():
        yield f"  first {first.invariant} at table {first.table_id}, sequence {first.sequence}: {first.detail}"
    if not court.tables_finished:
        yield "no game was finished: nothing is proved"
    yield f"conditions  {conditions}"


def violations_line(court: Court) -> str:
    """All violations by name."""
    if not court.counts:
        return "0 violations"
    return ", ".join(f"{invariant} {count}" for invariant, count in court.counts.most_common())


def exit_code(court: Court) -> int:
    """BROKEN with a violation or without a finished game."""
    return BROKEN if court.counts or not court.tables_finished else FINE


def conditions_line(tables: int, players: int, where: str, busy: float) -> str:
    """The machine, the versions, and how busy the load test itself was: the share of one core that it used."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("croupier", "grpcio", "locust", "gevent"))
    machine = f"{platform.system()} {platform.machine()} with {os.cpu_count()} cores"
    python = f"Python {platform.python_version()}"
    load = f"{tables} tables with {players} players in one process that used {busy:.0%} of a core"
    return f"{load}, {where}, {machine}, {python}, {packages}"
