"""The streams of a table: the messages of each viewer, and the limit for slow readers.

Messages are opaque bytes here. The fields of an update are encoded once for all viewers who may know the same facts;
viewers who are to act get their legal actions in addition. An answer may be appended to a message, which then has both.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

from croupier.engine.core.fold import TableState, Transition
from croupier.engine.core.log import TableConfig
from croupier.engine.tables.direct_writer import DirectWriter, Port
from croupier.games.facts import Fact, Seat, Viewer
from croupier.runtime.errors import LimitReached
from croupier.runtime.fair_queue import SendingLoop
from croupier_api.v1 import errors_pb2

MAX_QUEUE_MESSAGES = 256
MAX_WRITE_SECONDS = 10.0
"""The time after which the writer of an aborted stream is cancelled if its reader still blocks it."""


class Presence(NamedTuple):
    """The seats whose players follow a table, ascending, and the number of spectators."""

    seats: tuple[Seat, ...]
    spectators: int


class Encoder(Protocol):
    """Encodes the messages of a stream; every `now` is the viewers' time of the server, which the message states."""

    def update(self, config: TableConfig, transition: Transition, facts: Iterable[Fact], now: int) -> bytes:
        """Return the fields of an update: a log entry with some of its facts."""

    def legal_actions(self, table: TableState, seat: Seat) -> bytes:
        """Return the field of an update with the legal actions of a seat."""

    def message_of_update(self, update: bytes) -> bytes:
        """Return the message with an update of these fields."""

    def snapshot(
        self, config: TableConfig, table: TableState, viewer: Viewer, now: int, presence: Presence | None = None
    ) -> bytes:
        """Return the message with everything that a viewer may know; `presence` is None if it is not known."""

    def turn_state(self, table: TableState, viewer: Viewer, now: int) -> bytes:
        """Return the message with the state of the turn, for a viewer who has missed nothing."""

    def reaction(self, seat: Seat, reaction: int) -> bytes:
        """Return the message of a reaction."""

    def presence(self, presence: Presence) -> bytes:
        """Return the message of a changed presence."""

    def heartbeat(self, sequence: int) -> bytes:
        """Return the heartbeat of a stream."""

    def resume_notice(self) -> bytes:
        """Return the last message of a stream that continues at another engine."""


