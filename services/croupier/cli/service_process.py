"""One service as a child process: started, awaited until it is ready, stopped."""

import asyncio
import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from croupier.cli.addresses import Addresses
from croupier.cli.data_folder import DataFolder
from croupier.cli.faults import CommandFault

LARGEST_LOG_BYTES = 16 * 1024 * 1024
READY_POLL_SECONDS = 0.02
SHOWN_LOG_LINES = 12
LONGEST_LOG_LINE_CHARACTERS = 400


async def start_service(
    service: str, command: Sequence[str], folder: DataFolder, deadline_seconds: float
) -> tuple[asyncio.subprocess.Process, Addresses]:
    """Start a service by its command line and wait until it is ready; gives the process and where it really listens.

    Raises CommandFault with the end of its log if it ends or is not ready in time; no process is left then.
    """
    folder.ready_file(service).unlink(missing_ok=True)
    process = await _spawn(command, folder.log_file(service))
    try:
        async with asyncio.timeout(deadline_seconds):
            addresses = await _readiness(service, process, folder)
    except BaseException as fault:
        await stop_process(process, grace_seconds=0)
        if isinstance(fault, TimeoutError):
            what = f"the {service} was not ready within {deadline_seconds:g} seconds"
            raise _failed(what, service, folder) from None
        raise
    return process, addresses


async def _spawn(command: Sequence[str], log_file: Path) -> asyncio.subprocess.Process:
    with _opened_log(log_file) as log:
        return await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.PIPE, stdout=log, stderr=log)


def _opened_log(log_file: Path) -> BinaryIO:
    is_full = log_file.exists() and log_file.stat().st_size > LARGEST_LOG_BYTES
    return log_file.open("wb" if is_full else "ab")


async def _readiness(service: str, process: asyncio.subprocess.Process, folder: DataFolder) -> Addresses:
    while (addresses := _announced(folder.ready_file(service))) is None:
        if process.returncode is not None:
            raise _failed(f"the {service} {ending(process.returncode)} before it was ready", service, folder)
        await asyncio.sleep(READY_POLL_SECONDS)
    return addresses


def _announced(ready_file: Path) -> Addresses | None:
    try:
        addresses: dict[str, str] = json.loads(ready_file.read_text())
    except FileNotFoundError:
        return None
    return addresses


def _failed(what: str, service: str, folder: DataFolder) -> CommandFault:
    log_file = folder.log_file(service)
    lines = last_lines(log_file)
    return CommandFault("\n".join([f"{what}; the end of {log_file}:", *(f"  {line}" for line in lines)]))


def last_lines(log_file: Path) -> list[str]:
    """The end of a log, a few lines of bounded length."""
    with log_file.open("rb") as log:
        log.seek(max(0, log_file.stat().st_size - SHOWN_LOG_LINES * LONGEST_LOG_LINE_CHARACTERS))
        lines = log.read().decode(errors="replace").splitlines()
    return [line[:LONGEST_LOG_LINE_CHARACTERS] for line in lines[-SHOWN_LOG_LINES:]]


def ending(returncode: int) -> str:
    """How a process ended, in words."""
    return f"was killed by signal {-returncode}" if returncode < 0 else f"ended with exit code {returncode}"


async def stop_process(process: asyncio.subprocess.Process, grace_seconds: float) -> None:
    """Ask a process to end (SIGTERM) and kill it when the grace is over; 0 kills it at once."""
    if process.returncode is None and grace_seconds > 0:
        process.terminate()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), grace_seconds)
    if process.returncode is None:
        process.kill()
    await process.wait()
