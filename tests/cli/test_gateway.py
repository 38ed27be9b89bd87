"""The gateway of `croupier up`, with fake services."""

import importlib.util
import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from croupier.cli.commands import up as command
from croupier.cli.launcher.addresses import MAX_PORT, addresses_from
from croupier.cli.launcher.data_folder import prepare_data_folder
from croupier.cli.launcher.gateway import MISSING, GatewayChoice, is_installed
from croupier.cli.launcher.replicas import MAX_INSTANCES, Replicas
from tests.cli.conftest import events, fake_services, received_flags


async def output_of_up(folder: Path, gateway: GatewayChoice | None) -> list[str]:
    """Run `croupier up`, stop it as soon as it is up, and return its output."""
    message: list[str] = []

    def note(line: str) -> None:
        message.append(line)
        if line.startswith("Ctrl-C"):
            os.kill(os.getpid(), signal.SIGINT)

    await command.up(folder, 0, replace(fake_services(), note=note), gateway)
    return message


async def test_the_gateway_opens_last_and_drains_first(tmp_path: Path) -> None:
    (tmp_path / "lobby.behaviour").write_text("wait for the gateway")
    message = await output_of_up(tmp_path, GatewayChoice())
    [where] = (line for line in message if line.startswith("players connect to 127.0.0.1:"))
    assert where.endswith("by gRPC, gRPC-Web or JSON")
    assert events(tmp_path)[:4] == ["scoring up", "engine up", "lobby up", "gateway up"]
    assert events(tmp_path)[4:] == ["gateway drained", "lobby drained", "engine drained", "scoring drained"]
    flags = received_flags(tmp_path, "gateway")
    expected_flags = {"lobby", "engine", "scoring", "listen", "admin-listen", "metrics-listen", "lobby-public-key"}
    assert flags.keys() >= expected_flags
    assert "certificate" not in flags


async def test_without_envoy_services_run_without_a_gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert not is_installed()
    message = await output_of_up(tmp_path, GatewayChoice())
    assert message[0] == MISSING
    assert "the extra `gateway`" in MISSING
    assert not any("players connect" in line for line in message)
    assert "gateway up" not in events(tmp_path)
    assert MISSING not in await output_of_up(tmp_path, None)


async def test_the_gateway_gets_its_certificate(tmp_path: Path) -> None:
    message = await output_of_up(tmp_path, GatewayChoice(tls=True))
    flags = received_flags(tmp_path, "gateway")
    assert [Path(flags[kind]).name for kind in ("certificate", "key")] == [
        "gateway.certificate.pem",
        "gateway.private.pem",
    ]
    assert any(line.endswith(f"{tmp_path / 'keys' / 'gateway.authority.pem'}") for line in message)


def test_the_operators_certificate_replaces_the_development_certificate(tmp_path: Path) -> None:
    folder = prepare_data_folder(tmp_path)
    choice = GatewayChoice(tls=True, certificate=Path("a.pem"), key=Path("b.pem"))
    assert choice.flags(folder) == ["--certificate=a.pem", "--key=b.pem"]
    assert choice.authority(folder) is None


def test_the_gateway_has_the_port_and_services_have_those_above_it() -> None:
    at = addresses_from(7700, Replicas(engine=3), with_gateway=True)
    assert at["gateway"] == {"listen": "127.0.0.1:7700", "admin": "127.0.0.1:7709", "metrics": "127.0.0.1:7708"}
    assert [at[service]["listen"] for service in ("lobby", "engine", "scoring", "engine-3")] == [
        *("127.0.0.1:7710", "127.0.0.1:7720", "127.0.0.1:7730", "127.0.0.1:7780")
    ]
    every = [address for addresses in at.values() for address in addresses.values()]
    assert len(set(every)) == len(every)


def test_the_highest_port_has_room_for_all_instances() -> None:
    at = addresses_from(MAX_PORT, Replicas(*[MAX_INSTANCES] * 3), with_gateway=True)
    ports = [int(address.rpartition(":")[2]) for addresses in at.values() for address in addresses.values()]
    assert max(ports) < 2**16
