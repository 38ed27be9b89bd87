"""The baseline: grpc.aio on uvloop, which only fans each message out to the four streams of a table.

It is tuned for throughput as the engine is by default.
"""

import asyncio
import sys
from collections import defaultdict
from itertools import cycle
from pathlib import Path
from typing import Any

import grpc

from croupier.runtime.server.grpc_server import run, wait_for_stop
from croupier.runtime.server.tuning import tune_process

METHOD = "/benchmark.Bare/Play"
Context = grpc.aio.ServicerContext[Any, Any]


class BareServicer:
    """The first message of a stream names its table, and is answered by an empty one.

    Each later one sends a message to all streams of the table.
    """

    def __init__(self, messages: list[bytes]) -> None:
        self._messages = cycle(messages)
        self._tables: dict[bytes, list[asyncio.Queue[bytes]]] = defaultdict(list)

    async def play(self, _requests: Any, context: Context) -> None:
        queues = self._tables[await context.read()]
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        queues.append(queue)
        await context.write(b"")
        reading = asyncio.create_task(self._read(queues, context))
        try:
            while True:
                await context.write(await queue.get())
        finally:
            reading.cancel()
            queues.remove(queue)

    async def _read(self, queues: list[asyncio.Queue[bytes]], context: Context) -> None:
        while await context.read() is not grpc.aio.EOF:
            message = next(self._messages)
            for queue in queues:
                queue.put_nowait(message)


async def serve(messages_file: Path) -> int:
    """Print the address, and serve until stopped."""
    servicer = BareServicer([bytes.fromhex(line) for line in messages_file.read_text().split()])
    # The keepalive of phones pings more often than gRPC allows by default; the services allow it too.
    server = grpc.aio.server(options=[("grpc.http2.max_ping_strikes", 0)])
    _, service, name = METHOD.split("/")
    handler: Any = grpc.stream_stream_rpc_method_handler(servicer.play, None, None)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {name: handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"127.0.0.1:{port}", flush=True)
    await wait_for_stop()
    await server.stop(1)
    return 0


if __name__ == "__main__":
    serving = serve(Path(sys.argv[1]))
    tune_process(gc_thresholds="10000,20,100", scheduling="batch")
    raise SystemExit(run(serving))
