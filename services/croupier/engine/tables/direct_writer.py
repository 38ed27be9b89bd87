"""Direct writes: the messages of a stream go to its port as soon as they are pushed, without a task that waits.

While more than MAX_BUFFERED_BYTES wait at the port, because its reader is slow, they wait in the queue of the stream.
"""

import asyncio
from typing import Protocol

from croupier.runtime.fair_queue import SendingLoop

MAX_BUFFERED_BYTES = 64 * 1024
MESSAGES_PER_STEP = 16
"""Missed messages are encoded when they are written, and other tables get their turn in between."""


class Port(Protocol):
    """The transport of a stream; it calls `DirectWriter.resume` once less is buffered, after more than the bound."""

    def send(self, message: bytes) -> None:
        """Write a message."""

    def buffered(self) -> int:
        """Return the bytes that were written and not sent."""

    def end(self, error: Exception | None) -> None:
        """End the stream, after its last message, with an error if one is given."""


class MessageQueue(Protocol):
    """The messages of a stream that could not be written when they were pushed."""

    network: str
    closed: bool
    error: Exception | None

    @property
    def has_missed(self) -> bool:
        """Whether missed messages may come before all others."""

    def __bool__(self) -> bool:
        """Return whether messages wait, or may wait."""

    def take(self) -> bytes | None:
        """Remove and return the first message; None if none waits, or at the end of the missed ones."""


class DirectWriter:
    """Writes the messages of one stream; with `sending`, each one in its turn among those of other streams."""

    __slots__ = ("_has_ended", "_is_direct", "_port", "_queue", "_sending", "_step")

    def __init__(self, queue: MessageQueue, port: Port, sending: SendingLoop | None) -> None:
        self._queue = queue
        self._port = port
        self._sending = sending
        self._is_direct = False
        """Whether no message waits in the queue, so that the next one can be written."""
        self._has_ended = False
        self._step: asyncio.Handle | asyncio.Future[None] | None = None

    def send(self, message: bytes) -> bool:
        """Write a message now; return whether that was possible, since else it has to wait in the queue."""
        if not self._is_direct or self._port.buffered() > MAX_BUFFERED_BYTES:
            self._is_direct = False
            return False
        self._port.send(message)
        return True

    def wake(self) -> None:
        """Write what waits, or end the stream, soon: after the answer to the action that ends the game."""
        if self._step is not None or self._has_ended:
            return
        loop = asyncio.get_running_loop()
        if self._sending is None or self._queue.has_missed:
            self._step = loop.call_soon(self._write, MESSAGES_PER_STEP)
        else:
            self._step = turn = loop.create_future()
            turn.add_done_callback(lambda _: self._write(1))
            self._sending.put(self._queue.network, turn)

    def resume(self) -> None:
        """Continue: the port has sent what was buffered."""
        if self._queue:
            self.wake()

    def cancel(self) -> None:
        """End the stream now, whatever waits."""
        self._end(self._queue.error)

    def _end(self, error: Exception | None) -> None:
        if self._step is not None:
            self._step.cancel()
        if not self._has_ended:
            self._has_ended, self._is_direct = True, False
            self._port.end(error)

    def _write(self, max_messages: int) -> None:
        self._step = None
        if self._has_ended:
            return
        try:
            self._write_some(max_messages)
        except Exception as error:  # noqa: BLE001 - the end of the stream reports it
            # Otherwise the stream would continue without a message, as one that was missed and cannot be encoded.
            self._end(error)

    def _write_some(self, max_messages: int) -> None:
        for _ in range(max_messages):
            if self._queue and self._port.buffered() > MAX_BUFFERED_BYTES:
                return
            if (message := self._queue.take()) is None:
                break
            self._port.send(message)
        if self._queue:
            self.wake()
        elif self._queue.closed:
            self.cancel()
        else:
            self._is_direct = self._sending is None
