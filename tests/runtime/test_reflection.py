"""Tools that know nothing of the contract learn it from a server, and call its methods."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.runtime.site import LOBBY, Site, bearer, opened_site
from tests.waiting import TIMEOUT_SECONDS

BUF = Path(sys.executable).with_name("buf")
PROTOCOLS = ("grpc-v1", "grpc-v1alpha")


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with opened_site() as opened:
        yield opened


async def buf_curl(site: Site, *arguments: str, path: str = "") -> str:
    """The output of a call by `buf curl`, which succeeds."""
    (name, token), *_ = bearer()
    flags = ("--protocol", "grpc", "--http2-prior-knowledge", "--header", f"{name}: {token}")
    command = (str(BUF), "curl", *flags, *arguments, f"http://{site.listener.address}{path}")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
    output, errors = await asyncio.wait_for(process.communicate(), TIMEOUT_SECONDS)
    assert process.returncode == 0, errors.decode()
    return output.decode()


async def test_services_are_listed_to_tools_that_try_the_newest_name_first(site: Site) -> None:
    listed = (await buf_curl(site, "--list-services")).split()
    assert set(listed) == {LOBBY[1:], "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}
    assert f"{LOBBY[1:]}/GetTable" in (await buf_curl(site, "--list-methods")).split()


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_method_is_called_by_reflection(site: Site, protocol: str) -> None:
    """With options and messages of other packages in its files."""
    answer = await buf_curl(site, "--reflect-protocol", protocol, "-d", '{"tableId": "t1"}', path=f"{LOBBY}/GetTable")
    assert json.loads(answer)["table"] == {"tableId": "t1", "game": "ada"}
