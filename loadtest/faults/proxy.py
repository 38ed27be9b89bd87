"""A TCP proxy in a process of its own, to hold up, slow down and break what goes through it.

It carries several lanes, each from a port of its own to one target. `python -m loadtest.faults.proxy` takes one JSON
command a line on standard input and answers each with one line; it ends with its standard input.
"""

import asyncio
import json
import socket
import struct
import sys
from contextlib import suppress
from typing import Any, Self

CHUNK_BYTES = 64 * 1024
ANSWER_SECONDS = 60.0
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with no time: the connection ends with a reset."""


class Connection:
    """One connection through a lane; `dead` ones take everything and pass on nothing, as if the way was lost."""

    def __init__(self, near: asyncio.StreamWriter, far: asyncio.StreamWriter) -> None:
        self.dead = False
        self._writers = (near, far)

    def reset(self) -> None:
        """End both sides with a reset."""
        for writer in self._writers:
            with suppress(OSError):
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            writer.transport.abort()


class Lane:
    """A route to one target, on which everything can be broken."""

    def __init__(self, host: str, port: int) -> None:
        self.target = (host, port)
        self.delay_seconds = 0.0
        self.flowing = asyncio.Event()
        self.flowing.set()
        self.connections: set[Connection] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection until an end of it is reached."""
        try:
            await self.flowing.wait()
            far_reader, far_writer = await asyncio.open_connection(*self.target)
        except OSError:
            writer.transport.abort()
            return
        connection = Connection(writer, far_writer)
        self.connections.add(connection)
        pumps = [
            asyncio.create_task(self._pump(connection, reader, far_writer)),
            asyncio.create_task(self._pump(connection, far_reader, writer)),
        ]
        try:
            await asyncio.gather(*pumps)
        finally:
            self.connections.discard(connection)

    async def _pump(self, connection: Connection, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        # uvloop raises RuntimeError for a connection that was aborted.
        with suppress(OSError, RuntimeError):
            while chunk := await source.read(CHUNK_BYTES):
                if self.delay_seconds:
                    await asyncio.sleep(self.delay_seconds)
                await self.flowing.wait()
                if connection.dead:
                    continue
                sink.write(chunk)
                await sink.drain()
        sink.close()

    # What can be done to it

    def heal(self) -> None:
        """Pass everything on again; what was held goes its way, dead connections stay dead."""
        self.delay_seconds = 0.0
        self.flowing.set()

    def hold(self) -> None:
        """Pass nothing on until healed, and lose nothing: a network that is cut."""
        self.flowing.clear()

    def delay(self, seconds: float) -> None:
        """Let every chunk wait."""
        self.delay_seconds = seconds

    def reset(self) -> None:
        """Reset every connection there is."""
        for connection in list(self.connections):
            connection.reset()

    def swallow(self) -> None:
        """Make every connection there is a half-open one for good; new ones are whole."""
        for connection in self.connections:
            connection.dead = True

    def aim(self, host: str, port: int) -> None:
        """Connect new connections to another target."""
        self.target = (host, port)


class _Process:
    def __init__(self) -> None:
        self._lanes: dict[str, Lane] = {}
        self._servers: list[asyncio.Server] = []

    async def do(self, command: dict[str, Any]) -> Any:
        name, what, arguments = command["lane"], command["do"], command.get("with", [])
        if what == "open":
            return await self._open(name, *arguments)
        for lane in self._named(name):
            getattr(lane, what)(*arguments)
        return None

    def _named(self, wanted: str) -> list[Lane]:
        is_group = wanted.endswith(":")
        return [lane for name, lane in self._lanes.items() if name == wanted or (is_group and name.startswith(wanted))]

    async def _open(self, name: str, listen_host: str, host: str, port: int) -> int:
        lane = self._lanes[name] = Lane(host, port)
        server = await asyncio.start_server(lane.serve, listen_host, 0)
        self._servers.append(server)
        bound: int = server.sockets[0].getsockname()[1]
        return bound


async def _main() -> None:
    commands = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    process = _Process()
    while line := await commands.readline():
        print(json.dumps(await process.do(json.loads(line))), flush=True)


class Proxy:
    """The proxy's process, as the tests see it: `async with Proxy() as proxy`."""

    def __init__(self, prefix: tuple[str, ...] = ()) -> None:
        """`prefix` is put before the command, for example to run it in another network namespace."""
        self._command = (*prefix, sys.executable, "-m", "loadtest.faults.proxy")

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(*self._command, stdin=pipe, stdout=pipe)
        self._asking = asyncio.Lock()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()

    async def open(self, lane: str, host: str, port: int, listen_host: str = "127.0.0.1") -> int:
        """Open a lane to a target; returns the port on which it listens."""
        return int(await self.do(lane, "open", listen_host, host, port))

    async def do(self, lanes: str, what: str, *arguments: object) -> Any:
        """Call a method of the lane of that name, or of every lane whose name begins so where it ends with a colon."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        async with self._asking, asyncio.timeout(ANSWER_SECONDS):
            command = {"lane": lanes, "do": what, "with": arguments}
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
            return json.loads(await self._process.stdout.readline())


if __name__ == "__main__":
    import uvloop

    uvloop.run(_main())
