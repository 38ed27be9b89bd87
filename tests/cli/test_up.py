"""`croupier up` as people run it: one folder, one supervisor; Ctrl-C ends it in order, and nothing outlives it."""

import os
import re
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from croupier.cli.background import BackgroundServices, started_services
from croupier.cli.faults import CommandFault
from tests.cli.conftest import Command

DEADLINE_SECONDS = 60.0


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    # One whose parent has not asked for its end yet is dead all the same.
    return stat.rpartition(")")[2].split()[0] != "Z"


def is_held_back(pid: int, number: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    pending = next(line for line in status.splitlines() if line.startswith("ShdPnd:"))
    return bool(int(pending.split()[1], 16) >> (number - 1) & 1)


def said(services: BackgroundServices) -> str:
    return services.folder.log_file("up").read_text()


def test_ctrl_c_ends_everything_in_order(croupier: Command, tmp_path: Path) -> None:
    with started_services(tmp_path / "data") as services:
        pids = services.pids
        assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
        for key in (tmp_path / "data" / "keys").glob("*.private.pem"):
            assert key.stat().st_mode & 0o777 == 0o600
        second = croupier("up", f"--data-dir={tmp_path / 'data'}", "--port=0")
        assert second.code == 1
        assert "services run in" in second.in_one_line()
        # A terminal sends Ctrl-C to every process of the group, the services too: they let it pass by.
        for pid in pids.values():
            os.kill(pid, signal.SIGINT)
            assert is_held_back(pid, signal.SIGINT)
        os.kill(services.process.pid, signal.SIGINT)
        assert services.process.wait(DEADLINE_SECONDS) == 0
        assert said(services).splitlines()[-2:] == [
            "stopping: calls under way are finished first",
            "stopped; everything is kept",
        ]
        assert "was killed" not in said(services)
    assert not any(map(is_alive, pids.values()))
    assert not (tmp_path / "data" / "services.json").exists()


def test_a_killed_service_comes_back_and_none_outlives_a_killed_supervisor(tmp_path: Path) -> None:
    with started_services(tmp_path) as services:
        pids, addresses = services.pids, services.addresses
        services.kill("scoring")
        until(lambda: services.pids != pids)
        assert services.addresses == addresses
        pids = services.pids
        services.process.kill()
        services.process.wait(DEADLINE_SECONDS)
        until(lambda: not any(map(is_alive, pids.values())))


def test_a_port_in_use_is_one_clear_line(croupier: Command, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = croupier("up", f"--data-dir={tmp_path}", f"--port={taken.getsockname()[1]}")
    assert ended.code == 1
    # Others on this machine may have one of the ports beside it, and another instance is named.
    assert re.search(r"127\.0\.0\.1:\d+, where the \w+ is to listen, is in use", ended.in_one_line())


def test_programs_hear_why_services_do_not_start(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(CommandFault, match=r"the services did not start:\n.*is in use"),
        started_services(tmp_path, first_port=taken.getsockname()[1]),
    ):
        pass
