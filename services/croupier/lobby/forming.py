"""Forming tables: what players ask of the lobby, from the first seat to the first deal."""

import random
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from dataclasses import dataclass

from croupier.lobby import tables
from croupier.lobby.changes import TableChanges, unknown_table
from croupier.lobby.engine_port import EnginePort
from croupier.lobby.games import GameCatalogue
from croupier.lobby.opening import Opener
from croupier.lobby.players import Player, new_id
from croupier.lobby.table_store import InviteCodeTaken, TableStore
from croupier.lobby.tables import ENDED, FREE_SEAT, Seat, Table, TableClock, TableState
from croupier.lobby.watching import TableFeed
from croupier.runtime.errors import LimitReached, Unavailable
from croupier.runtime.stream_places import StreamPlaces

CODE_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Without 0, O, 1 and I, which people mistake for each other."""
CODE_LENGTH = 8
CODE_ATTEMPTS = 5
FORMING = (TableState.FORMING, TableState.OPENING)
BEGINNING_PAGE = 200


@dataclass(frozen=True, slots=True)
class TableWish:
    """A table to form; the clock is resolved, the options are those that differ from the defaults."""

    game: str
    seats: int
    options: Mapping[str, str]
    clock: TableClock
    private: bool


@dataclass(frozen=True, slots=True)
class Forming:
    """The tables of the lobby. Everything raises ServiceError where it refuses, and then changes nothing."""

    store: TableStore
    changes: TableChanges
    feed: TableFeed
    engine: EnginePort
    opener: Opener
    games: GameCatalogue
    places: StreamPlaces
    hosted_limit: int
    source: random.Random
    clock: Callable[[], int]

    async def create(self, host: Player, wish: TableWish) -> Table:
        """Form a table and seat its host."""
        if await self.store.hosted(host.player_id) >= self.hosted_limit:
            raise self._too_many_hosted()
        table_id = new_id(self.source)
        resolved = await self.engine.prepare_table(table_id, wish.game, wish.seats, wish.options, wish.clock)
        now = self.clock()
        for _ in range(CODE_ATTEMPTS):
            table = Table(
                table_id=table_id,
                state=TableState.FORMING,
                game=wish.game,
                options=resolved.options,
                clock=resolved.clock,
                seats=(Seat(host.player_id, host.name), *[FREE_SEAT] * (wish.seats - 1)),
                host_player_id=host.player_id,
                private=wish.private,
                invite_code=self._invite_code() if wish.private else "",
                commitment=resolved.commitment,
                created_milliseconds=now,
                touched_milliseconds=now,
            )
            try:
                if not await self.store.add(table, self.hosted_limit):
                    raise self._too_many_hosted()
            except InviteCodeTaken:
                continue
            self.feed.publish(table)
            return table
        raise Unavailable("INVITE_CODES", "no free invite code was found: try again")

    async def get(self, viewer_id: str, table_id: str) -> Table:
        """A table that a player may see."""
        table = await self.store.table(table_id)
        if table is None or not table.is_shown_to(viewer_id):
            raise unknown_table()
        return table

    async def public(
        self, game: str, states: Collection[TableState], before: tuple[int, str] | None, limit: int
    ) -> list[Table]:
        """Public tables, newest first, after (created, table_id) of the page before."""
        return await self.store.public(game, states, before, limit)

    async def join(self, player: Player, table_id: str) -> Table:
        """Take a seat of a table that the player may see."""
        await self.get(player.player_id, table_id)
        return await self.changes.change(table_id, lambda table: tables.join(table, player))

    async def join_invited(self, player: Player, invite_code: str) -> Table:
        """Take a seat by invite code, in upper or lower case."""
        table = await self.store.invited(invite_code.strip().upper())
        if table is None:
            raise unknown_table()
        return await self.changes.change(table.table_id, lambda now: tables.join(now, player))

    async def leave(self, player_id: str, table_id: str) -> None:
        """Give up a seat."""
        await self.get(player_id, table_id)
        await self.changes.change(table_id, lambda table: tables.leave(table, player_id))

    async def set_ready(self, player_id: str, table_id: str, ready: bool, client_seed: bytes) -> Table:
        """Say whether one is ready; the last one opens the table."""
        await self.get(player_id, table_id)
        return await self.opener.advance(
            await self.changes.change(table_id, lambda table: tables.set_ready(table, player_id, ready, client_seed))
        )

    async def add_bot(self, player_id: str, table_id: str, bot: str, seat: int | None = None) -> Table:
        """Fill a seat with a computer player, which opens the table if all others are ready; a named seat only once."""
        kind = await self.games.bot((await self.get(player_id, table_id)).game, bot)
        return await self.opener.advance(
            await self.changes.change(table_id, lambda table: tables.add_bot(table, player_id, kind, seat))
        )

    async def remove_seat(self, player_id: str, table_id: str, number: int) -> Table:
        """Free a seat."""
        await self.get(player_id, table_id)
        return await self.changes.change(table_id, lambda table: tables.remove_seat(table, player_id, number))

    async def watch_one(self, viewer_id: str, table_id: str) -> AsyncGenerator[Table, None]:
        """A table and its changes, until it ends; raises NotFound once the viewer may see it no more."""
        with (
            self.places.occupied_by(viewer_id),
            self.feed.subscribed(lambda table: table.table_id == table_id) as subscription,
        ):
            table = await self.get(viewer_id, table_id)
            subscription.is_news(table)
            yield table
            if table.state in ENDED:
                return
            async for changed in subscription.changes():
                if not changed.is_shown_to(viewer_id):
                    raise unknown_table()
                yield changed
                if changed.state in ENDED:
                    return

    async def watch_public(self, viewer_id: str, game: str) -> AsyncGenerator[Table, None]:
        """Every public table that is forming, the newest first, and then changes of public tables."""
        with (
            self.places.occupied_by(viewer_id),
            self.feed.subscribed(lambda table: not table.private and (not game or table.game == game)) as subscription,
        ):
            before = None
            while page := await self.store.public(game, FORMING, before, BEGINNING_PAGE):
                for table in page:
                    if subscription.is_news(table):
                        yield table
                before = (page[-1].created_milliseconds, page[-1].table_id)
            async for changed in subscription.changes():
                yield changed

    def _invite_code(self) -> str:
        return "".join(self.source.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))

    def _too_many_hosted(self) -> LimitReached:
        return LimitReached(
            "HOSTED_TABLES", f"{self.hosted_limit} tables are the most to host at a time: finish or leave one first"
        )
