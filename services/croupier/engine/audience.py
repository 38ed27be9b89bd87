"""Those who follow one table: players at their seats and spectators, each by streams of their own."""

from collections.abc import Iterable

from croupier.engine.log import TableConfig
from croupier.engine.metrics import EngineMetrics
from croupier.engine.reactions import ReactionLimit, check_reaction
from croupier.engine.streams import Encoder, Subscription, message_of, send
from croupier.engine.table import Step, TableState
from croupier.games.facts import SPECTATOR, Seat, Viewer
from croupier.runtime.errors import LimitReached

MOST_SPECTATORS_STREAMS = 200
MOST_STREAMS_OF_A_SEAT = 8


class Audience:
    """The open streams of a table."""

    def __init__(self, config: TableConfig, encoder: Encoder, metrics: EngineMetrics) -> None:
        self._config = config
        self._encoder = encoder
        self._metrics = metrics
        # In the order in which they came, so that what happens does not depend on where they lie in memory.
        self._streams: dict[Subscription, None] = {}
        self._reaction_limits: dict[Seat, ReactionLimit] = {}

    def join(self, viewer: Viewer, table: TableState) -> Subscription:
        """Follow from a snapshot on; raises LimitReached with too many streams."""
        stream = self._new_stream(viewer)
        stream.push(self._encoder.snapshot(self._config, table, viewer))
        return self._admit(stream, table)

    def resume(self, viewer: Viewer, table: TableState, missed: Iterable[Step]) -> Subscription:
        """Follow with the steps that were missed.

        Raises LimitReached with too many streams.
        """
        stream = self._new_stream(viewer)
        stream.preload(message_of(self._encoder, self._config, made, viewer) for made in missed)
        self._metrics.resumes.inc()
        return self._admit(stream, table)

    def _new_stream(self, viewer: Viewer) -> Subscription:
        # Each seat has a limit of its own, so that nobody can keep a player from his table by watching it.
        most = MOST_SPECTATORS_STREAMS if viewer == SPECTATOR else MOST_STREAMS_OF_A_SEAT
        if sum(stream.viewer == viewer for stream in self._streams) >= most:
            who = "spectators" if viewer == SPECTATOR else "one seat"
            raise LimitReached("TOO_MANY_STREAMS", f"{most} streams of {who} follow this table already")
        return Subscription(viewer, self._metrics.slow_readers.inc)

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

    def show(self, made: Step) -> None:
        """Give everybody what he may know of a step; the last one ends the streams."""
        send(self._encoder, self._config, made, self._streams)
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
