"""An engine for players by WebSocket, whose health and calls are those of a fake engine for gRPC."""

import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.sync.server import Server, ServerConnection, serve

from tests.gateway.harness import Gateway, opened_gateway
from tests.gateway.test_routing import FakeEngine
from tests.waiting import TIMEOUT_SECONDS

SILENCE, END = "silence", "end"
CLOSE_CODE = 4005
LAST_FRAME = b"the error"


class WebSocketEngine:
    """A server that sends the address of its engine for gRPC first, and then sends each message back.

    At SILENCE it waits for a time first, at END it sends LAST_FRAME and closes with CLOSE_CODE.
    """

    def __init__(self, engine: FakeEngine, silent_seconds: float = 0, tls: ssl.SSLContext | None = None) -> None:
        self.engine = engine
        self.headers: list[Headers] = []
        self.paths: list[str] = []
        self.ended = threading.Event()
        self._silent_seconds = silent_seconds
        self._server: Server = serve(
            self._play, "127.0.0.1", 0, ssl=tls, compression=None, max_size=None, ping_interval=None, server_header=None
        )
        self.address = f"127.0.0.1:{self._server.socket.getsockname()[1]}"

    def _play(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        self.headers.append(connection.request.headers)
        self.paths.append(connection.request.path)
        with suppress(ConnectionClosed):
            connection.send(self.engine.address)
            for message in connection:
                if message == SILENCE:
                    threading.Event().wait(self._silent_seconds)
                elif message == END:
                    connection.send(LAST_FRAME)
                    connection.close(CLOSE_CODE, "the reason")
                connection.send(message)
        self.ended.set()

    @contextmanager
    def running(self) -> Iterator["WebSocketEngine"]:
        """Serve until the end of the block."""
        thread = threading.Thread(target=self._server.serve_forever)
        thread.start()
        try:
            yield self
        finally:
            self.stop()
            thread.join(TIMEOUT_SECONDS)

    def stop(self) -> None:
        """Close the port and all connections."""
        self._server.shutdown()


@contextmanager
def running_engines(
    folder: Path, *flags: str, count: int = 1, silent_seconds: float = 0
) -> Iterator[tuple[Sequence[WebSocketEngine], Gateway]]:
    """Run engines and their gateway with these flags."""
    with ExitStack() as stack:
        engines = [
            stack.enter_context(WebSocketEngine(stack.enter_context(FakeEngine().running()), silent_seconds).running())
            for _ in range(count)
        ]
        by_grpc = ",".join(each.engine.address for each in engines)
        by_websocket = ",".join(each.address for each in engines)
        named = (f"--engine={by_grpc}", f"--engine-websocket={by_websocket}")
        yield engines, stack.enter_context(opened_gateway(folder, *named, *flags))


@contextmanager
def play(
    gateway: Gateway, table_id: str = "t", *, origin: str | None = None, **headers: str
) -> Iterator[ClientConnection]:
    """Open the WebSocket of a table by the gateway; raises InvalidStatus if it is refused."""
    has_tls = gateway.authority is not None
    with connect(
        f"{'wss://localhost' if has_tls else 'ws://127.0.0.1'}:{gateway.port}/v1/tables/{table_id}/play",
        ssl=ssl.create_default_context(cafile=gateway.authority) if has_tls else None,
        origin=origin,  # type: ignore[arg-type]
        additional_headers={name.replace("_", "-"): value for name, value in headers.items()},
        compression=None,
        proxy=None,
        open_timeout=TIMEOUT_SECONDS,
        ping_interval=None,
        max_size=None,
        # The gateway ends a connection a second later, unless its client does.
        close_timeout=0,
    ) as connection:
        yield connection


def home_of(gateway: Gateway, table_id: str = "t") -> str:
    """Return the address for gRPC of the engine to which the WebSocket of a table leads."""
    with play(gateway, table_id) as connection:
        return str(connection.recv(TIMEOUT_SECONDS))
