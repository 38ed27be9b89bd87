"""Tools read the contract from a server by reflection, and call its methods."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.runtime.lobby_server import LOBBY, LobbyServer, bearer
from tests.waiting import TIMEOUT_SECONDS

BUF = Path(sys.executable).with_name("buf")
PROTOCOLS = ("grpc-v1", "grpc-v1alpha")


async def buf_curl(lobby: LobbyServer, *arguments: str, path: str = "") -> str:
    """Return the output of a successful call by `buf curl`."""
    (name, token), *_ = bearer()
    flags = ("--protocol", "grpc", "--http2-prior-knowledge", "--header", f"{name}: {token}")
    command = (str(BUF), "curl", *flags, *arguments, f"http://{lobby.listener.address}{path}")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
    output, errors = await asyncio.wait_for(process.communicate(), TIMEOUT_SECONDS)
    assert process.returncode == 0, errors.decode()
    return output.decode()


async def test_services_are_listed_to_tools_that_try_the_newest_name_first(lobby: LobbyServer) -> None:
    listed = (await buf_curl(lobby, "--list-services")).split()
    assert set(listed) == {LOBBY[1:], "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}
    assert f"{LOBBY[1:]}/GetTable" in (await buf_curl(lobby, "--list-methods")).split()


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_method_is_called_by_reflection(lobby: LobbyServer, protocol: str) -> None:
    """The files of the method import options and messages of other packages."""
    answer = await buf_curl(lobby, "--reflect-protocol", protocol, "-d", '{"tableId": "t1"}', path=f"{LOBBY}/GetTable")
    assert json.loads(answer)["table"] == {"tableId": "t1", "game": "ada"}
