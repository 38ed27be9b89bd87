"""Players reach the gateway of an address of IPv6, also on a machine that has no other network."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from croupier.cli.launcher.background import started_services
from croupier.cli.launcher.data_folder import running_in
from tests.processes import wait_for_file
from tests.programs import program

pytestmark = pytest.mark.gateway

CROUPIER = (sys.executable, "-m", "croupier.cli")
GLOBAL = "fd00:db8::7"
SECONDS = 120


def played(address: str, folder: Path, into: Sequence[str] = ()) -> str:
    """Play at a gateway with the certificate of its folder, and leave; returns what was printed."""
    trusted = folder / "keys" / "gateway.authority.pem"
    play = ["play", "--server", address, "--ca-file", str(trusted), "--data-dir", str(folder / "player")]
    ended = subprocess.run(
        [*into, *CROUPIER, *play], input="/quit\n", capture_output=True, text=True, timeout=SECONDS, check=False
    )
    return ended.stdout + ended.stderr


@pytest.mark.slow
def test_a_gateway_on_all_addresses_of_ipv6_is_reached_by_ipv4_too(tmp_path: Path) -> None:
    with started_services(tmp_path, gateway=["--listen=::", "--tls"]) as services:
        listen = services.addresses["gateway"]["listen"]
        port = listen.removeprefix("[::]:")
        for host in ("[::1]", "127.0.0.1"):
            assert "Come back with: " in played(f"{host}:{port}", tmp_path), host
        printed = services.folder.log_file("up").read_text()
    assert port.isdecimal(), listen
    assert f"  gateway    {listen}" in printed


@contextmanager
def network_of_ipv6() -> Iterator[tuple[str, ...]]:
    """Make a network namespace whose only network is of IPv6; yields the command that runs a program in it."""
    if os.geteuid():
        pytest.skip("network namespaces need root")
    ip = str(program("ip", install="apt-get install iproute2"))
    space = f"croupier-ipv6-{os.getpid()}"
    inside = (ip, "-n", space)
    subprocess.run([ip, "netns", "add", space], check=True)
    try:
        subprocess.run([*inside, "link", "set", "lo", "up"], check=True)
        subprocess.run([*inside, "link", "add", "net0", "type", "veth", "peer", "name", "net1"], check=True)
        subprocess.run([*inside, "address", "add", f"{GLOBAL}/64", "dev", "net0", "nodad"], check=True)
        for link in ("net0", "net1"):
            subprocess.run([*inside, "link", "set", link, "up"], check=True)
        yield (ip, "netns", "exec", space)
    finally:
        subprocess.run([ip, "netns", "delete", space], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("listen", ["::", GLOBAL])
def test_a_machine_with_ipv6_alone_serves_other_machines(listen: str, tmp_path: Path) -> None:
    folder, log = tmp_path / "data", tmp_path / "up.log"
    up = ["up", "--port=0", f"--listen={listen}", "--tls", f"--data-dir={folder}"]
    with network_of_ipv6() as into, log.open("w") as output:
        process = subprocess.Popen([*into, *CROUPIER, *up], stdout=output, stderr=output)
        try:
            wait_for_file(folder / "services.json", process, log)
            running = running_in(folder)
            assert running is not None
            port = running["services"]["gateway"]["listen"].rpartition(":")[2]
            assert "Come back with: " in played(f"[{GLOBAL}]:{port}", folder, into)
        finally:
            process.terminate()
            process.wait(SECONDS)
    printed = log.read_text()
    assert f"players connect to [{GLOBAL}]:{port}, by gRPC" in printed
    assert f"croupier play --server [{GLOBAL}]:{port} --ca-file gateway.authority.pem" in printed
