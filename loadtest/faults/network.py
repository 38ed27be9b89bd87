"""A network of two namespaces with a cable between them that can be pulled: for root on Linux only."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from loadtest.faults.proxy import Proxy

HERE, THERE, PREFIX_BITS = "10.213.77.1", "10.213.77.2", 30


class NoNetwork(Exception):
    """This machine does not let us make namespaces; the text says why."""


@dataclass(frozen=True, slots=True)
class Network:
    """A way to a target that leads through another namespace and back."""

    link: str
    port: int
    """Where the way begins, at THERE."""

    async def cut(self) -> None:
        """Pull the cable: packets are lost, and neither side is informed."""
        await _ip("link", "set", self.link, "down")

    async def heal(self) -> None:
        """Put it in again."""
        await _ip("link", "set", self.link, "up")


@asynccontextmanager
async def network_to(proxy: Proxy, host: str, port: int) -> AsyncIterator[Network]:
    """A network whose way leads to a target of this namespace; raises NoNetwork."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        raise NoNetwork("namespaces are for root, with the program ip")
    space, link, peer = (f"{name}{os.getpid()}" for name in ("croupier-", "cf-a", "cf-b"))
    try:
        await _lay(space, link, peer)
        async with Proxy(("ip", "netns", "exec", space)) as there:
            back = await proxy.open("network", host, port, listen_host=HERE)
            yield Network(link, await there.open("way", HERE, back, listen_host=THERE))
    finally:
        with suppress(NoNetwork):
            await _ip("netns", "delete", space)


async def _lay(space: str, link: str, peer: str) -> None:
    await _ip("netns", "add", space)
    await _ip("link", "add", link, "type", "veth", "peer", "name", peer, "netns", space)
    await _ip("address", "add", f"{HERE}/{PREFIX_BITS}", "dev", link)
    await _ip("-n", space, "address", "add", f"{THERE}/{PREFIX_BITS}", "dev", peer)
    await _ip("link", "set", link, "up")
    await _ip("-n", space, "link", "set", peer, "up")
    await _ip("-n", space, "link", "set", "lo", "up")


async def _ip(*arguments: str) -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec("ip", *arguments, stdout=pipe, stderr=pipe)
    _, error = await process.communicate()
    if process.returncode:
        raise NoNetwork(f"ip {' '.join(arguments)}: {error.decode().strip()}")
