"""The store of tickets."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, case, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from croupier.lobby.matchmaking.tickets import HEARTBEAT_TIMEOUT_SECONDS, MatchCriteria, Ticket, Waiting, choose
from croupier.lobby.storage.schema import TABLES, TICKETS
from croupier.lobby.storage.seat_store import TableLimits, add_seats, check_limits, tables_by_network
from croupier.lobby.storage.store import Store, acquire_advisory_locks, select_unlocked
from croupier.lobby.storage.table_store import DECODING_STEP, from_row, to_row
from croupier.lobby.tables.forming_table import RUNNING, Table, TableState
from croupier.runtime.errors import Unavailable
from croupier.runtime.steps import in_steps
from croupier_api.v1 import errors_pb2

MAX_ATTEMPTS = 8
CANDIDATES_PER_SEAT = 8
_UNMATCHED = TICKETS.c.table_id.is_(None)
_CRITERIA = (TICKETS.c.game, TICKETS.c.seat_count, TICKETS.c.preset)
"""In the order of MatchCriteria."""
_ARRIVAL = (TICKETS.c.created_milliseconds, TICKETS.c.ticket_id)
"""The order in which players are matched, and tickets locked."""


class _TicketChanged(Exception):
    """A ticket that was chosen to be matched has changed."""


class TicketStore:
    """At most one ticket for each player."""

    def __init__(self, store: Store, limits: TableLimits) -> None:
        self._store = store
        self._limits = limits

    async def get_or_create(self, requested: Ticket, stream_id: str, now: int) -> Ticket:
        """Return the player's ticket and connect it with a stream, and with no other.

        An unmatched ticket with the same criteria is kept, and so is a matched one. One that was delivered, or whose
        table has ended, is kept for a call with the same request_id only. Otherwise the requested ticket is stored.
        Raises LimitReached if the player or their network have as many tables as allowed and the ticket is not matched,
        and Unavailable if concurrent calls keep changing the ticket.
        """
        for _ in range(MAX_ATTEMPTS):
            stored = await self._get_by_player(requested.player_id)
            if stored is None or not stored.table_id:
                network = requested.network
                await self._store.read(check_limits, self._limits, requested.player_id, network, network, more=1)
            if stored is None:
                if await self._add(requested, stream_id, now):
                    return requested
            elif await self._is_obsolete(stored, requested):
                await self._remove(stored)
            elif await self.reconnect(stored, requested, stream_id, now):
                return stored
        raise Unavailable(
            errors_pb2.ERROR_REASON_TICKET_CONFLICT,
            "other calls change the ticket of this player: try again",
            retry_after_seconds=1,
        )

    async def reconnect(self, stored: Ticket, requested: Ticket, stream_id: str, now: int) -> bool:
        """Connect a stored ticket with a new stream; returns False if the ticket has changed meanwhile."""
        values = {
            "stream_id": stream_id,
            "heartbeat_milliseconds": now,
            "request_id": requested.request_id,
            "network": requested.network,
        }
        if not stored.table_id:
            values |= {
                "name": requested.name,
                "client_seed": requested.client_seed,
                "bots_after_seconds": requested.bots_after_seconds,
            }
        return await self._update(_unchanged(stored), **values)

    async def heartbeat(self, stream_ids: Collection[str], now: int) -> None:
        """Record that streams still wait."""
        await self._update(TICKETS.c.stream_id.in_(stream_ids), heartbeat_milliseconds=now)

    async def disconnect(self, stream_ids: Collection[str], now: int) -> None:
        """Record that streams have ended; their tickets are kept for a while, in the same position."""
        await self._update(TICKETS.c.stream_id.in_(stream_ids), heartbeat_milliseconds=now, stream_id=None)

    async def mark_delivered(self, stream_id: str, now: int) -> None:
        """Record that a stream was sent its table, which then answers no call with another request_id."""
        await self._update(TICKETS.c.stream_id == stream_id, is_delivered=True, heartbeat_milliseconds=now)

    async def discard(self, stream_id: str) -> None:
        """Remove the ticket of a stream, because its match failed."""
        discarded = delete(TICKETS).where(TICKETS.c.stream_id == stream_id)
        await self._store.write(lambda connection: connection.execute(discarded))

    async def count_waiting(self, now: int) -> dict[MatchCriteria, Waiting]:
        """Return the tickets that can be matched, by criteria."""
        is_bot_due = func.max(case((self._is_bot_due(now), 1), else_=0))
        query = select(*_CRITERIA, func.count(), is_bot_due).where(*_matchable(now)).group_by(*_CRITERIA)
        rows = await self._store.read(lambda connection: connection.execute(query).all())
        return {MatchCriteria(*criteria): Waiting(count, bool(is_due)) for *criteria, count, is_due in rows}

    async def match(
        self,
        criteria: MatchCriteria,
        now: int,
        make_table: Callable[[Sequence[Ticket]], Table],
        with_bots: bool = False,
    ) -> Table | None:
        """Seat players who have waited long at a new table, in one transaction; None if there are too few.

        They are chosen from those who have waited longest. With bots, too few are seated if one of them waits for bots.
        """
        wanted = (column == getattr(criteria, column.name) for column in _CRITERIA)
        oldest = (
            select(TICKETS, self._is_bot_due(now).label("is_bot_due"))
            .where(*_matchable(now), *wanted)
            .order_by(*_ARRIVAL)
            .limit(criteria.seat_count * CANDIDATES_PER_SEAT)
            # No other transaction may match one of them, or disconnect it, until this one ends.
            .with_for_update()
        )

        def seat(connection: Connection) -> Table | None:
            acquire_advisory_locks(connection, ("match", criteria.game, criteria.seat_count, criteria.preset))
            is_due = {_from_row(row): bool(row.is_bot_due) for row in connection.execute(oldest)}
            full = self._full_networks(connection, list(is_due))
            waiting = [ticket for ticket in is_due if ticket.network not in full]
            tickets = choose(waiting, criteria.seat_count, with_bots and any(is_due[ticket] for ticket in waiting))
            if not tickets:
                return None
            table = make_table(tickets)
            acquire_advisory_locks(connection, *{("network", ticket.network) for ticket in tickets if ticket.network})
            connection.execute(insert(TABLES).values(to_row(table)))
            add_seats(connection, table.table_id, {ticket.player_id: ticket.network for ticket in tickets})
            chosen = TICKETS.c.ticket_id.in_([ticket.ticket_id for ticket in tickets])
            seated = update(TICKETS).where(chosen, *_matchable(now)).values(table_id=table.table_id)
            is_seated = connection.execute(seated).rowcount == len(tickets)
            # SQLite locks no rows: another process may have changed one of them in between.
            if not is_seated or self._full_networks(connection, tickets, more=0):
                raise _TicketChanged
            return table

        try:
            table = await self._store.write(seat)
        except _TicketChanged:
            return None
        if table is not None:
            self._store.notify(table.table_id)
        return table

    def _is_bot_due(self, now: int) -> ColumnElement[bool]:
        due = TICKETS.c.created_milliseconds + TICKETS.c.bots_after_seconds * 1000
        return due <= self._store.arrival_time(now)

    def _full_networks(self, connection: Connection, tickets: Sequence[Ticket], more: int = 1) -> set[str]:
        """Return the networks of tickets that have too many tables, or would have with `more`."""
        counts = tables_by_network(connection, {ticket.network for ticket in tickets if ticket.network})
        return {network for network, count in counts.items() if count + more > self._limits.of_network}

    async def outcomes(self, stream_ids: Collection[str]) -> dict[str, Table | None]:
        """Return the streams whose wait is over: with a table that plays or has ended, or None without a ticket."""
        own = TICKETS.c.stream_id.in_(stream_ids)
        connected = select(TICKETS.c.stream_id).where(own)
        seated = (
            select(TICKETS.c.stream_id, *TABLES.c)
            .join_from(TICKETS, TABLES, TICKETS.c.table_id == TABLES.c.table_id)
            .where(own, TABLES.c.state.in_([TableState.PLAYING, TableState.FINISHED, TableState.CLOSED]))
        )
        known, rows = await self._store.read(
            lambda connection: (set(connection.scalars(connected)), connection.execute(seated).all())
        )
        outcomes: dict[str, Table | None] = {lost: None for lost in stream_ids if lost not in known}
        async for row in in_steps(rows, DECODING_STEP):
            outcomes[row.stream_id] = from_row(row)
        return outcomes

    async def delete_abandoned(self, unmatched_before: int, matched_before: int) -> None:
        """Remove tickets without heartbeat since a time: unmatched ones, and those delivered or of ended tables.

        A ticket of a running table is kept until its delivery.
        """
        heartbeat = TICKETS.c.heartbeat_milliseconds
        running = select(TABLES.c.table_id).where(TABLES.c.state.in_(RUNNING))
        over = TICKETS.c.is_delivered | TICKETS.c.table_id.not_in(running)
        abandoned = (_UNMATCHED & (heartbeat < unmatched_before)) | (over & (heartbeat < matched_before))
        keys = select_unlocked(TICKETS.c.ticket_id, abandoned)
        deleted = delete(TICKETS).where(TICKETS.c.ticket_id.in_(keys))
        await self._store.write(lambda connection: connection.execute(deleted))

    async def _get_by_player(self, player_id: str) -> Ticket | None:
        query = select(TICKETS).where(TICKETS.c.player_id == player_id)
        row = await self._store.read(lambda connection: connection.execute(query).one_or_none())
        return _from_row(row) if row else None

    async def _is_obsolete(self, stored: Ticket, requested: Ticket) -> bool:
        if not stored.table_id:
            return stored.criteria != requested.criteria
        query = select(TABLES.c.table_id).where(TABLES.c.table_id == stored.table_id)
        # A request is repeated because the answer may be lost.
        is_retry = bool(stored.request_id) and stored.request_id == requested.request_id
        if not is_retry:
            if stored.is_delivered:
                return True
            query = query.where(TABLES.c.state.in_(RUNNING))
        return await self._store.read(lambda connection: connection.execute(query).one_or_none()) is None

    async def _add(self, ticket: Ticket, stream_id: str, now: int) -> bool:
        values = {
            "ticket_id": ticket.ticket_id,
            "player_id": ticket.player_id,
            "name": ticket.name,
            "game": ticket.criteria.game,
            "seat_count": ticket.criteria.seat_count,
            "preset": ticket.criteria.preset,
            "bots_after_seconds": ticket.bots_after_seconds,
            "client_seed": ticket.client_seed,
            "created_milliseconds": self._store.arrival_time(ticket.created_milliseconds),
            "heartbeat_milliseconds": now,
            "stream_id": stream_id,
            "request_id": ticket.request_id,
            "is_delivered": False,
            "network": ticket.network,
        }
        try:
            await self._store.write(lambda connection: connection.execute(insert(TICKETS).values(values)))
        except IntegrityError:
            return False
        return True

    async def _remove(self, stored: Ticket) -> None:
        await self._store.write(lambda connection: connection.execute(delete(TICKETS).where(_unchanged(stored))))

    async def _update(self, condition: ColumnElement[bool], **values: Any) -> bool:
        locked = select(TICKETS.c.ticket_id).where(condition).order_by(*_ARRIVAL).with_for_update()
        statement = update(TICKETS).where(TICKETS.c.ticket_id.in_(locked)).values(values)
        return await self._store.write(lambda connection: connection.execute(statement).rowcount) > 0


def _matchable(now: int) -> tuple[ColumnElement[bool], ...]:
    is_alive = TICKETS.c.heartbeat_milliseconds >= now - HEARTBEAT_TIMEOUT_SECONDS * 1000
    return _UNMATCHED, TICKETS.c.stream_id.is_not(None), is_alive


def _unchanged(stored: Ticket) -> ColumnElement[bool]:
    same_table = TICKETS.c.table_id.is_not_distinct_from(stored.table_id or None)
    return and_(TICKETS.c.ticket_id == stored.ticket_id, same_table, TICKETS.c.is_delivered == stored.is_delivered)


def _from_row(row: Row[Any]) -> Ticket:
    return Ticket(
        row.ticket_id,
        row.player_id,
        row.name,
        MatchCriteria(row.game, row.seat_count, row.preset),
        row.client_seed,
        row.created_milliseconds,
        row.table_id or "",
        row.request_id,
        row.is_delivered,
        row.network,
        row.bots_after_seconds,
    )
