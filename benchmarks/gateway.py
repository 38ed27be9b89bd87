"""The cost of the gateway, with and without TLS."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import psutil

from benchmarks.loads import Level, Load, engine_load, in_turn
from benchmarks.measurement import SERVER, Row, latencies, merged, ratios
from benchmarks.services import services
from croupier.cli.launcher.background import BackgroundServices
from croupier.cli.services import endpoints_of
from croupier.gateway.envoy import find_envoy
from croupier_client import Endpoints, Tls

LEVEL = Level(tables=20, rounds=3, seconds=2.0, think_seconds=0.04)
FLAGS: Mapping[str, tuple[str, ...]] = {"gateway": (), "gateway, TLS": ("--tls",)}
ENVOY, DIRECT = "Envoy", "direct"


async def compare() -> list[Row]:
    """Measure players through Envoy in turn with players connected to the engine."""
    try:
        find_envoy()
    except ValueError as missing:
        return [Row("gateway", "skipped", str(missing))]
    async with _loads() as loads:
        measured = await in_turn(loads)
    direct = measured[DIRECT]
    total = merged(direct)
    rows = [Row("gateway", DIRECT, f"{latencies(total)}, engine {total.cpu_microseconds():.0f} µs CPU a move")]
    for name in FLAGS:
        rounds, total = measured[name], merged(measured[name])
        # No ratio of p99: in one round it depends on a dozen moves, and more on the machine than the gateway.
        p50 = ratios(lambda one: one.p50_milliseconds, rounds, direct)
        pairs = zip(rounds, direct, strict=True)
        envoy = [one.cpu_microseconds(ENVOY) / base.cpu_microseconds() for one, base in pairs]
        rows.append(Row("gateway", name, latencies(total), p50, "p50 to direct"))
        cpu = f"Envoy {total.cpu_microseconds(ENVOY):.0f}, engine {total.cpu_microseconds():.0f} µs CPU a move"
        rows.append(Row("gateway", name, cpu, envoy, "CPU of Envoy to engine, direct"))
    return rows


@asynccontextmanager
async def _loads() -> AsyncIterator[dict[str, Load]]:
    """Open tables behind each gateway, and others at the engine of the first."""
    async with AsyncExitStack() as stack:
        loads = dict[str, Load]()
        for name, flags in FLAGS.items():
            started = stack.enter_context(services(gateway=flags))
            pids = {SERVER: started.pids["engine"]}
            if not loads:
                direct = engine_load(pids, endpoints_of(started.addresses), LEVEL)
                loads[DIRECT] = await stack.enter_async_context(direct)
            [envoy] = psutil.Process(started.pids["gateway"]).children()
            behind = engine_load({**pids, ENVOY: envoy.pid}, _gateway_of(started, bool(flags)), LEVEL)
            loads[name] = await stack.enter_async_context(behind)
        yield loads


def _gateway_of(started: BackgroundServices, has_tls: bool) -> Endpoints:
    address = started.addresses["gateway"]["listen"].replace("127.0.0.1", "localhost")
    authority = Path(started.folder.path) / "keys" / "gateway.authority.pem"
    return Endpoints.single(address, Tls(authority.read_bytes()) if has_tls else None)
