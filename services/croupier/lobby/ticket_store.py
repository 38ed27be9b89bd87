"""Tickets, stored."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from croupier.lobby.schema import TABLES, TICKETS
from croupier.lobby.store import Store, unlocked
from croupier.lobby.table_store import from_row, to_row
from croupier.lobby.tables import RUNNING, Table, TableState
from croupier.lobby.tickets import ATTENDED_SECONDS, Ticket, Wish
from croupier.runtime.errors import Unavailable

TAKE_ATTEMPTS = 8
_UNMATCHED = TICKETS.c.table_id.is_(None)
_ARRIVAL = (TICKETS.c.created_milliseconds, TICKETS.c.ticket_id)
"""The order in which players are matched, and tickets locked."""


class TicketStore:
    """At most one ticket for each player."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def take(self, wanted: Ticket, stream_id: str, now: int) -> Ticket:
        """The player's ticket: his own of the same wish, or one that was matched, or the new one that is given.

        One whose table was told, or has ended, is his for a call by the same request_id only. From now on the stream
        waits on it and no other. Raises Unavailable if others keep changing it.
        """
        for _ in range(TAKE_ATTEMPTS):
            held = await self._held_by(wanted.player_id)
            if held is None:
                if await self._add(wanted, stream_id, now):
                    return wanted
            elif await self._is_over(held, wanted):
                await self._remove(held)
            elif await self.attend_again(held, wanted, stream_id, now):
                return held
        raise Unavailable(
            "TICKET_BUSY", "your ticket is being changed by other calls: try again", retry_after_seconds=1
        )

    async def attend(self, stream_ids: Collection[str], now: int) -> None:
        """Note that these streams wait."""
        await self._change(TICKETS.c.stream_id.in_(stream_ids), seen_milliseconds=now)

    async def depart(self, stream_ids: Collection[str], now: int) -> None:
        """Note that these streams wait no more; their tickets keep their place for a while."""
        await self._change(TICKETS.c.stream_id.in_(stream_ids), seen_milliseconds=now, stream_id=None)

    async def deliver(self, stream_id: str, now: int) -> None:
        """Note that a stream was told its table; only a call by the same request_id gets it again."""
        await self._change(TICKETS.c.stream_id == stream_id, told=True, seen_milliseconds=now)

    async def discard(self, stream_id: str) -> None:
        """Remove the ticket on which a stream waited, for it came to nothing."""
        async with self._store.writing() as connection:
            await connection.execute(delete(TICKETS).where(TICKETS.c.stream_id == stream_id))

    async def waiting(self, now: int) -> dict[Wish, int]:
        """How many wait, by wish."""
        query = (
            select(TICKETS.c.game, TICKETS.c.seats, func.count())
            .where(*_matchable(now))
            .group_by(TICKETS.c.game, TICKETS.c.seats)
        )
        async with self._store.reading() as connection:
            return {Wish(game, seats): count for game, seats, count in await connection.execute(query)}

    async def match(self, wish: Wish, now: int, make_table: Callable[[Sequence[Ticket]], Table]) -> Table | None:
        """Seat those who have waited longest for a wish at a new table, all or nobody; None if too few wait."""
        wanted = (
            select(TICKETS)
            .where(*_matchable(now), TICKETS.c.game == wish.game, TICKETS.c.seats == wish.seats)
            .order_by(*_ARRIVAL)
            .limit(wish.seats)
            # Until the end nobody takes one of them, nor notes that its player has gone.
            .with_for_update()
        )
        async with self._store.writing() as connection:
            await self._store.one_at_a_time(connection, "match", wish.game, wish.seats)
            tickets = [_from_row(row) for row in await connection.execute(wanted)]
            if len(tickets) < wish.seats:
                return None
            table = make_table(tickets)
            await connection.execute(insert(TABLES).values(to_row(table)))
            mine = TICKETS.c.ticket_id.in_([ticket.ticket_id for ticket in tickets])
            seat = update(TICKETS).where(mine, *_matchable(now)).values(table_id=table.table_id)
            if (await connection.execute(seat)).rowcount != wish.seats:
                # SQLite locks no rows: another process took one of them in between.
                await connection.rollback()
                return None
            await self._store.tell(connection, table.table_id)
            return table

    async def outcomes(self, stream_ids: Collection[str]) -> dict[str, Table | None]:
        """Those of some streams that wait no more: with a table that plays or has ended, or None without a ticket."""
        mine = TICKETS.c.stream_id.in_(stream_ids)
        known = select(TICKETS.c.stream_id).where(mine)
        seated = (
            select(TICKETS.c.stream_id, *TABLES.c)
            .join_from(TICKETS, TABLES, TICKETS.c.table_id == TABLES.c.table_id)
            .where(mine, TABLES.c.state.in_([TableState.PLAYING, TableState.FINISHED, TableState.CLOSED]))
        )
        async with self._store.reading() as connection:
            there = set((await connection.execute(known)).scalars())
            outcomes: dict[str, Table | None] = {gone: None for gone in stream_ids if gone not in there}
            for row in await connection.execute(seated):
                outcomes[row.stream_id] = from_row(row)
        return outcomes

    async def forget_abandoned(self, unmatched_before: int, matched_before: int) -> None:
        """Remove tickets on which no stream has waited since a time: unmatched ones, and those told or of ended tables.

        A table that still runs, and of which its player may not know, is kept for him.
        """
        seen = TICKETS.c.seen_milliseconds
        running = select(TABLES.c.table_id).where(TABLES.c.state.in_(RUNNING))
        over = TICKETS.c.told | TICKETS.c.table_id.not_in(running)
        abandoned = (_UNMATCHED & (seen < unmatched_before)) | (over & (seen < matched_before))
        old = unlocked(TICKETS.c.ticket_id, abandoned)
        async with self._store.writing() as connection:
            await connection.execute(delete(TICKETS).where(TICKETS.c.ticket_id.in_(old)))

    async def _held_by(self, player_id: str) -> Ticket | None:
        async with self._store.reading() as connection:
            row = (await connection.execute(select(TICKETS).where(TICKETS.c.player_id == player_id))).one_or_none()
        return _from_row(row) if row else None

    async def _is_over(self, held: Ticket, wanted: Ticket) -> bool:
        if not held.table_id:
            return held.wish != wanted.wish
        query = select(TABLES.c.table_id).where(TABLES.c.table_id == held.table_id)
        if not held.is_asked_again_by(wanted):
            if held.told:
                return True
            query = query.where(TABLES.c.state.in_(RUNNING))
        async with self._store.reading() as connection:
            return (await connection.execute(query)).one_or_none() is None

    async def _add(self, ticket: Ticket, stream_id: str, now: int) -> bool:
        values = {
            "ticket_id": ticket.ticket_id,
            "player_id": ticket.player_id,
            "name": ticket.name,
            "game": ticket.wish.game,
            "seats": ticket.wish.seats,
            "client_seed": ticket.client_seed,
            "created_milliseconds": self._store.arrival(ticket.created_milliseconds),
            "seen_milliseconds": now,
            "stream_id": stream_id,
            "request_id": ticket.request_id,
            "told": False,
        }
        try:
            async with self._store.writing() as connection:
                await connection.execute(insert(TICKETS).values(values))
        except IntegrityError:
            return False
        return True

    async def attend_again(self, held: Ticket, wanted: Ticket, stream_id: str, now: int) -> bool:
        seen = {"stream_id": stream_id, "seen_milliseconds": now, "request_id": wanted.request_id}
        if held.table_id:
            return await self._change(_unchanged(held), **seen)
        return await self._change(_unchanged(held), name=wanted.name, client_seed=wanted.client_seed, **seen)

    async def _remove(self, held: Ticket) -> None:
        async with self._store.writing() as connection:
            await connection.execute(delete(TICKETS).where(_unchanged(held)))

    async def _change(self, condition: ColumnElement[bool], **values: Any) -> bool:
        async with self._store.writing() as connection:
            changed = select(TICKETS.c.ticket_id).where(condition).order_by(*_ARRIVAL).with_for_update()
            statement = update(TICKETS).where(TICKETS.c.ticket_id.in_(changed)).values(values)
            return (await connection.execute(statement)).rowcount > 0


def _matchable(now: int) -> tuple[ColumnElement[bool], ...]:
    seen = TICKETS.c.seen_milliseconds >= now - ATTENDED_SECONDS * 1000
    return _UNMATCHED, TICKETS.c.stream_id.is_not(None), seen


def _unchanged(held: Ticket) -> ColumnElement[bool]:
    same_table = TICKETS.c.table_id.is_not_distinct_from(held.table_id or None)
    return and_(TICKETS.c.ticket_id == held.ticket_id, same_table, TICKETS.c.told == held.told)


def _from_row(row: Row[Any]) -> Ticket:
    return Ticket(
        row.ticket_id,
        row.player_id,
        row.name,
        Wish(row.game, row.seats),
        row.client_seed,
        row.created_milliseconds,
        row.table_id or "",
        row.request_id,
        row.told,
    )
