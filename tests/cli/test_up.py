"""`croupier up` in a terminal: Ctrl-C stops it in order, and no process outlives it."""

import os
import signal
import socket
from pathlib import Path

import pytest

from croupier.cli.faults import CommandFault
from croupier.cli.launcher.background import started_services
from tests.processes import is_alive
from tests.waiting import until

DEADLINE_SECONDS = 60.0
LOBBY_OFFSET = 10
"""How far the lobby's port is above that of `--port`."""


def is_held_back(pid: int, number: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    pending = next(line for line in status.splitlines() if line.startswith("ShdPnd:"))
    return bool(int(pending.split()[1], 16) >> (number - 1) & 1)


def test_ctrl_c_ends_everything_in_order(tmp_path: Path) -> None:
    with started_services(tmp_path / "data") as services:
        pids = services.pids
        assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
        # A terminal sends Ctrl-C to every process of the group; the services ignore it.
        for pid in pids.values():
            os.kill(pid, signal.SIGINT)
            assert is_held_back(pid, signal.SIGINT)
        os.kill(services.process.pid, signal.SIGINT)
        assert services.process.wait(DEADLINE_SECONDS) == 0
        message = services.folder.log_file("up").read_text()
        assert message.splitlines()[-2:] == [
            "stopping: calls in progress are finished first",
            "stopped; everything is kept",
        ]
        assert "was killed" not in message
    assert not any(map(is_alive, pids.values()))
    assert not (tmp_path / "data" / "services.json").exists()


async def test_no_service_outlives_a_killed_supervisor(tmp_path: Path) -> None:
    with started_services(tmp_path) as services:
        pids = services.pids.values()
        services.process.kill()
        await until(lambda: not any(map(is_alive, pids)))


def test_programs_get_the_fault_of_services_that_do_not_start(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as occupied,
        pytest.raises(CommandFault, match=r"the services did not start:\n.*is in use"),
        started_services(tmp_path, port=occupied.getsockname()[1] - LOBBY_OFFSET),
    ):
        pass
