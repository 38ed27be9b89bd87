"""The door as the manifests set it up: Envoy takes its configuration, and tells the metrics that are asked for."""

import asyncio
import sys
import urllib.request
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from croupier.cli.keys import keys
from croupier.door.envoy import Envoy, find_envoy, validate
from croupier.door.files import configuration_files, write_files
from croupier.door.settings import DoorSettings
from croupier.runtime.addresses import free_port
from croupier.runtime.settings import read_settings
from rehearsal.plan import plan_of
from rehearsal.probes import answers
from tests.k8s.building import build
from tests.k8s.exported import AFTER_A_REQUEST, ENVOY
from tests.k8s.objects import containers, environment, named

ANY_PORT = "127.0.0.1:0"
SECONDS = 20


@pytest.fixture
def envoy() -> Path:
    """Envoy itself."""
    try:
        return find_envoy()
    except ValueError as fault:
        pytest.skip(str(fault))


@pytest.fixture(params=["laptop", "production", "everything"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The files that the door of an overlay would be given, with keys and certificates that are there."""
    keys(tmp_path, 2, datetime.now(UTC), lambda _: None)
    door = named(build(request.param), "Deployment", "door")
    (maker,) = (one for one in containers(door) if one["name"] == "configuration")
    assert maker["args"] == ["door", "config", "--output", "/etc/envoy", "--check"]
    given = {name: _here(value, tmp_path) for name, value in environment(maker).items()}
    # Envoy's administration is asked where it was said to be.
    admin = f"127.0.0.1:{free_port()}"
    given |= {"CROUPIER_LISTEN": ANY_PORT, "CROUPIER_METRICS_LISTEN": ANY_PORT, "CROUPIER_ADMIN_LISTEN": admin}
    write_files(configuration_files(read_settings(DoorSettings, "door", [], given)), tmp_path)
    return tmp_path


def _here(value: str, folder: Path) -> str:
    places = {"keys": folder, "tls": folder / "tls" / "door", "certificate": folder / "tls" / "door"}
    for name, place in places.items():
        value = value.replace(f"/etc/croupier/{name}", str(place))
    return value.replace("/etc/envoy", str(folder))


def test_envoy_takes_the_configuration(envoy: Path, folder: Path) -> None:
    validate(envoy, folder / "envoy.yaml")


async def test_the_page_has_the_metrics_that_are_asked_for(envoy: Path, folder: Path) -> None:
    running = await Envoy.start(envoy, folder, 1)
    try:
        address = (await running.admin.listeners())["metrics"]
        page = await asyncio.to_thread(_page, address)
    finally:
        await running.end()
    lines = [line for line in page.splitlines() if not line.startswith("#")]
    refused = [line for line in lines if "update_rejected" in line and not line.endswith(" 0")]
    assert refused == [], "Envoy does not take the files of certificates"
    for name, labels in ENVOY.items():
        own = [line for line in lines if line.startswith(name + "{")]
        assert own or name in AFTER_A_REQUEST, name
        assert all(any(f"{label}=" in line for line in own) for label in labels if own), name


def test_envoy_drains_for_as_long_as_what_stands_beside_it_waits() -> None:
    door = named(build("production"), "Deployment", "door")
    envoy, beside = (one for one in containers(door) if one["name"] in ("door", "drain"))
    flags = envoy["args"]
    assert flags[flags.index("--drain-time-s") + 1] == beside["args"][1]
    assert flags[flags.index("--drain-strategy") + 1] == "immediate"
    assert float(beside["args"][1]) < envoy["lifecycle"]["preStop"]["sleep"]["seconds"]


def _page(address: str) -> str:
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        text: str = answer.read().decode()
        return text


async def test_what_stands_beside_envoy_drains_it_and_load_balancers_still_get_through(
    envoy: Path, folder: Path
) -> None:
    door = named(build("laptop"), "Deployment", "door")
    (beside,) = (one for one in containers(door) if one["name"] == "drain")
    running = await Envoy.start(envoy, folder, 1)
    try:
        _, *command = beside["command"]
        waiting = await asyncio.create_subprocess_exec(
            sys.executable, *command, running.admin.address, *beside["args"][1:], stderr=asyncio.subprocess.PIPE
        )
        assert waiting.stderr is not None
        assert b"waits" in await asyncio.wait_for(waiting.stderr.readline(), SECONDS)
        assert await running.admin.is_ready()
        waiting.terminate()
        assert await asyncio.wait_for(waiting.wait(), SECONDS) == 0
        assert not await running.admin.is_ready()
        assert await is_ready_for_the_kubelet(await running.admin.listeners())
    finally:
        await running.end()


async def is_ready_for_the_kubelet(listeners: Mapping[str, str]) -> bool:
    """What the readiness probe of the door's pod says, asked where an Envoy really listens."""
    door = next(one for one in plan_of(build("production")).deployments if one.name == "door").pod
    probe = door.containers[0].readiness
    assert probe is not None
    asked = {door.ports["grpc"]: listeners["players"], door.ports["metrics"]: listeners["metrics"]}[probe.port]
    host, _, port = asked.rpartition(":")
    return await answers(replace(probe, port=int(port)), host, (), {})
