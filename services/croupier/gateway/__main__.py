"""Run the gateway: python -m croupier.gateway."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from croupier.gateway.checks import check, exposure, now_utc
from croupier.gateway.configuration import configuration_files, write_files
from croupier.gateway.envoy import Envoy, find_envoy, validate
from croupier.gateway.settings import RunSettings
from croupier.runtime.server.grpc_server import wait_for_stop, write_ready_file
from croupier.runtime.server.program import run_program
from croupier.runtime.settings import read_settings

PROGRAM = "croupier serve gateway"


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM; returns the exit code."""
    return run_program(PROGRAM, lambda: _run(sys.argv[1:] if arguments is None else arguments))


def _run(arguments: Sequence[str]) -> int:
    settings = read_settings(RunSettings, PROGRAM, arguments)
    check(settings, now_utc())
    if warning := exposure(settings):
        sys.stderr.write(f"{PROGRAM}: {warning}\n")
    with TemporaryDirectory(prefix="croupier-gateway-") as folder:
        return asyncio.run(serve(settings, Path(folder)))


async def serve(settings: RunSettings, folder: Path) -> int:
    """Serve until stopped, with Envoy's files in a folder; raises SettingsError for unusable settings."""
    program = find_envoy(settings.envoy)
    private = {"admin_socket": folder / "admin.sock", "secrets_folder": folder}
    update = {name: getattr(settings, name) or file for name, file in private.items()}
    write_files(configuration_files(settings.model_copy(update=update), folder), folder)
    validate(program, folder / "envoy.yaml")
    envoy = await Envoy.start(program, folder, settings.workers)
    try:
        listeners = await envoy.admin.listeners()
        addresses = {"listen": listeners["players"], "admin": str(envoy.admin.path)}
        if "metrics" in listeners:
            addresses["metrics"] = listeners["metrics"]
        if settings.web_table:
            addresses["web_table"] = listeners["players"]
        write_ready_file(settings.ready_file, addresses)
        return await _wait_for_stop(settings, envoy)
    finally:
        await envoy.kill()


async def _wait_for_stop(settings: RunSettings, envoy: Envoy) -> int:
    stop, exited = asyncio.create_task(wait_for_stop()), asyncio.create_task(envoy.wait())
    await asyncio.wait({stop, exited}, return_when=asyncio.FIRST_COMPLETED)
    if exited.done():
        stop.cancel()
        sys.stderr.write(f"{PROGRAM}: Envoy exited unexpectedly with code {exited.result()}\n")
        return 1
    await envoy.admin.drain(settings.drain_seconds)
    await envoy.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
