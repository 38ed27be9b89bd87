"""A client that counts what it does as a load test has to."""

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterator
from contextlib import aclosing, contextmanager

from croupier_api.v1 import engine_pb2
from croupier_client import Client, CroupierError
from croupier_client.callers import Call, M, R
from croupier_client.endpoints import Endpoints
from loadtest.watch.counted import key, rpc_key

PLAY = "/croupier_api.v1.EngineService/Play"


class CountingClient(Client):
    """Counts every attempt at a call, and every stream."""

    def __init__(self, endpoints: Endpoints, name: str, counts: Counter[str]) -> None:
        super().__init__(endpoints, f"a device of {name} for this test", name)
        self.counts = counts

    async def _send(self, call: Call[R], access_token: str) -> R:
        with self._ended(call.path):
            return await super()._send(call, access_token)

    async def open(self, call: Call[R]) -> AsyncGenerator[R, None]:
        resumed = isinstance(call.request, engine_pb2.WatchTableRequest) and call.request.HasField("after_sequence")
        return self._heard(call.path, [resumed], await super().open(call))

    async def open_play(
        self, table_id: str, requests: AsyncIterator[engine_pb2.PlayRequest]
    ) -> AsyncGenerator[engine_pb2.PlayResponse, None]:
        resumed: list[bool] = []

        async def noted() -> AsyncIterator[engine_pb2.PlayRequest]:
            async for request in requests:
                if request.HasField("watch"):
                    resumed.append(request.watch.HasField("after_sequence"))
                yield request

        return self._heard(PLAY, resumed, await super().open_play(table_id, noted()))

    @contextmanager
    def _ended(self, path: str) -> Iterator[None]:
        code = None
        try:
            yield
            code = "OK"
        except CroupierError as error:
            code = error.code.name if error.reason else None
            raise
        finally:
            self.counts[rpc_key(path, code)] += 1

    async def _heard(
        self, path: str, resumed: list[bool], messages: AsyncGenerator[M, None]
    ) -> AsyncGenerator[M, None]:
        method, heard = path.rpartition("/")[2], 0
        self.counts[key("streams opened", method)] += 1
        try:
            with self._ended(path):
                async with aclosing(messages):
                    async for message in messages:
                        heard += 1
                        yield message
        finally:
            self.counts["streams resumed"] += bool(heard and any(resumed))


async def answered(answer: Awaitable[object], game: str, counts: Counter[str]) -> None:
    """Await the answer to an action, and count it."""
    try:
        await answer
        counts[key("actions accepted", game)] += 1
    except CroupierError as refusal:
        if not refusal.reason:
            raise
        counts[key("actions refused", refusal.reason)] += 1
