"""Those who follow one table: players at their seats and spectators, each by streams of their own."""

from collections.abc import Iterable

from croupier.engine.core.fold import TableState, Transition
from croupier.engine.core.log import TableConfig
from croupier.engine.metrics import EngineMetrics
from croupier.engine.tables.reactions import ReactionLimit, check_reaction
from croupier.engine.tables.subscription import Encoder, Subscription, encode_transition, send
from croupier.games.facts import SPECTATOR, Seat, Viewer
from croupier.runtime.errors import LimitReached, StaleSequence
from croupier_api.v1 import errors_pb2

MAX_SPECTATORS_STREAMS = 200
MAX_STREAMS_OF_A_SEAT = 8
"""With so many a new stream of a seat replaces its oldest one, whose connection may be dead."""
RETRY_SECONDS = 5


class Subscribers:
    """The open streams of a table."""

    def __init__(self, config: TableConfig, encoder: Encoder, metrics: EngineMetrics) -> None:
        self._config = config
        self._encoder = encoder
        self._metrics = metrics
        # In the order in which they came, so that what happens does not depend on where they lie in memory.
        self._streams: dict[Subscription, None] = {}
        self._reaction_limits: dict[Seat, ReactionLimit] = {}

    def join(self, viewer: Viewer, table: TableState) -> Subscription:
        """Follow from a snapshot on; raises LimitReached with too many spectators."""
        stream = self._new_stream(viewer)
        stream.push(self._encoder.snapshot(self._config, table, viewer))
        return self._admit(stream, table)

    def resume(self, viewer: Viewer, table: TableState, missed: Iterable[Transition]) -> Subscription:
        """Follow with the steps that were missed, or with the state of the turn if there are none.

        Raises LimitReached with too many spectators.
        """
        stream = self._new_stream(viewer)
        encoded = [
            encode_transition(self._encoder, self._config, made, viewer, is_last=made.entry.sequence == table.sequence)
            for made in missed
        ]
        stream.preload(encoded or [self._encoder.turn_state(table, viewer)])
        self._metrics.resumes.inc()
        return self._admit(stream, table)

    def _new_stream(self, viewer: Viewer) -> Subscription:
        # Each seat has a limit of its own, so that nobody can keep players from their table by watching it.
        alike = [stream for stream in self._streams if stream.viewer == viewer]
        if viewer != SPECTATOR and len(alike) >= MAX_STREAMS_OF_A_SEAT:
            self._supersede(alike[0])
        elif viewer == SPECTATOR and len(alike) >= MAX_SPECTATORS_STREAMS:
            raise LimitReached(
                errors_pb2.ERROR_REASON_TOO_MANY_STREAMS,
                f"too many streams: expected at most {MAX_SPECTATORS_STREAMS} of spectators at one table",
                retry_after_seconds=RETRY_SECONDS,
            )
        return Subscription(viewer, self._metrics.slow_readers.inc)

    def _supersede(self, stream: Subscription) -> None:
        self.leave(stream)
        stream.cut_off(
            StaleSequence(errors_pb2.ERROR_REASON_SUPERSEDED, "newer streams of the same player replace this one")
        )

    def _admit(self, stream: Subscription, table: TableState) -> Subscription:
        if table.is_over:
            stream.close()
        else:
            self._streams[stream] = None
        return stream

    def __bool__(self) -> bool:
        """Whether anybody follows."""
        return bool(self._streams)

    def leave(self, stream: Subscription) -> None:
        """Follow no longer."""
        self._streams.pop(stream, None)

    def show(self, made: Transition, *, is_last: bool) -> None:
        """Push to all what they may know of a step; other steps follow it at once unless it is the last.

        That of the end of the game ends the streams.
        """
        send(self._encoder, self._config, made, self._streams, is_last=is_last)
        if made.after.is_over:
            self.close()

    def react(self, seat: Seat, reaction: str, now: int) -> None:
        """Show a reaction to everybody; raises MalformedRequest for an unknown one, LimitReached for too many."""
        check_reaction(reaction)
        self._reaction_limits.setdefault(seat, ReactionLimit()).take(now)
        self._metrics.reactions.inc()
        self.show_reaction(seat, reaction)

    def show_reaction(self, seat: Seat, reaction: str) -> None:
        """Show a reaction that was accepted, here or at another engine."""
        message = self._encoder.reaction(seat, reaction)
        for stream in self._streams:
            stream.push(message)

    def beat(self, sequence: int) -> None:
        """Send a proof of life on streams that were quiet since the last one."""
        message = self._encoder.heartbeat(sequence)
        for stream in self._streams:
            if stream.quiet:
                stream.push(message)
            stream.quiet = True

    def close(self) -> None:
        """End all streams, for there is nothing more to come."""
        for stream in self._streams:
            stream.close()
        self._streams.clear()

    def send_elsewhere(self) -> None:
        """End all streams with the notice that they go on at another engine."""
        notice = self._encoder.resume_notice()
        for stream in self._streams:
            stream.push(notice)
        self.close()
