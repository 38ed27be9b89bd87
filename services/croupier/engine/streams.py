"""What a stream of a table means: who gets what, from which sequence on, and what happens to those who fall behind.

Messages are opaque bytes here. Two of them put one after the other are one message that says both: that is how an
update is encoded once for everybody, and what only one viewer may get is added for him alone.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from croupier.engine.log import TableConfig
from croupier.engine.table import Step, TableState
from croupier.games.facts import Fact, Seat, Viewer
from croupier.runtime.errors import LimitReached

LONGEST_QUEUE_MESSAGES = 256
LONGEST_WRITE_SECONDS = 10.0
"""A reader that fell behind and does not even take the news of it is cut off after this long."""


class Encoder(Protocol):
    """Writes messages of a stream."""

    def update(self, config: TableConfig, step: Step, facts: Iterable[Fact]) -> bytes:
        """A log entry with those of its facts that are meant."""

    def legal_actions(self, table: TableState, seat: Seat) -> bytes:
        """What a seat may do, to be added to the update that brought it on turn."""

    def snapshot(self, config: TableConfig, table: TableState, viewer: Viewer) -> bytes:
        """All that a viewer may know."""

    def reaction(self, seat: Seat, reaction: str) -> bytes:
        """Somebody's reaction."""

    def heartbeat(self, sequence: int) -> bytes:
        """Proof of life."""

    def resume_notice(self) -> bytes:
        """The last message of a stream that goes on at another engine."""


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
        if len(self._messages) - self._missed >= LONGEST_QUEUE_MESSAGES:
            self._messages.clear()
            self._missed = 0
            self._fell_behind()
            if self._writer is not None:
                asyncio.get_running_loop().call_later(LONGEST_WRITE_SECONDS, self._writer.cancel)
            self.close(
                LimitReached(
                    "SLOW_READER",
                    "this stream fell too far behind: open it again with the last sequence seen",
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


def send(encoder: Encoder, config: TableConfig, step: Step, streams: Iterable[Subscription]) -> None:
    """Give each stream what its viewer may get of a step; what several get alike is encoded once."""
    alike: dict[tuple[bool, ...], bytes] = {}
    for stream in streams:
        known = () if step.public else tuple(may_know(fact, stream.viewer) for fact in step.facts)
        message = alike.get(known)
        if message is None:
            message = alike[known] = _shared_message(encoder, config, step, stream.viewer)
        if stream.viewer in step.after.seats_to_act:
            message += encoder.legal_actions(step.after, stream.viewer)
        stream.push(message)


def message_of(encoder: Encoder, config: TableConfig, step: Step, viewer: Viewer) -> bytes:
    """What one viewer gets of a step."""
    message = _shared_message(encoder, config, step, viewer)
    if viewer in step.after.seats_to_act:
        message += encoder.legal_actions(step.after, viewer)
    return message


def _shared_message(encoder: Encoder, config: TableConfig, step: Step, viewer: Viewer) -> bytes:
    facts = step.facts if step.public else [fact for fact in step.facts if may_know(fact, viewer)]
    return encoder.update(config, step, facts)


def may_know(fact: Fact, viewer: Viewer) -> bool:
    """Whether a viewer is in the audience of a fact."""
    return bool(fact.audience >> viewer & 1)
