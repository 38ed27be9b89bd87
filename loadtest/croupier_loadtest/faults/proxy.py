"""A TCP proxy in a process of its own, to hold, delay and break connections.

It has several routes, each from a port of its own to one target. `python -m croupier_loadtest.faults.proxy` reads one
JSON command a line from standard input and answers each with one line; it ends with its standard input.
"""

import asyncio
import json
import socket
import struct
import sys
from contextlib import suppress
from typing import Any, Self

from croupier.runtime.database.notifications import APPLICATION_NAME

CHUNK_BYTES = 64 * 1024
HEAD_BYTES = 5
"""Of a message of PostgreSQL: its type, and the number of its bytes from that number on."""
NOTIFICATION = b"A"
"""The type of a notification."""
ANSWER_SECONDS = 60.0
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with no time: the connection ends with a reset."""


class Connection:
    """One connection of a route; a `dead` one reads everything and forwards nothing, like a half-open connection."""

    def __init__(self, near: asyncio.StreamWriter, far: asyncio.StreamWriter) -> None:
        self.dead = False
        self.rest: bytes | None = None
        """What PostgreSQL has sent of a message on a connection for notifications; None on any other."""
        self._writers = (near, far)

    def reset(self) -> None:
        """End both sides with a reset."""
        for writer in self._writers:
            with suppress(OSError):
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            writer.transport.abort()


def split_messages(sent: bytes) -> tuple[list[bytes], bytes]:
    """Return the complete messages among the bytes that PostgreSQL has sent, and the rest."""
    messages = []
    while len(sent) >= HEAD_BYTES and len(sent) >= (end := 1 + int.from_bytes(sent[1:HEAD_BYTES])):
        messages.append(sent[:end])
        sent = sent[end:]
    return messages, sent


class Route:
    """A route to one target, with its faults."""

    def __init__(self, host: str, port: int) -> None:
        self.target = (host, port)
        """Where new connections lead."""
        self.delay_seconds = 0.0
        """The delay of every chunk."""
        self.notification_delay_seconds = 0.0
        """The delay of every chunk that PostgreSQL sends on connections for notifications."""
        self.loses_notifications = False
        """Whether every notification is dropped, and nothing else."""
        self.flowing = asyncio.Event()
        self.flowing.set()
        self.connections: set[Connection] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one connection until one side ends."""
        try:
            await self.flowing.wait()
            far_reader, far_writer = await asyncio.open_connection(*self.target)
        except OSError:
            writer.transport.abort()
            return
        connection = Connection(writer, far_writer)
        self.connections.add(connection)
        forwarding = [
            asyncio.create_task(self._forward(connection, reader, far_writer)),
            asyncio.create_task(self._forward(connection, far_reader, writer, is_answer=True)),
        ]
        try:
            await asyncio.gather(*forwarding)
        finally:
            self.connections.discard(connection)

    async def _forward(
        self,
        connection: Connection,
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
        *,
        is_answer: bool = False,
    ) -> None:
        # uvloop raises RuntimeError for a connection that was aborted.
        with suppress(OSError, RuntimeError):
            while chunk := await source.read(CHUNK_BYTES):
                if self.delay_seconds:
                    await asyncio.sleep(self.delay_seconds)
                await self.flowing.wait()
                if connection.dead:
                    continue
                if is_answer and connection.rest is not None:
                    messages, connection.rest = split_messages(connection.rest + chunk)
                    if self.loses_notifications:
                        messages = [message for message in messages if not message.startswith(NOTIFICATION)]
                    await asyncio.sleep(self.notification_delay_seconds)
                    chunk = b"".join(messages)
                elif not is_answer and APPLICATION_NAME.encode() in chunk:
                    connection.rest = b""
                sink.write(chunk)
                await sink.drain()
        sink.close()

    def heal(self) -> None:
        """Forward again, first what was held; dead connections stay dead."""
        self.delay_seconds = self.notification_delay_seconds = 0.0
        self.loses_notifications = False
        self.flowing.set()

    def hold(self) -> None:
        """Hold all traffic until healed, without loss: a network that is cut."""
        self.flowing.clear()

    def set(self, name: str, value: Any) -> None:
        """Set the target or one of the faults by its name."""
        setattr(self, name, value)

    def reset(self) -> None:
        """Reset all current connections."""
        for connection in list(self.connections):
            connection.reset()

    def blackhole(self) -> None:
        """Make all current connections half open for good; new ones work."""
        for connection in self.connections:
            connection.dead = True


async def _main() -> None:
    commands = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    routes: dict[str, Route] = {}
    servers: list[asyncio.Server] = []
    while line := await commands.readline():
        command: dict[str, Any] = json.loads(line)
        name, operation, arguments, answer = command["route"], command["operation"], command["arguments"], None
        if operation == "open":
            listen_host, host, port = arguments
            route = routes[name] = Route(host, port)
            servers.append(await asyncio.start_server(route.serve, listen_host, 0))
            answer = servers[-1].sockets[0].getsockname()[1]
        else:
            for other, route in list(routes.items()):
                if other == name or (name.endswith(":") and other.startswith(name)):
                    getattr(route, operation)(*arguments)
        print(json.dumps(answer), flush=True)


class Proxy:
    """The process of the proxy: `async with Proxy() as proxy`."""

    def __init__(self, prefix: tuple[str, ...] = ()) -> None:
        """`prefix` precedes the command, for example to run it in another network namespace."""
        self._command = (*prefix, sys.executable, "-m", "croupier_loadtest.faults.proxy")

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(*self._command, stdin=pipe, stdout=pipe)
        self._lock = asyncio.Lock()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()

    async def open(self, route: str, host: str, port: int, listen_host: str = "127.0.0.1") -> int:
        """Open a route to a target; returns the port on which it listens."""
        return int(await self.execute(route, "open", listen_host, host, port))

    async def execute(self, routes: str, operation: str, *arguments: object) -> Any:
        """Call an operation of the route of this name, or of all routes with this prefix if it ends with a colon."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        async with self._lock, asyncio.timeout(ANSWER_SECONDS):
            command = {"route": routes, "operation": operation, "arguments": arguments}
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
            return json.loads(await self._process.stdout.readline())


if __name__ == "__main__":
    import uvloop

    uvloop.run(_main())
