"""One instance of a service as a child process: started, awaited until it is ready, stopped."""

import asyncio
import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from croupier.cli.faults import FAILED, MISUSED, CommandFault
from croupier.cli.launcher.addresses import Addresses
from croupier.cli.launcher.data_folder import DataFolder
from croupier.cli.launcher.replicas import service_of
from croupier.runtime.identity.permissions import open_private

READY_POLL_SECONDS = 0.02
SHOWN_LOG_LINES = 12
MAX_LOG_LINE_CHARACTERS = 400
_PROGRAM = "croupier serve "


async def start_service(
    instance: str, command: Sequence[str], environment: Mapping[str, str], folder: DataFolder, deadline_seconds: float
) -> tuple[asyncio.subprocess.Process, Addresses]:
    """Start a service by its command line and wait until it is ready; returns the process and its actual addresses.

    Raises CommandFault with the end of its log if it ends or is not ready in time; no process is left then.
    """
    folder.ready_file(instance).unlink(missing_ok=True)
    with open_private(folder.log_file(instance), os.O_APPEND) as output:
        log = _Log(folder.log_file(instance), output.seek(0, os.SEEK_END))
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=output, stderr=output, env=environment
        )
    try:
        async with asyncio.timeout(deadline_seconds):
            while not folder.ready_file(instance).exists():
                if process.returncode is not None:
                    raise log.refusal(instance, process.returncode)
                await asyncio.sleep(READY_POLL_SECONDS)
        return process, json.loads(folder.ready_file(instance).read_text())
    except BaseException as fault:
        await stop_process(process, grace_seconds=0)
        if isinstance(fault, TimeoutError):
            raise log.fault(f"the {instance} was not ready within {deadline_seconds:g} seconds") from None
        raise


@dataclass(frozen=True, slots=True)
class _Log:
    """The log of one process: a file from some byte on."""

    file: Path
    begins: int

    def fault(self, message: str) -> CommandFault:
        """Return a fault with the end of the log."""
        lines = [f"  {line}" for line in last_lines(self.file, self.begins)]
        return CommandFault(f"{message}; the end of {self.file}:", details=lines)

    def refusal(self, instance: str, returncode: int) -> CommandFault:
        """Return why a service did not become ready: its own lines about invalid settings, or the end of its log."""
        own = _PROGRAM + service_of(instance) + ": "
        faults = [line.removeprefix(own) for line in last_lines(self.file, self.begins) if line.startswith(own)]
        if returncode not in (FAILED, MISUSED) or not faults:
            return self.fault(f"the {instance} {ending(returncode)} before it was ready")
        return CommandFault(f"the {instance} cannot run: {'; '.join(faults)}", returncode)


def last_lines(log_file: Path, begins: int = 0) -> list[str]:
    """Return the end of a log, from a byte on: a few lines of bounded length."""
    size = log_file.stat().st_size
    with log_file.open("rb") as log:
        # After a rotation the file begins anew.
        log.seek(max(begins if begins <= size else 0, size - SHOWN_LOG_LINES * MAX_LOG_LINE_CHARACTERS))
        lines = log.read().decode(errors="replace").splitlines()
    return [line[:MAX_LOG_LINE_CHARACTERS] for line in lines[-SHOWN_LOG_LINES:]]


def ending(returncode: int) -> str:
    """Return in words how a process ended."""
    return f"was killed by signal {-returncode}" if returncode < 0 else f"ended with exit code {returncode}"


async def stop_process(process: asyncio.subprocess.Process, grace_seconds: float) -> None:
    """End a process by SIGTERM, and kill it when the grace period is over; 0 kills it at once."""
    if process.returncode is None and grace_seconds > 0:
        process.terminate()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), grace_seconds)
    if process.returncode is None:
        process.kill()
    await process.wait()
