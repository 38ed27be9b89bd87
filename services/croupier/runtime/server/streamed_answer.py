"""The answer of a call that is a stream, and its end by a refusal."""

import asyncio

from grpc_status import rpc_status

from croupier.runtime.errors import ServiceError, to_status
from croupier.runtime.observation.traced_calls import ServicerContext as Context
from croupier_api.v1.engine_pb2 import WatchTableResponse

JSON_HEADER = "x-envoy-original-path"
"""The header that a call has if the gateway translated it from JSON. The gateway removes it from others."""
LAST_MESSAGE_SECONDS = 5.0
"""The time for a caller to read the last message, after which the stream is reset."""


class StreamedAnswer:
    """The messages of a stream."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._has_begun = False

    async def write(self, message: bytes) -> None:
        """Send an encoded message, and wait until the caller has room for it."""
        self._has_begun = True
        await self._context.write(message)

    async def refuse(self, failure: ServiceError) -> None:
        """End the stream with a refusal; raises CancelledError if the caller does not read.

        JSON over HTTP has no place for a status after the first message, so there the last message has it.
        """
        status = to_status(failure)
        is_json = any(name == JSON_HEADER for name, _ in self._context.invocation_metadata() or ())
        if self._has_begun and is_json:
            # Every message of a stream has its error in the same field.
            last = WatchTableResponse(error=status).SerializeToString()
            try:
                async with asyncio.timeout(LAST_MESSAGE_SECONDS):
                    await self._context.write(last)
            except TimeoutError:
                # A call takes no status while a message waits: this resets it.
                raise asyncio.CancelledError from None
        await self._context.abort_with_status(rpc_status.to_status(status))
