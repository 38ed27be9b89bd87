"""The supervisor with fake services: order, restarts, limits, and faults in one line."""

import asyncio
import json
import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from croupier.cli.faults import FAILED, MISUSED, CommandFault
from croupier.cli.launcher import supervisor
from croupier.cli.launcher.addresses import check_free
from croupier.cli.launcher.replicas import Replicas, service_of
from croupier.cli.launcher.supervisor import running_services
from croupier.cli.services import endpoints_of, reachable_services
from tests.cli.conftest import events, fake_services, received_flags
from tests.waiting import until

DEADLINE_SECONDS = 60.0
SEVEN = Replicas(lobby=2, engine=3, scoring=2)
MANY: dict[str, Any] = {"replicas": SEVEN}
ENGINES = ("engine", "engine-2", "engine-3")


def known(folder: Path) -> dict[str, Any]:
    """Return the running services by the folder's file."""
    services: dict[str, Any] = json.loads((folder / "services.json").read_text())
    return services


async def test_services_get_the_flags_they_need_and_start_and_drain_in_order(tmp_path: Path) -> None:
    settings = fake_services(extra_flags={"engine": ["--odd=1"]}, is_paced=False)
    async with running_services(tmp_path, settings=settings) as services:
        assert known(tmp_path)["pid"] == os.getpid()
        for service, pid in services.pids.items():
            assert known(tmp_path)["services"][service] == {"pid": pid, **services.addresses[service]}
    assert events(tmp_path) == [
        *("scoring up", "engine up", "lobby up"),
        *("lobby drained", "engine drained", "scoring drained"),
    ]
    assert not (tmp_path / "services.json").exists()
    flags = {service: received_flags(tmp_path, service) for service in ("lobby", "engine", "scoring")}
    for service in flags:
        assert flags[service]["service"] == service
    common = {"service", "database", "listen", "metrics-listen", "ready-file"}
    control = {"control-listen", "lobby-public-key"}
    assert flags["lobby"].keys() == common | {"signing-key", "engine-control"}
    unpaced = {"min-bot-delay-milliseconds", "table-entries-per-second", "network-units-per-second"}
    own = {"websocket-listen", "signing-key", "scoring-control", "odd"}
    assert flags["engine"].keys() == common | control | own | unpaced
    assert {flags["engine"][name] for name in unpaced} == {"0"}
    assert flags["scoring"].keys() == common | control | {"engine-public-key"}


async def test_with_mutual_tls_each_service_gets_a_certificate_of_its_own(tmp_path: Path) -> None:
    async with running_services(tmp_path, settings=fake_services(mutual_tls=True)) as services:
        for service in ("lobby", "engine", "scoring"):
            flags = received_flags(tmp_path, service)
            files = services.folder.certificate_files(service)
            assert tuple(Path(flags[name]) for name in ("tls-certificate", "tls-key", "tls-ca")) == files
            assert all(path.exists() for path in files)
        with pytest.raises(CommandFault, match="take no players themselves: name their gateway with --server"):
            await reachable_services(tmp_path, None, print).__aenter__()


async def test_replicas_share_a_database_and_know_all_addresses(tmp_path: Path) -> None:
    async with running_services(
        tmp_path, settings=fake_services(**MANY, extra_flags={"engine-2": ["--odd=1"]})
    ) as services:
        at = services.addresses
        every = {instance: received_flags(tmp_path, instance) for instance in at}
        assert endpoints_of(at).engine.split(",") == [at[engine]["listen"] for engine in ENGINES]
    assert list(every) == ["scoring", "scoring-2", *ENGINES, "lobby", "lobby-2"]
    assert {flags["database"] for flags in every.values()} == {"postgresql://user:secret@127.0.0.1/shared"}
    controls = [at[engine]["control"] for engine in ENGINES]
    assert len(set(controls)) == len(ENGINES)
    for lobby in ("lobby", "lobby-2"):
        assert every[lobby]["engine-control"].split(",") == controls
    for engine in ENGINES:
        assert every[engine]["scoring-control"].split(",") == [at["scoring"]["control"], at["scoring-2"]["control"]]
        assert ("odd" in every[engine]) == (engine == "engine-2")
        assert "table-entries-per-second" not in every[engine]
    ends = [line.split() for line in events(tmp_path) if line.endswith("drained")]
    assert [service_of(instance) for instance, _ in ends] == [*["lobby"] * 2, *["engine"] * 3, *["scoring"] * 2]


async def test_a_deploy_of_one_instance_drains_it_and_starts_it_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "MAX_FAST_FAILURES", 0)  # A deploy is not a failure.
    notes: list[str] = []
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        running_services(tmp_path, settings=fake_services(notes, **MANY)) as services,
    ):
        before, pids = {name: dict(at) for name, at in services.addresses.items()}, services.pids
        for engine in ENGINES:
            await services.restart(engine)
            assert services.pids[engine] != pids[engine]
        assert services.addresses == before
        assert services.restarts == {name: int(name in ENGINES) for name in before}
        assert events(tmp_path)[-2:] == ["engine-3 drained", "engine-3 up"]
        assert {name: it["pid"] for name, it in known(tmp_path)["services"].items()} == services.pids
    assert notes[:2] == [
        "the engine ended with exit code 0",
        f"the engine listens on {before['engine']['listen']} again",
    ]


