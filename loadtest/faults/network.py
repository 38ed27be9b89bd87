"""Two network namespaces with a link between them that can be cut: for root on Linux only."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from loadtest.faults.proxy import Proxy

LOCAL_ADDRESS, REMOTE_ADDRESS, PREFIX_BITS = "10.213.77.1", "10.213.77.2", 30


class NetworkUnavailable(Exception):
    """This machine does not allow namespaces; the text is the reason."""


@dataclass(frozen=True, slots=True)
class NamespaceNetwork:
    """A route to a target through another namespace."""

    link: str
    port: int
    """The port at REMOTE_ADDRESS that leads to the target."""

    async def cut(self) -> None:
        """Take the link down: packets are lost, and neither side is notified."""
        await _ip("link", "set", self.link, "down")

    async def heal(self) -> None:
        """Bring the link up again."""
        await _ip("link", "set", self.link, "up")


@asynccontextmanager
async def network_to(proxy: Proxy, host: str, port: int) -> AsyncIterator[NamespaceNetwork]:
    """Create a route through another namespace to a target of this one; raises NetworkUnavailable."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        raise NetworkUnavailable("namespaces need root and the program ip")
    space, link, peer = (f"{name}{os.getpid()}" for name in ("croupier-", "cf-a", "cf-b"))
    try:
        await _ip("netns", "add", space)
        await _ip("link", "add", link, "type", "veth", "peer", "name", peer, "netns", space)
        await _ip("address", "add", f"{LOCAL_ADDRESS}/{PREFIX_BITS}", "dev", link)
        await _ip("-n", space, "address", "add", f"{REMOTE_ADDRESS}/{PREFIX_BITS}", "dev", peer)
        await _ip("link", "set", link, "up")
        await _ip("-n", space, "link", "set", peer, "up")
        await _ip("-n", space, "link", "set", "lo", "up")
        async with Proxy(("ip", "netns", "exec", space)) as remote:
            back = await proxy.open("network", host, port, listen_host=LOCAL_ADDRESS)
            yield NamespaceNetwork(link, await remote.open("route", LOCAL_ADDRESS, back, listen_host=REMOTE_ADDRESS))
    finally:
        with suppress(NetworkUnavailable):
            await _ip("netns", "delete", space)


async def _ip(*arguments: str) -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec("ip", *arguments, stdout=pipe, stderr=pipe)
    _, error = await process.communicate()
    if process.returncode:
        raise NetworkUnavailable(f"ip {' '.join(arguments)}: {error.decode().strip()}")
