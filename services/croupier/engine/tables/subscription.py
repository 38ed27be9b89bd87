"""What a stream of a table means: who gets what, from which sequence on, and what happens to those who fall behind.

Messages are opaque bytes here. The fields of an update are encoded once for all who may know the same, and those of the
viewer who is to act get one more. An answer may be put after a message, which is then one message with both.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from croupier.engine.core.fold import TableState, Transition
from croupier.engine.core.log import TableConfig
from croupier.games.facts import Fact, Seat, Viewer
from croupier.runtime.errors import LimitReached
from croupier_api.v1 import errors_pb2

MAX_QUEUE_MESSAGES = 256
MAX_WRITE_SECONDS = 10.0
"""A reader that fell behind and does not even take the news of it is cut off after this long."""


class Encoder(Protocol):
    """Encodes the messages of a stream."""

    def update(self, config: TableConfig, step: Transition, facts: Iterable[Fact]) -> bytes:
        """Return the fields of an update: a log entry with these of its facts."""

    def legal_actions(self, table: TableState, seat: Seat) -> bytes:
        """Return the field of an update that holds what a seat may do."""

    def message_of_update(self, update: bytes) -> bytes:
        """Return the message with an update of these fields."""

    def snapshot(self, config: TableConfig, table: TableState, viewer: Viewer) -> bytes:
        """Return the message with all that a viewer may know."""

    def turn_state(self, table: TableState, viewer: Viewer) -> bytes:
        """Return the message with the state of the turn, for a viewer who has missed nothing."""

    def reaction(self, seat: Seat, reaction: str) -> bytes:
        """Return the message of a reaction."""

    def heartbeat(self, sequence: int) -> bytes:
        """Return the message of a stream that is alive."""

    def resume_notice(self) -> bytes:
        """Return the last message of a stream that goes on at another engine."""


class Subscription:
    """One viewer's stream: messages wait in a bounded queue until taken; `fell_behind` hears if it overflows."""

    def __init__(self, viewer: Viewer, fell_behind: Callable[[], None]) -> None:
        self.viewer = viewer
        self.quiet = True
        self._fell_behind = fell_behind
        self._messages: deque[bytes] = deque()
        self._missed = 0
        self._taker: asyncio.Future[None] | None = None
        self._last_has_answer = False
        self._writer: asyncio.Task[Any] | None = None
        self._closed = False
        self._error: Exception | None = None

    @property
    def closed(self) -> bool:
        """Whether nothing more will be put in."""
        return self._closed

    @property
    def waiting(self) -> int:
        """How many messages wait to be taken."""
        return len(self._messages)

    def push(self, message: bytes) -> None:
        """Put a message in; a stream that is too far behind is closed instead, and never slows the table."""
        if self._closed:
            return
        if len(self._messages) - self._missed >= MAX_QUEUE_MESSAGES:
            self._messages.clear()
            self._missed = 0
            self._fell_behind()
            self.cut_off(
                LimitReached(
                    errors_pb2.ERROR_REASON_SLOW_READER,
                    "the stream was read too slowly: open it again with the last sequence seen",
                    retry_after_seconds=0,
                )
            )
            return
        self.quiet = False
        self._messages.append(message)
        self._last_has_answer = False
        self._wake()

    def written_by(self, writer: asyncio.Task[Any] | None) -> None:
        """Name the task that takes the messages, which may be held up by its reader for as long as he likes."""
        self._writer = writer

    def preload(self, messages: Iterable[bytes]) -> None:
        """Put in what a resumed stream has missed; however much that is, it does not count as falling behind."""
        self._messages.extend(messages)
        self._missed = len(self._messages)

    def answer(self, message: bytes) -> None:
        """Add an answer to the last message that waits, or put it in by itself if that one brings an answer already.

        Also the action that ended the game, and with it the stream, gets its answer.
        """
        if self._messages and not self._last_has_answer:
            self._messages[-1] += message
        else:
            self.push(message)
        self._last_has_answer = True

    def close(self, error: Exception | None = None) -> None:
        """End the stream after what waits; with an error the viewer hears why."""
        if not self._closed:
            self._closed = True
            self._error = error
            self._wake()

    def cut_off(self, error: Exception) -> None:
        """End the stream with an error, and its writer too if the reader does not even take that."""
        if self._writer is not None:
            asyncio.get_running_loop().call_later(MAX_WRITE_SECONDS, self._writer.cancel)
        self.close(error)

    async def next(self) -> bytes | None:
        """The next message, None at the end; raises the error that the stream was closed with."""
        while not self._messages:
            if self._closed:
                if self._error:
                    raise self._error
                return None
            self._taker = asyncio.get_running_loop().create_future()
            await self._taker
        if self._missed:
            self._missed -= 1
        return self._messages.popleft()

    def _wake(self) -> None:
        if self._taker is not None and not self._taker.done():
            self._taker.set_result(None)


def send(
    encoder: Encoder, config: TableConfig, step: Transition, streams: Iterable[Subscription], *, is_last: bool = True
) -> None:
    """Push to each stream what its viewer may know of a step; what several get alike is encoded once.

    With the last step of those that came together the viewers who are to act learn what they may do.
    """
    to_act = step.after.seats_to_act if is_last else ()
    alike: dict[tuple[bool, ...], tuple[bytes, bytes]] = {}
    for stream in streams:
        known = () if step.public else tuple(may_know(fact, stream.viewer) for fact in step.facts)
        encoded = alike.get(known)
        if encoded is None:
            update = _update(encoder, config, step, stream.viewer)
            encoded = alike[known] = update, encoder.message_of_update(update)
        update, message = encoded
        if stream.viewer in to_act:
            message = encoder.message_of_update(update + encoder.legal_actions(step.after, stream.viewer))
        stream.push(message)


def encode_transition(
    encoder: Encoder, config: TableConfig, step: Transition, viewer: Viewer, *, is_last: bool = True
) -> bytes:
    """Return the message that one viewer gets of a step; see `send`."""
    update = _update(encoder, config, step, viewer)
    if is_last and viewer in step.after.seats_to_act:
        update += encoder.legal_actions(step.after, viewer)
    return encoder.message_of_update(update)


def _update(encoder: Encoder, config: TableConfig, step: Transition, viewer: Viewer) -> bytes:
    facts = step.facts if step.public else [fact for fact in step.facts if may_know(fact, viewer)]
    return encoder.update(config, step, facts)


def may_know(fact: Fact, viewer: Viewer) -> bool:
    """Whether a viewer is in the audience of a fact."""
    return bool(fact.audience >> viewer & 1)
