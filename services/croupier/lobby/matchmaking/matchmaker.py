"""Matchmaking: players with equal criteria are seated together, in the order of their arrival.

Of those who have waited longest, players of different networks are seated together. If too few wait, bots take the
other seats once a player has waited as long for others as they wished; only those who allow bots are seated with them.

Each step is stored before the next: ticket, match (tickets and table in one transaction), prepared, open, delivered. A
stream only waits on its ticket; one loop reads the store and does the rest, so crashes and other replicas do no harm.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from croupier.lobby.accounts.players import Player, new_id
from croupier.lobby.feed.subscriptions import draining
from croupier.lobby.matchmaking.tickets import (
    HEARTBEAT_TIMEOUT_SECONDS,
    MatchCriteria,
    Ticket,
    Waiting,
    matched_table,
)
from croupier.lobby.metrics import LobbyMetrics
from croupier.lobby.storage.ticket_store import TicketStore
from croupier.lobby.tables.engine_port import Preset
from croupier.lobby.tables.forming_table import Table, TableState, TimeControl
from croupier.lobby.tables.games import GameRegistry
from croupier.lobby.tables.table_opener import MAX_CONCURRENT_OPENINGS, TableOpener
from croupier.runtime.errors import IllegalNow, ServiceError, StaleSequence, Unavailable
from croupier.runtime.observation.logs import Logger, failures_logged
from croupier_api.v1 import errors_pb2

TICK_SECONDS = 1.0
CALL_MILLISECONDS = 30_000
"""The time after which a call without a match ends, and the player calls again: an open connection alone does not show
that somebody is there, because the app behind it may be frozen."""
HEARTBEAT_MILLISECONDS = 5_000
MAX_MATCHES_PER_TICK = 100
NO_PLAYERS = Waiting(0)


class MatchProgress(NamedTuple):
    """The number of players who wait with the same criteria, or the table once the player is seated."""

    ticket_id: str
    waiting_count: int
    table: Table | None = None


@dataclass(slots=True)
class WaitingStream:
    """One stream that waits on a ticket from a time on, in milliseconds since 1970 UTC."""

    ticket: Ticket
    began_milliseconds: int
    waiting_count: int = 0
    table: Table | None = None
    is_over: bool = False
    _wakeup: asyncio.Event = field(default_factory=asyncio.Event)
    _error: ServiceError | None = None

    def set_waiting_count(self, count: int) -> None:
        """Set the number of players who wait with the same criteria; 0 is ignored."""
        if count and count != self.waiting_count:
            self.waiting_count = count
            self._wakeup.set()

    def set_table(self, table: Table) -> None:
        """Set the table, which plays or has ended."""
        self.table = table
        self._wakeup.set()

    def end(self) -> None:
        """End the stream without a table."""
        self.is_over = True
        self._wakeup.set()

    def fail(self, error: ServiceError) -> None:
        """End the stream with an error."""
        self._error = error
        self._wakeup.set()

    async def changed(self) -> None:
        """Wait for a change; raises the error with which the stream ends."""
        await self._wakeup.wait()
        self._wakeup.clear()
        if self._error:
            raise self._error


@dataclass(slots=True)
class Matchmaker:
    """Matches players."""

    store: TicketStore
    opener: TableOpener
    games: GameRegistry
    time_control: TimeControl
    source: random.Random
    clock: Callable[[], int]
    metrics: LobbyMetrics
    logger: Logger
    _streams: dict[str, WaitingStream] = field(default_factory=dict)
    _disconnected: set[str] = field(default_factory=set)
    _waiting: Mapping[MatchCriteria, Waiting] = field(default_factory=dict)
    """The tickets by criteria at the last tick."""
    _openings: set[asyncio.Task[None]] = field(default_factory=set)
    _opening_slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_CONCURRENT_OPENINGS))
    _heartbeat_milliseconds: int = field(init=False)
    _has_missed_heartbeat: bool = False
    _wakeup: asyncio.Event = field(default_factory=asyncio.Event)
    _is_closed: bool = False

    def __post_init__(self) -> None:
        self._heartbeat_milliseconds = self.clock()

    @property
    def pending(self) -> int:
        """The number of streams that wait here and of tables that are being opened."""
        return len(self._streams) + len(self._openings)

    async def find_match(
        self,
        player: Player,
        criteria: MatchCriteria,
        client_seed: bytes,
        request_id: str = "",
        network: str = "",
        bots_after_seconds: int | None = None,
    ) -> AsyncGenerator[MatchProgress, None]:
        """Yield the progress of a player's match until they are seated, or for 30 s; raises ServiceError.

        Players whose call has ended keep their position for a while, but are not matched until they call again. Players
        who have received their table get it again only by a call with the same, non-empty request_id: the answer was
        lost. After so many seconds from their first call they may be seated with bots, by default never.
        """
        await self._check(criteria, allows_bots=bots_after_seconds is not None)
        now, stream_id = self.clock(), new_id(self.source)
        requested = Ticket(
            new_id(self.source),
            player.player_id,
            player.name,
            criteria,
            client_seed,
            now,
            request_id=request_id,
            network=network,
            bots_after_seconds=bots_after_seconds,
        )
        ticket = await self.store.get_or_create(requested, stream_id, now)
        stream = self._register(stream_id, ticket)
        try:
            async for waiting_count in self._until_seated(stream):
                yield MatchProgress(ticket.ticket_id, waiting_count)
            if stream.is_over and stream.table is None:
                return
            if stream.table is None or stream.table.state is TableState.CLOSED:
                await self.store.discard(stream_id)
                raise IllegalNow(
                    errors_pb2.ERROR_REASON_MATCH_FAILED, "the table of the match could not be opened: call again"
                )
            yield MatchProgress(ticket.ticket_id, 0, stream.table)
            # Only now: until the answer was sent, a call with any request_id gets the table.
            await self.store.mark_delivered(stream_id, self.clock())
        finally:
            del self._streams[stream_id]
            self._disconnected.add(stream_id)
            self._wakeup.set()

    async def _check(self, criteria: MatchCriteria, *, allows_bots: bool) -> None:
        """Raise MalformedRequest for a match that cannot be."""
        await self.games.check_seat_count(criteria.game, criteria.seat_count)
        await self._preset(criteria)
        if allows_bots:
            await self.games.choose_bot(criteria.game, "")

    async def _preset(self, criteria: MatchCriteria) -> Preset:
        if criteria.preset:
            return await self.games.find_preset(criteria.game, criteria.preset)
        return Preset({}, self.time_control)

    async def _until_seated(self, stream: WaitingStream) -> AsyncGenerator[int, None]:
        sent_count = 0
        if not stream.ticket.table_id:
            counts = await self.store.count_waiting(self.clock())
            stream.set_waiting_count(max(1, counts.get(stream.ticket.criteria, NO_PLAYERS).players))
        while stream.table is None and not stream.is_over:
            if stream.waiting_count != sent_count:
                sent_count = stream.waiting_count
                yield sent_count
            await stream.changed()

    def _register(self, stream_id: str, ticket: Ticket) -> WaitingStream:
        if self._is_closed:
            raise draining()
        if not self._streams:
            # Until now there was none to miss.
            self._heartbeat_milliseconds = self.clock()
        stream = self._streams[stream_id] = WaitingStream(ticket, self.clock())
        self._wakeup.set()
        return stream

    def close(self) -> None:
        """End every stream because the server is about to stop; tickets are kept."""
        self._is_closed = True
        for stream in self._streams.values():
            stream.fail(draining())

    async def run(self) -> None:
        """Tick at every change of the streams, and every second while a player waits; runs until cancelled."""
        try:
            while True:
                # Not wait_for: in Python 3.11 that can swallow a cancellation.
                with suppress(TimeoutError):
                    async with asyncio.timeout(TICK_SECONDS if self._is_needed else None):
                        await self._wakeup.wait()
                self._wakeup.clear()
                with failures_logged(self.logger, "matchmaking failed"):
                    await self.tick()
                    continue
                await asyncio.sleep(TICK_SECONDS)
        finally:
            for task in self._openings:
                task.cancel()

    @property
    def _is_needed(self) -> bool:
        """Whether a player waits here, or one waited at the last tick. Replicas with other streams match theirs."""
        return bool(self._streams or self._disconnected or self._waiting)

    async def tick(self) -> None:
        """Write heartbeats, match players, and publish the outcome to the streams."""
        now = self.clock()
        self._end_calls(now)
        # If the database was away for long, other replicas may have deleted the tickets of these streams.
        self._has_missed_heartbeat |= now - self._heartbeat_milliseconds >= HEARTBEAT_TIMEOUT_SECONDS * 1000
        await self._write_heartbeats(now)
        self._waiting = await self.store.count_waiting(now)
        if any(_tables(criteria, waiting) for criteria, waiting in self._waiting.items()):
            await self._match(self._waiting, now)
            self._waiting = await self.store.count_waiting(now)
        self.metrics.show_tickets(self._waiting)
        await self._publish(self._waiting, _ticket_lost() if self._has_missed_heartbeat else _superseded())
        self._has_missed_heartbeat = False

    async def settled(self) -> None:
        """Wait until no table is being opened by this process."""
        while self._openings:
            await asyncio.wait(self._openings)

    def _end_calls(self, now: int) -> None:
        """End the streams of calls that took their time, whose tickets are not matched any more."""
        for stream_id, stream in self._streams.items():
            if now - stream.began_milliseconds >= CALL_MILLISECONDS:
                stream.end()
                self._disconnected.add(stream_id)

    async def _write_heartbeats(self, now: int) -> None:
        if disconnected := set(self._disconnected):
            await self.store.disconnect(disconnected, now)
            self._disconnected -= disconnected
        if now - self._heartbeat_milliseconds >= HEARTBEAT_MILLISECONDS:
            if self._streams:
                await self.store.heartbeat(list(self._streams), now)
            self._heartbeat_milliseconds = now

    async def _match(self, waiting_by_criteria: Mapping[MatchCriteria, Waiting], now: int) -> None:
        for criteria, waiting in waiting_by_criteria.items():
            if not (tables := _tables(criteria, waiting)):
                continue
            # During a roll-out the engine that described the games last may not know a preset.
            with failures_logged(self.logger, "players are matched later", game=criteria.game):
                preset = await self._preset(criteria)
                bot = await self.games.choose_bot(criteria.game, "") if waiting.is_bot_due else ""
                await self._match_tables(criteria, tables, preset, bot, now)

    async def _match_tables(self, criteria: MatchCriteria, tables: int, preset: Preset, bot: str, now: int) -> None:
        for _ in range(tables):
            make_table = partial(matched_table, new_id(self.source), preset, bot, now)
            table = await self.store.match(criteria, now, make_table, with_bots=bool(bot))
            if table is None:
                break
            self.metrics.matches.labels(criteria.game).inc()
            opening = asyncio.create_task(self._open(table))
            self._openings.add(opening)
            opening.add_done_callback(self._openings.discard)

    async def _open(self, table: Table) -> None:
        async with self._opening_slots:
            with failures_logged(self.logger, "matched table is opened later", table_id=table.table_id):
                await self.opener.advance(table)
        self._wakeup.set()

    async def _publish(self, waiting: Mapping[MatchCriteria, Waiting], loss: ServiceError) -> None:
        if not self._streams:
            return
        # Streams that come during the query are not part of it: their lack of an outcome means nothing.
        queried = {stream_id: stream for stream_id, stream in self._streams.items() if not stream.is_over}
        outcomes = await self.store.outcomes(list(queried))
        for stream_id, stream in queried.items():
            if stream_id not in outcomes:
                criteria = stream.ticket.criteria
                # The players of a match wait for its table together.
                is_matched = bool(stream.ticket.table_id)
                count = waiting.get(criteria, NO_PLAYERS).players
                stream.set_waiting_count(criteria.seat_count if is_matched else count)
            elif table := outcomes[stream_id]:
                stream.set_table(table)
            else:
                stream.fail(loss)


def _tables(criteria: MatchCriteria, waiting: Waiting) -> int:
    """Return the number of tables that may be formed now, the last one with bots."""
    return min(waiting.players // criteria.seat_count + waiting.is_bot_due, MAX_MATCHES_PER_TICK)


def _superseded() -> ServiceError:
    return StaleSequence(errors_pb2.ERROR_REASON_SUPERSEDED, "a newer call of the same player waits instead")


def _ticket_lost() -> ServiceError:
    return Unavailable(
        errors_pb2.ERROR_REASON_TICKET_CONFLICT, "the ticket could not be kept: call again", retry_after_seconds=0.1
    )
