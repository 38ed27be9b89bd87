"""Programs as child processes: each in a session of its own, gone with this process, and measured from outside."""

import asyncio
import contextlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from croupier.runtime.leash import leashed

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_PARENT, _SESSION, _USER_TICKS, _SYSTEM_TICKS, _PAGES = 1, 3, 11, 12, 21
"""Fields of /proc/PID/stat, counted from behind the program's name."""


async def spawned(
    command: Sequence[str], environment: Mapping[str, str], log: Path, cwd: Path
) -> asyncio.subprocess.Process:
    """Start a program that writes into a log; if it cannot be started, the log says why."""
    with log.open("ab") as file:
        return await asyncio.create_subprocess_exec(
            *leashed(command),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env=environment,
            cwd=cwd,
            start_new_session=True,
        )


def signal_session(process: asyncio.subprocess.Process, number: int) -> None:
    """Send a signal to a program and all its children."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


async def ended(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Whether a program ends within so many seconds."""
    try:
        await asyncio.wait_for(process.wait(), max(seconds, 0.01))
    except TimeoutError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Use:
    """What one process used so far, and holds."""

    cpu_seconds: float
    memory_bytes: int


def uses() -> Mapping[int, Mapping[int, Use]]:
    """What every process of this machine uses, by session and process."""
    found: dict[int, dict[int, Use]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError, IndexError):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                ticks = int(fields[_USER_TICKS]) + int(fields[_SYSTEM_TICKS])
                use = Use(ticks / _TICKS, int(fields[_PAGES]) * _PAGE_BYTES)
                found.setdefault(int(fields[_SESSION]), {})[int(folder.name)] = use
    return found
