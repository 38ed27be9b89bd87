"""The supervisor with services that only listen: order, restarts, limits, and faults told in one line."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from croupier.cli import supervisor
from croupier.cli.addresses import addresses_from
from croupier.cli.faults import CommandFault
from croupier.cli.supervisor import Manner, running_services

FAKE = (sys.executable, str(Path(__file__).with_name("fake_service.py")))
DEADLINE_SECONDS = 20.0


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not condition():  # noqa: ASYNC110 - files and processes have no event
            await asyncio.sleep(0.01)


def diary(folder: Path) -> list[str]:
    return [" ".join(line.split()[:2]) for line in (folder / "diary").read_text().splitlines()]


def manner(notes: list[str] | None = None, shuffle_seed: str | None = None) -> Manner:
    return Manner(command=FAKE, note=(notes if notes is not None else []).append, shuffle_seed=shuffle_seed)


async def test_services_start_and_drain_in_order(tmp_path: Path) -> None:
    async with running_services(tmp_path, manner=manner()) as services:
        told = json.loads((tmp_path / "services.json").read_text())
        assert told["pid"] == os.getpid()
        for service, pid in services.pids.items():
            assert told["services"][service] == {"pid": pid, **services.addresses[service]}
    assert diary(tmp_path) == [
        *("scoring up", "engine up", "lobby up"),
        *("lobby drained", "engine drained", "scoring drained"),
    ]
    assert not (tmp_path / "services.json").exists()


async def test_each_service_gets_the_flags_it_needs(tmp_path: Path) -> None:
    async with running_services(tmp_path, manner=manner(shuffle_seed="7")):
        flags = {line.split()[0]: set(line.split()[2:]) for line in (tmp_path / "diary").read_text().splitlines()}
    common = {"listen", "metrics-listen", "database", "ready-file"}
    control = {"control-listen", "lobby-public-key"}
    assert flags["lobby"] == common | {"signing-key", "engine-control"}
    assert flags["engine"] == common | control | {"signing-key", "scoring-control", "shuffle-seed"}
    assert flags["scoring"] == common | control | {"engine-public-key"}


async def test_a_killed_service_comes_back_on_the_same_addresses(tmp_path: Path) -> None:
    notes: list[str] = []
    async with running_services(tmp_path, manner=manner(notes)) as services:
        before = {service: dict(addresses) for service, addresses in services.addresses.items()}
        pid = services.pids["engine"]
        services.kill("engine")
        await until(lambda: len(notes) == 2)
        assert services.addresses == before
        assert services.restarts == {"scoring": 0, "engine": 1, "lobby": 0}
        told = json.loads((tmp_path / "services.json").read_text())["services"]["engine"]
        assert told["pid"] == services.pids["engine"] != pid
    assert notes == [
        "the engine was killed by signal 9; it is started again",
        f"the engine listens on {before['engine']['listen']} again",
    ]


async def test_a_service_that_keeps_dying_is_given_up_with_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "FIRST_BACKOFF_SECONDS", 0.001)
    fate = tmp_path / "engine.fate"
    given_up = r"the engine ended with exit code \d 6 times in a row .*engine\.log"
    with pytest.raises(CommandFault, match=given_up):  # noqa: PT012 - a context that fails in the middle
        async with asyncio.timeout(DEADLINE_SECONDS), running_services(tmp_path, manner=manner()) as services:
            fate.write_text("fade")
            services.kill("engine")
            await asyncio.Event().wait()
    assert diary(tmp_path)[-2:] == ["lobby drained", "scoring drained"]


async def test_a_service_that_dies_at_the_start_is_told_with_the_end_of_its_log(tmp_path: Path) -> None:
    (tmp_path / "engine.fate").write_text("die")
    with pytest.raises(CommandFault, match=r"the engine ended with exit code 3 .*\n  engine has a bad day"):
        async with running_services(tmp_path, manner=manner()):
            pass
    assert diary(tmp_path) == ["scoring up", "scoring drained"]


async def test_a_service_that_is_never_ready_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "START_SECONDS", 0.5)
    (tmp_path / "scoring.fate").write_text("hang")
    with pytest.raises(CommandFault, match=r"the scoring was not ready within 0\.5 seconds"):
        async with running_services(tmp_path, manner=manner()):
            pass


async def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    first_port = free_block()
    taken = addresses_from(first_port)["engine"]["control"]
    with (
        socket.create_server(("127.0.0.1", int(taken.rpartition(":")[2]))),
        pytest.raises(CommandFault, match=f"{taken}, where the engine is to listen, is in use: .*--port"),
    ):
        async with running_services(tmp_path, first_port=first_port, manner=manner()):
            pass
    assert not (tmp_path / "diary").exists()


async def test_two_supervisors_never_share_a_folder(tmp_path: Path) -> None:
    async with running_services(tmp_path, manner=manner()):
        with pytest.raises(CommandFault, match=r"services run in .* already"):
            async with running_services(tmp_path, manner=manner()):
                pass
    async with running_services(tmp_path, manner=manner()):
        pass


async def test_an_impatient_second_cancellation_kills(tmp_path: Path) -> None:
    entered = asyncio.Event()

    async def run() -> None:
        async with running_services(tmp_path, manner=manner()) as services:
            pids.update(services.pids)
            services.kill("lobby", signal.SIGSTOP)  # it cannot drain
            entered.set()
            await asyncio.Event().wait()

    pids: dict[str, int] = {}
    task = asyncio.create_task(run())
    await asyncio.wait_for(entered.wait(), DEADLINE_SECONDS)
    task.cancel()
    await until(lambda: not (tmp_path / "services.json").exists())  # the drain has begun
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, DEADLINE_SECONDS)
    for pid in pids.values():
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def free_block() -> int:
    """The first port of a block that is free just now."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
    return port - 40