async def test_a_killed_service_is_restarted_on_the_same_addresses(tmp_path: Path) -> None:
    notes: list[str] = []
    async with running_services(tmp_path, settings=fake_services(notes)) as services:
        before = {service: dict(addresses) for service, addresses in services.addresses.items()}
        pid = services.pids["engine"]
        services.kill("engine")
        await until(lambda: len(notes) == 2)
        assert services.addresses == before
        assert services.restarts == {"scoring": 0, "engine": 1, "lobby": 0}
        assert known(tmp_path)["services"]["engine"]["pid"] == services.pids["engine"] != pid
    assert notes == [
        "the engine was killed by signal 9",
        f"the engine listens on {before['engine']['listen']} again",
    ]


async def test_a_service_that_ends_repeatedly_is_not_restarted_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "FIRST_BACKOFF_SECONDS", 0.001)
    monkeypatch.setattr(supervisor, "MAX_FAST_FAILURES", 3)
    behaviour = tmp_path / "engine.behaviour"
    notes: list[str] = []
    with pytest.raises(CommandFault, match=r"the engine failed 4 times in a row: see .*engine\.log"):  # noqa: PT012 - see body
        async with (
            asyncio.timeout(DEADLINE_SECONDS),
            running_services(tmp_path, settings=fake_services(notes)) as services,
        ):
            behaviour.write_text("exit")
            services.kill("engine")
            await until(lambda: services.restarts["engine"] == 1)
            behaviour.write_text("refuse")
            await asyncio.Event().wait()
    assert "the engine cannot run: its key is missing: make one" in notes
    assert events(tmp_path)[-2:] == ["lobby drained", "scoring drained"]


async def test_a_database_that_is_away_for_half_a_minute_is_waited_for() -> None:
    waits = [supervisor.backoff_seconds(failures) for failures in range(supervisor.MAX_FAST_FAILURES + 1)]
    assert waits[0] == 0
    assert waits == sorted(waits)
    assert 30 < sum(waits) < 60


@pytest.mark.parametrize(
    ("instance", "behaviour", "settings", "message", "code"),
    [
        ("engine", "fail", {}, r"the engine ended with exit code 3 .*\n  engine has failed$", FAILED),
        ("engine-2", "refuse", MANY, "^the engine-2 cannot run: its key is missing: make one$", MISUSED),
        ("gateway", "refuse", {"gateway": lambda _: []}, "^the gateway cannot run: its key is missing", MISUSED),
        ("scoring", "hang", {}, r"the scoring was not ready within 0\.5 seconds", FAILED),
    ],
)
async def test_an_instance_that_does_not_start_is_reported_and_none_remains(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    instance: str,
    behaviour: str,
    settings: Any,
    message: str,
    code: int,
) -> None:
    if behaviour == "hang":
        monkeypatch.setattr(supervisor, "START_SECONDS", 0.5)
    (tmp_path / "logs").mkdir(0o700)
    (tmp_path / "logs" / "engine.log").touch(0o600)
    (tmp_path / "logs" / "engine.log").write_text("an older story\n")
    (tmp_path / f"{instance}.behaviour").write_text(behaviour)
    with pytest.raises(CommandFault, match=message) as refused:
        async with running_services(tmp_path, settings=fake_services(**settings)):
            pytest.fail("the services started")
    assert refused.value.exit_code == code
    if instance != "scoring":
        assert f"{instance} up" not in events(tmp_path)
        assert events(tmp_path)[-1].startswith("scoring")
        assert events(tmp_path)[-1].endswith("drained")
        assert ("lobby drained" in events(tmp_path)) == (instance == "gateway")


def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        occupied = f"127.0.0.1:{server.getsockname()[1]}"
        wanted = {"engine": {"listen": "127.0.0.1:0"}, "engine-3": {"listen": "127.0.0.1:0", "control": occupied}}
        with pytest.raises(CommandFault, match=f"{occupied}, where the engine-3 is to listen, is in use: .*--port"):
            check_free(wanted)


async def test_two_supervisors_never_share_a_folder(tmp_path: Path) -> None:
    async with running_services(tmp_path, settings=fake_services()):
        with pytest.raises(CommandFault, match=r"services run in .* already"):
            async with running_services(tmp_path, settings=fake_services()):
                pass
    async with running_services(tmp_path, settings=fake_services()):
        pass


async def test_an_impatient_second_cancellation_kills(tmp_path: Path) -> None:
    entered = asyncio.Event()

    async def run() -> None:
        async with running_services(tmp_path, settings=fake_services()) as services:
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
