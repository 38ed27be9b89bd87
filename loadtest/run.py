"""Runs Locust as a library. Importing it makes greenlets of threads, so nothing but `__main__` does."""

import signal
import threading
import time
from collections.abc import Callable
from random import Random

import gevent
import grpc._common
from grpc.experimental.gevent import init_gevent
from locust.env import Environment
from locust.event import Events

from croupier_client import CroupierError, Endpoints, RetryPolicy
from loadtest.backend import REACH_SECONDS, BackendMissing, backend
from loadtest.circle import Circle
from loadtest.client import ACTION_ACKNOWLEDGED, ACTION_SEEN, Connections, LoadClient
from loadtest.court import Court
from loadtest.house import House, Shares
from loadtest.mix import sittings
from loadtest.options import Options
from loadtest.old_report import MISSING, Percentiles, conditions_line, exit_code, report_lines
from loadtest.tally import Tally
from loadtest.users import Guests, player_class

MOST_THREADS = 512
ARRIVALS_PER_SECOND = 100
LOOPBACK = "127.0.0.1"
LOOK_SECONDS = 0.1
STREAM_LOOK_SECONDS = 2.0


def run(options: Options) -> int:
    """Put the services under load and tell what came of it; gives the exit code."""
    _prepare_grpc(sum(sitting.seats for sitting in sittings(options.kinds, options.tables)))
    print(f"seed        {options.seed} (python -m loadtest {command_line(options)})", flush=True)
    try:
        with backend(options.endpoints) as endpoints:
            connections = Connections(endpoints)
            try:
                check_answers(endpoints, connections)
                return _measured(options, connections)
            finally:
                connections.close()
    except BackendMissing as fault:
        print(f"loadtest: {fault}", flush=True)
        return MISSING


def _prepare_grpc(players: int) -> None:
    """Let grpc wait in greenlets; before any channel is made."""
    # Every call under way waits in a thread of this pool, whose usual size of 10 would let most players wait in turn.
    gevent.get_hub().threadpool.maxsize = min(MOST_THREADS, players + 32)
    # Whoever waits for a stream wakes up this often, so that a signal is noticed; here signals go their own way, and
    # the usual tenth of a second costs a third of the time of this process.
    grpc._common.MAXIMUM_WAIT_TIMEOUT = STREAM_LOOK_SECONDS
    init_gevent()


def command_line(options: Options) -> str:
    """The flags that repeat this run, as far as chance is concerned."""
    mix = ",".join(kind.game for kind in options.kinds)
    return f"--tables {options.tables} --seconds {options.seconds:g} --mix {mix} --seed {options.seed}"


def check_answers(endpoints: Endpoints, connections: Connections) -> None:
    """Raises BackendMissing unless the lobby lets a player in."""
    secret = f"loadtest-probe-{Random().getrandbits(64):x}"
    policy = RetryPolicy(total_seconds=REACH_SECONDS)
    probe = LoadClient(secret, "Probe", connections=connections, policy=policy, timed=lambda *_: None)
    try:
        probe.sign_in()
    except CroupierError as error:
        raise BackendMissing(f"the lobby at {endpoints.lobby} lets nobody in: {error}") from None


def _measured(options: Options, connections: Connections) -> int:
    time_up = threading.Event()
    court, tally = Court(most_tables=options.tables * 8 + 64), Tally()
    shares = Shares(probed=options.probed_share)
    house = House(court, tally, options.patience_seconds, shares, time.monotonic, time.sleep, time_up.is_set)
    circles = [Circle(sitting, house) for sitting in sittings(options.kinds, options.tables)]
    guests = Guests(connections, circles, options.seed, options.patience_seconds)
    environment = Environment(user_classes=[player_class(house, guests)], events=Events())  # type: ignore[no-untyped-call]
    for number in (signal.SIGINT, signal.SIGTERM):
        gevent.signal_handler(number, time_up.set)
    seconds, busy = _load(environment, options, guests.count, house, time_up)
    where = "services elsewhere" if options.endpoints else "services on the same machine"
    latencies = {name: _percentiles(environment, name) for name in (ACTION_ACKNOWLEDGED, ACTION_SEEN)}
    conditions = conditions_line(options.tables, guests.count, where, busy)
    for line in report_lines(court, tally, seconds, latencies, conditions):
        print(line, flush=True)
    return exit_code(court)


def _load(
    environment: Environment, options: Options, players: int, house: House, time_up: threading.Event
) -> tuple[float, float]:
    """Let players come, play and go; gives the seconds until time was up, and what share of a core was used in them."""
    runner = environment.create_local_runner()
    web = environment.create_web_ui(LOOPBACK, options.web_port) if options.web_port is not None else None
    if web is not None:
        print(f"web page    http://{LOOPBACK}:{options.web_port}", flush=True)
    started, used = time.monotonic(), time.process_time()
    runner.start(players, spawn_rate=ARRIVALS_PER_SECOND)
    time_up.wait(options.seconds)
    time_up.set()
    seconds = time.monotonic() - started
    busy = (time.process_time() - used) / seconds
    _await(lambda: not house.tally.playing, options.grace_seconds)
    runner.quit()
    if web is not None:
        web.stop()  # type: ignore[no-untyped-call]
    return seconds, busy


def _await(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)


def _percentiles(environment: Environment, name: str) -> Percentiles:
    entry = environment.stats.get(name, "Play")
    p50, p95, p99 = (float(entry.get_response_time_percentile(share)) for share in (0.5, 0.95, 0.99))
    return p50, p95, p99
