"""Programs accept what the manifests give them: Envoy, the services and Locust, on this machine.

Envoy also exports the metrics in use, and drains.
"""

import asyncio
import re
import shutil
import sys
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

import pytest

from croupier.cli.faults import MISUSED
from croupier.cli.launcher.keys import make_missing
from croupier.gateway.configuration import configuration_files, write_files
from croupier.gateway.envoy import Envoy, find_envoy, validate
from croupier.gateway.settings import GatewaySettings
from croupier.runtime.server.program import SettingsError
from tests.k8s.building import build, every_folder, run_to_end
from tests.k8s.exported import ENVOY, ON_FIRST_REQUEST
from tests.k8s.objects import SERVICES, container_of, environment, main_container, named, settings_of
from tests.k8s.volume_policies import SECRETS, secrets_of
from tests.programs import missing

pytestmark = pytest.mark.cluster

ANY_PORT = "127.0.0.1:0"
SECONDS = 60


def mounted(overlay: str, deployment: str, container_name: str, folder: Path) -> dict[str, str]:
    """Return the variables of a container of an overlay, whose mounts become folders with new keys below `folder`."""
    objects, made = build(overlay), folder / "made"
    make_missing(made, 2, datetime.now(UTC))
    owner, container = named(objects, "Deployment", deployment), container_of(objects, deployment, container_name)
    places = {mount["mountPath"]: folder / mount["name"] for mount in container["volumeMounts"]}
    for place in places.values():
        place.mkdir()
        for secret in secrets_of(owner, place.name):
            source = made / "tls" / deployment if secret.endswith(("-tls", "-certificate", "-ca")) else made
            for key in SECRETS[secret]:
                shutil.copy(source / key, place / key)
    return {name: _here(value, places) for name, value in environment(container).items()}


def _here(value: str, places: dict[str, Path]) -> str:
    """Return the path on this machine of a mount, or of a path in it."""
    folder, _, name = value.rpartition("/")
    if value in places:
        return str(places[value])
    return str(places[folder] / name) if folder in places else value


@pytest.fixture
def envoy() -> Path:
    """Return the program Envoy."""
    try:
        return find_envoy()
    except SettingsError as fault:
        missing(str(fault))


def write_configuration(overlay: str, folder: Path) -> Path:
    """Write the configuration as the init container of an overlay does, with new keys; returns its folder."""
    making = container_of(build(overlay), "gateway", "configuration")
    assert making["args"] == ["gateway", "config", "--output", "/etc/envoy", "--check"]
    given = mounted(overlay, "gateway", "configuration", folder)
    admin = str(folder / "admin.sock")
    given |= {"CROUPIER_LISTEN": ANY_PORT, "CROUPIER_METRICS_LISTEN": ANY_PORT, "CROUPIER_ADMIN_SOCKET": admin}
    made = folder / "configuration"
    write_files(configuration_files(settings_of(GatewaySettings, given), made), made)
    return made


@pytest.mark.gateway
@every_folder
def test_envoy_accepts_the_configuration(envoy: Path, folder: str, tmp_path: Path) -> None:
    made = write_configuration(folder, tmp_path)
    validate(envoy, made / "envoy.yaml")
    assert (made / "page" / "index.html").exists()


@pytest.mark.gateway
async def test_the_metrics_that_are_used_are_exported(envoy: Path, tmp_path: Path) -> None:
    running = await Envoy.start(envoy, write_configuration("everything", tmp_path), 1)
    try:
        address = (await running.admin.listeners())["metrics"]
        page = await asyncio.to_thread(_page, address)
    finally:
        await running.terminate()
    lines = [line for line in page.splitlines() if not line.startswith("#")]
    refused = [line for line in lines if "update_rejected" in line and not line.endswith(" 0")]
    assert refused == [], "Envoy refuses the files of certificates"
    for name, labels in ENVOY.items():
        own = [line for line in lines if line.startswith(name + "{")]
        assert own or name in ON_FIRST_REQUEST, name
        assert all(any(f"{label}=" in line for line in own) for label in labels if own), name


def _page(address: str) -> str:
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=SECONDS) as answer:
        text: str = answer.read().decode()
        return text


def test_envoy_drains_for_as_long_as_the_container_beside_it_waits() -> None:
    envoy, drain = (container_of(build("production"), "gateway", name) for name in ("gateway", "drain"))
    flags = envoy["args"]
    assert flags[flags.index("--drain-time-s") + 1] == drain["args"][1]
    assert flags[flags.index("--drain-strategy") + 1] == "immediate"
    assert float(drain["args"][1]) < envoy["lifecycle"]["preStop"]["sleep"]["seconds"]


@pytest.mark.gateway
async def test_the_drain_container_drains_envoy_which_still_accepts_connections(envoy: Path, tmp_path: Path) -> None:
    probed, drain = (container_of(build("laptop"), "gateway", name) for name in ("gateway", "drain"))
    assert probed["readinessProbe"]["tcpSocket"]["port"] == "grpc"
    running = await Envoy.start(envoy, write_configuration("laptop", tmp_path), 1)
    try:
        _, *command = drain["command"]
        waiting = await asyncio.create_subprocess_exec(
            sys.executable, *command, str(running.admin.path), *drain["args"][1:], stderr=asyncio.subprocess.PIPE
        )
        assert waiting.stderr is not None
        assert b"waits" in await asyncio.wait_for(waiting.stderr.readline(), SECONDS)
        assert await running.admin.is_ready()
        waiting.terminate()
        assert await asyncio.wait_for(waiting.wait(), SECONDS) == 0
        assert not await running.admin.is_ready()
        # As the readiness probe does.
        host, _, port = (await running.admin.listeners())["players"].rpartition(":")
        _, writer = await asyncio.open_connection(host, int(port))
        writer.close()
    finally:
        await running.terminate()


@pytest.mark.slow
@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("folder", ["laptop", "everything"])
def test_a_service_starts_up_to_its_database(folder: str, service: str, tmp_path: Path) -> None:
    given = mounted(folder, service, service, tmp_path)
    # The program checks its tables last, before it opens a port.
    given["CROUPIER_DATABASE"] = f"sqlite:///{tmp_path / 'without-tables.db'}"
    command = container_of(build(folder), service, service)["args"]
    done = run_to_end(sys.executable, "-m", "croupier.cli", *command, environment=given)
    assert done.returncode == MISUSED, done.stderr
    assert f'are missing: run "croupier migrate --service {service} ' in done.stderr.splitlines()[-1], done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("job", ["load-master", "load-workers"])
def test_locust_accepts_its_command_line(job: str) -> None:
    container = main_container(named(build("everything"), "Job", job))
    given = named(build("everything"), "ConfigMap", "load-")["data"]
    command = [word.replace("/opt/croupier/", "") for word in container["command"]]
    arguments = [re.sub(r"\$\((\w+)\)", lambda name: given[name[1]], word) for word in container["args"]]
    done = run_to_end(*command, *arguments, "--list")
    assert done.returncode == 0, done.stderr