class Subscription:
    """One viewer's stream: a bounded queue of messages; `on_overflow` is called when it overflows.

    The messages are taken by `next`, or written directly after `write_to`. `network` is that of the viewer, empty if it
    is not known, `player_id` their id. With `sending`, each message waits for its turn among those of other streams.
    """

    def __init__(
        self,
        viewer: Viewer,
        on_overflow: Callable[[], None],
        network: str = "",
        sending: SendingLoop | None = None,
        max_messages: int = MAX_QUEUE_MESSAGES,
        player_id: str = "",
    ) -> None:
        self.viewer = viewer
        self.network = network
        self.player_id = player_id
        self.presence: Presence | None = None
        """The presence that was sent last; None before the first."""
        self.is_quiet = True
        self.closed = False
        """Whether the stream takes no more messages."""
        self.error: Exception | None = None
        """The error that the stream was closed with."""
        self.continues = False
        """Whether its last event is a resume notice."""
        self.writer: asyncio.Task[Any] | DirectWriter | None = None
        """The task that takes the messages by `next`, or their direct writer; a slow reader may block either."""
        self._max_messages = max_messages
        self._on_overflow = on_overflow
        self._sending = sending
        # A list: an empty deque takes 700 bytes, and an open stream has almost always an empty queue.
        self._messages: list[bytes] = []
        self._missed: Iterator[bytes] | None = None
        self._taker: asyncio.Future[None] | None = None
        self._direct: DirectWriter | None = None
        self._last_has_answer = False

    @property
    def has_missed(self) -> bool:
        """Whether missed messages may come before all others."""
        return self._missed is not None

    def __bool__(self) -> bool:
        """Return whether messages wait, or may wait."""
        return bool(self._messages) or self._missed is not None

    def write_to(self, port: Port) -> DirectWriter:
        """Write all messages to a port from now on, in place of `next`."""
        self._direct = self.writer = DirectWriter(self, port, self._sending)
        self._direct.wake()
        return self._direct

    def push(self, message: bytes) -> None:
        """Send a message; a stream with a full queue is aborted instead, and never slows the table."""
        if self.closed:
            return
        self.is_quiet = False
        if self._direct is not None and self._direct.send(message):
            return
        if len(self._messages) >= self._max_messages:
            self._messages.clear()
            self._missed = None
            self._on_overflow()
            self.abort(
                LimitReached(
                    errors_pb2.ERROR_REASON_SLOW_READER,
                    "the stream was read too slowly: open it again with the last sequence seen",
                    retry_after_seconds=0,
                )
            )
            return
        self._messages.append(message)
        self._last_has_answer = False
        self._wake()

    def preload(self, messages: Iterator[bytes]) -> None:
        """Put the missed messages of a resumed stream before all others; each is encoded when the stream is read.

        So they do not count towards the limit, and no table has to wait for the encoding of all.
        """
        self._missed = messages

    def answer(self, message: bytes) -> None:
        """Append an answer to the last queued message; send it by itself if there is none or it has an answer.

        The action that ends the game, and with it the stream, gets its answer too.
        """
        if self._messages and not self._last_has_answer:
            self._messages[-1] += message
        elif self._direct is not None and self._direct.send(message):
            return
        elif not self.closed:
            self.push(message)
        elif self.error is None:
            # The update before it has just filled the buffer of its port: the end waits for what is queued.
            self._messages.append(message)
        self._last_has_answer = True

    def hand_over(self, notice: bytes) -> None:
        """Send a resume notice as the last event, before the stream is closed; do nothing if it is closed already."""
        if not self.closed:
            self.continues = True
            self.push(notice)

    def close(self, error: Exception | None = None) -> None:
        """End the stream after its queued messages, with an error if one is given."""
        if not self.closed:
            self.closed = True
            self.error = error
            self._wake()

    def abort(self, error: Exception | None = None) -> None:
        """End the stream, with an error if one is given, and cancel its writer if the reader blocks even that."""
        if self.writer is not None:
            asyncio.get_running_loop().call_later(MAX_WRITE_SECONDS, self.writer.cancel)
        self.close(error)

    def take(self) -> bytes | None:
        """Remove and return the first message; None if none waits, or at the end of the missed ones."""
        if self._missed is not None:
            return self._take_missed()
        return self._messages.pop(0) if self._messages else None

    def _take_missed(self) -> bytes | None:
        missed = None if self._missed is None else next(self._missed, None)
        if missed is None:
            self._missed = None
        return missed

    async def next(self) -> bytes | None:
        """Return the next message, None at the end; raises the error that the stream was closed with."""
        if (missed := self._take_missed()) is not None:
            return missed
        while self._messages or not self.closed:
            if not self._messages or self._sending is not None:
                self._taker = asyncio.get_running_loop().create_future()
                if self._messages:
                    self._wake()
                await self._taker
            if self._messages:
                return self._messages.pop(0)
        if self.error:
            raise self.error
        return None

    def _wake(self) -> None:
        if self._direct is not None:
            self._direct.wake()
        if self._taker is None or self._taker.done():
            return
        if self._sending is None:
            self._taker.set_result(None)
        else:
            self._sending.put(self.network, self._taker)


def fan_out(
    encoder: Encoder,
    config: TableConfig,
    transition: Transition,
    streams: Iterable[Subscription],
    now: int,
    *,
    is_last: bool = True,
) -> None:
    """Push a transition to each stream with the facts that its viewer may know; equal messages are encoded once.

    With the last of several transitions, viewers who are to act get their legal actions.
    """
    to_act = transition.after.seats_to_act if is_last else ()
    updates: dict[tuple[bool, ...], tuple[bytes, bytes]] = {}
    for stream in streams:
        known = () if transition.public else tuple(may_know(fact, stream.viewer) for fact in transition.facts)
        encoded = updates.get(known)
        if encoded is None:
            update = _update(encoder, config, transition, stream.viewer, now)
            encoded = updates[known] = update, encoder.message_of_update(update)
        update, message = encoded
        if stream.viewer in to_act:
            message = encoder.message_of_update(update + encoder.legal_actions(transition.after, stream.viewer))
        stream.push(message)


def show_presence(encoder: Encoder, presence: Presence, streams: Iterable[Subscription]) -> None:
    """Push the presence to each stream whose viewer does not have it."""
    message = encoder.presence(presence)
    for stream in streams:
        if stream.presence != presence:
            stream.presence = presence
            stream.push(message)


def encode_transition(
    encoder: Encoder, config: TableConfig, transition: Transition, viewer: Viewer, now: int, *, is_last: bool = True
) -> bytes:
    """Return the message of a transition for one viewer; see `fan_out`."""
    update = _update(encoder, config, transition, viewer, now)
    if is_last and viewer in transition.after.seats_to_act:
        update += encoder.legal_actions(transition.after, viewer)
    return encoder.message_of_update(update)


def _update(encoder: Encoder, config: TableConfig, transition: Transition, viewer: Viewer, now: int) -> bytes:
    facts = transition.facts if transition.public else [fact for fact in transition.facts if may_know(fact, viewer)]
    return encoder.update(config, transition, facts, now)


def may_know(fact: Fact, viewer: Viewer) -> bool:
    """Return whether a viewer is in the audience of a fact."""
    return bool(fact.audience >> viewer & 1)
