"""Run the front door: python -m croupier.door."""

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from croupier.door.checks import check, now_utc
from croupier.door.envoy import Envoy, find_envoy, validate
from croupier.door.files import configuration_files, write_files
from croupier.door.settings import DoorSettings, RunSettings
from croupier.runtime.addresses import free_port
from croupier.runtime.server import announce, until_stopped
from croupier.runtime.settings import read_settings
from croupier.runtime.traces import needing_opentelemetry

PROGRAM = "croupier serve door"
HERE = "127.0.0.1"


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM; gives the exit code, which is 2 for faults of configuration."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        settings = read_settings(RunSettings, PROGRAM, given, os.environ)
        settings = _with_admin_port(settings)
        check(settings, now_utc())
        with TemporaryDirectory(prefix="croupier-door-") as folder:
            return asyncio.run(serve(settings, Path(folder)))
    except (ValueError, OSError) as fault:
        sys.stderr.write(f"{PROGRAM}: {str(fault).splitlines()[0]}\n")
        return 2


def _with_admin_port(settings: RunSettings) -> RunSettings:
    """The same settings with a free port in place of 0: the metrics' listener must know where Envoy is asked."""
    host, _, port = settings.admin_listen.rpartition(":")
    if port != "0":
        return settings
    return replace(settings, admin_listen=f"{host}:{free_port(host)}")


async def serve(settings: RunSettings, folder: Path) -> int:
    """Serve until stopped, with Envoy's files in a folder; raises ValueError if the settings do not allow it."""
    program = find_envoy(settings.envoy)
    traces_endpoint, relay = _relay(settings)
    traces = replace(settings.traces, endpoint=traces_endpoint)
    secrets = settings.secrets_folder or folder
    files = configuration_files(replace(settings, traces=traces, secrets_folder=secrets))
    write_files(files, folder)
    validate(program, folder / "envoy.yaml")
    envoy = await Envoy.start(program, folder, settings.workers)
    try:
        async with relay:
            await _announce(settings, envoy)
            return await _until_stopped(settings, envoy)
    finally:
        await envoy.kill()


def _relay(settings: DoorSettings) -> tuple[str, AbstractAsyncContextManager[object]]:
    """Where Envoy's traces go, and what takes them there while it is open; nowhere unless somebody wants them."""
    if not settings.traces.endpoint:
        return "", nullcontext()
    with needing_opentelemetry():
        from croupier.door.relay import relaying
    address = f"{HERE}:{free_port(HERE)}"
    return address, relaying(address, settings.traces.endpoint)


async def _announce(settings: RunSettings, envoy: Envoy) -> None:
    listeners = await envoy.admin.listeners()
    addresses = {"listen": listeners["players"], "admin": envoy.admin.address}
    if "metrics" in listeners:
        addresses["metrics"] = listeners["metrics"]
    announce(settings.ready_file, addresses)


async def _until_stopped(settings: RunSettings, envoy: Envoy) -> int:
    stop, end = asyncio.create_task(until_stopped()), asyncio.create_task(envoy.wait())
    await asyncio.wait({stop, end}, return_when=asyncio.FIRST_COMPLETED)
    if end.done():
        stop.cancel()
        sys.stderr.write(f"{PROGRAM}: Envoy ended by itself with exit code {end.result()}\n")
        return 1
    await envoy.admin.drain(settings.drain_seconds)
    await envoy.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
