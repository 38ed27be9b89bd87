"""Quick match: whoever wants the same game and number of seats is seated together, in order of arrival.

Each step is stored before the next: ticket, match (tickets and table at once), prepared, open, told. A stream
only waits on its ticket; one loop looks at the store and does the rest, so that a crash or a replica changes nothing.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from croupier.lobby.games import GameCatalogue
from croupier.lobby.metrics import LobbyMetrics
from croupier.lobby.opening import Opener
from croupier.lobby.players import Player, new_id
from croupier.lobby.tables import Table, TableClock, TableState
from croupier.lobby.ticket_store import TicketStore
from croupier.lobby.tickets import ATTENDED_SECONDS, Ticket, Wish, matched_table
from croupier.lobby.watching import draining
from croupier.runtime.errors import IllegalNow, ServiceError, StaleSequence, Unavailable
from croupier.runtime.logs import Logger
from croupier.runtime.stream_places import StreamPlaces

TICK_SECONDS = 1.0
ATTEND_MILLISECONDS = 5_000
OPENING_LIMIT = 16
MATCHES_PER_TICK = 100


@dataclass(frozen=True, slots=True)
class MatchNews:
    """How a wish stands: how many wait for the same, or the table, once seated."""

    ticket_id: str
    waiting: int
    table: Table | None = None


class Waiter:
    """One stream that waits on a ticket."""

    def __init__(self, ticket: Ticket) -> None:
        self.ticket = ticket
        self.waiting = 0
        self.table: Table | None = None
        self._woken = asyncio.Event()
        self._end: ServiceError | None = None

    def tell(self, waiting: int) -> None:
        """Say how many wait for the same."""
        if waiting and waiting != self.waiting:
            self.waiting = waiting
            self._woken.set()

    def seat(self, table: Table) -> None:
        """Say that the table plays, or has ended."""
        self.table = table
        self._woken.set()

    def end(self, error: ServiceError) -> None:
        """End the stream with an error."""
        self._end = error
        self._woken.set()

    async def changed(self) -> None:
        """Wait for anything to be said; raises the error with which the stream ends."""
        await self._woken.wait()
        self._woken.clear()
        if self._end:
            raise self._end


class Matching:
    """Matches players."""

    def __init__(
        self,
        store: TicketStore,
        opener: Opener,
        games: GameCatalogue,
        places: StreamPlaces,
        table_clock: TableClock,
        source: random.Random,
        clock: Callable[[], int],
        metrics: LobbyMetrics,
        logger: Logger,
    ) -> None:
        self._store = store
        self._opener = opener
        self._games = games
        self._places = places
        self._table_clock = table_clock
        self._source = source
        self._clock = clock
        self._metrics = metrics
        self._logger = logger
        self._waiters: dict[str, Waiter] = {}
        self._departed: set[str] = set()
        self._openings: set[asyncio.Task[None]] = set()
        self._opening_places = asyncio.Semaphore(OPENING_LIMIT)
        self._attended_milliseconds = clock()
        self._has_lapsed = False
        self._woken = asyncio.Event()
        self._closed = False

    @property
    def pending(self) -> int:
        """How many players wait here, and how many matches are being opened."""
        return len(self._waiters) + len(self._openings)

    @property
    def streams(self) -> int:
        """How many streams wait here to be told something."""
        return len(self._waiters)

    async def quick_match(
        self, player: Player, wish: Wish, client_seed: bytes, request_id: str = ""
    ) -> AsyncGenerator[MatchNews, None]:
        """How a player's wish stands, until he is seated; raises ServiceError.

        Whoever breaks off keeps his place for a while, but is not matched until he calls again. Whoever was told his
        table is told it again if he calls by the same request_id, which is not empty: the answer was lost.
        """
        await self._games.check_seats(wish.game, wish.seats)
        with self._places.occupied_by(player.player_id):
            now, stream_id = self._clock(), new_id(self._source)
            wanted = Ticket(
                new_id(self._source), player.player_id, player.name, wish, client_seed, now, request_id=request_id
            )
            ticket = await self._store.take(wanted, stream_id, now)
            waiter = self._attend(stream_id, ticket)
            try:
                async for waiting in self._until_seated(waiter):
                    yield MatchNews(ticket.ticket_id, waiting)
                if waiter.table is None or waiter.table.state is TableState.CLOSED:
                    await self._store.discard(stream_id)
                    raise IllegalNow("MATCH_FAILED", "the table could not be opened: call again for another match")
                yield MatchNews(ticket.ticket_id, 0, waiter.table)
                # The answer is on its way, and nobody knows whether it arrives. Before, any call would get it again.
                await self._store.deliver(stream_id, self._clock())
            finally:
                del self._waiters[stream_id]
                self._departed.add(stream_id)
                self._woken.set()

    async def _until_seated(self, waiter: Waiter) -> AsyncGenerator[int, None]:
        told = 0
        if not waiter.ticket.table_id:
            counts = await self._store.waiting(self._clock())
            waiter.tell(max(1, counts.get(waiter.ticket.wish, 0)))
        while waiter.table is None:
            await waiter.changed()
            if waiter.table is None and waiter.waiting != told:
                told = waiter.waiting
                yield told

    def _attend(self, stream_id: str, ticket: Ticket) -> Waiter:
        if self._closed:
            raise draining()
        waiter = self._waiters[stream_id] = Waiter(ticket)
        self._woken.set()
        return waiter

    def close(self) -> None:
        """End every stream, for the server is about to stop; their tickets stay."""
        self._closed = True
        for waiter in self._waiters.values():
            waiter.end(draining())

    async def run(self) -> None:
        """Look at the tickets whenever something happened, and every second; runs until cancelled."""
        try:
            while True:
                # Not wait_for: in Python 3.11 that can swallow a cancellation.
                with suppress(TimeoutError):
                    async with asyncio.timeout(TICK_SECONDS):
                        await self._woken.wait()
                self._woken.clear()
                try:
                    await self.tick()
                except Unavailable as failure:
                    self._logger.warning("quick match waits", reason=failure.reason)
                    await asyncio.sleep(TICK_SECONDS)
                except Exception as error:
                    self._logger.error("quick match failed for now", exc_info=error)
                    await asyncio.sleep(TICK_SECONDS)
        finally:
            for task in self._openings:
                task.cancel()

    async def tick(self) -> None:
        """Note who waits, match those who can be matched, and tell the streams."""
        now = self._clock()
        # After a long time without the database others may have taken those who wait here for gone.
        self._has_lapsed |= now - self._attended_milliseconds >= ATTENDED_SECONDS * 1000
        await self._note_attendance(now)
        await self._match(await self._store.waiting(now), now)
        waiting = await self._store.waiting(now)
        self._metrics.show_tickets(waiting)
        await self._tell(waiting, _called_off() if self._has_lapsed else _superseded())
        self._has_lapsed = False

    async def settled(self) -> None:
        """Wait until no table is being opened by this process."""
        while self._openings:
            await asyncio.wait(self._openings)

    async def _note_attendance(self, now: int) -> None:
        if departed := set(self._departed):
            await self._store.depart(departed, now)
            self._departed -= departed
        if now - self._attended_milliseconds >= ATTEND_MILLISECONDS:
            if self._waiters:
                await self._store.attend(list(self._waiters), now)
            self._attended_milliseconds = now

    async def _match(self, waiting: Mapping[Wish, int], now: int) -> None:
        for wish, count in waiting.items():
            for _ in range(min(count // wish.seats, MATCHES_PER_TICK)):
                table = await self._store.match(
                    wish, now, partial(matched_table, new_id(self._source), self._table_clock, now)
                )
                if table is None:
                    break
                self._metrics.matches.labels(wish.game).inc()
                opening = asyncio.create_task(self._open(table))
                self._openings.add(opening)
                opening.add_done_callback(self._openings.discard)

    async def _open(self, table: Table) -> None:
        async with self._opening_places:
            try:
                await self._opener.advance(table)
            except Unavailable as failure:
                self._logger.warning("matched table waits", table_id=table.table_id, reason=failure.reason)
            except Exception as error:
                self._logger.error("matched table waits", table_id=table.table_id, exc_info=error)
        self._woken.set()

    async def _tell(self, waiting: Mapping[Wish, int], loss: ServiceError) -> None:
        if not self._waiters:
            return
        # Whoever comes meanwhile was not asked for, and may be seated.
        asked = dict(self._waiters)
        outcomes = await self._store.outcomes(list(asked))
        for stream_id, waiter in asked.items():
            if stream_id not in outcomes:
                waiter.tell(waiting.get(waiter.ticket.wish, 0))
            elif table := outcomes[stream_id]:
                waiter.seat(table)
            else:
                waiter.end(loss)


def _superseded() -> ServiceError:
    return StaleSequence("SUPERSEDED", "a newer call of yours waits in this one's place")


def _called_off() -> ServiceError:
    return Unavailable("TICKET_LOST", "your ticket could not be kept: call again", retry_after_seconds=0.1)
