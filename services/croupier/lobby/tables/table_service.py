"""Forming tables: the calls of players from the first seat to the first deal."""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from croupier.lobby.accounts.players import Player, new_code, new_id
from croupier.lobby.feed.subscriptions import Subscription, TableFeed
from croupier.lobby.storage.presence_store import Seen
from croupier.lobby.storage.table_store import CreateRequest, InviteCodeTaken, RequestKnown, TableChanged, TableStore
from croupier.lobby.tables import forming_table
from croupier.lobby.tables.engine_port import EnginePort
from croupier.lobby.tables.forming_table import ENDED, Table, TableState
from croupier.lobby.tables.games import GameRegistry
from croupier.lobby.tables.my_seat import MySeat, my_seat
from croupier.lobby.tables.new_table import TableSpec, chosen_bots, requested_table
from croupier.lobby.tables.presence import Presence
from croupier.lobby.tables.rematch import check_finished, has_ended, join_next, next_table
from croupier.lobby.tables.revision import check_revision, has_same_settings, revised
from croupier.lobby.tables.table_changes import next_version, without_reservations
from croupier.lobby.tables.table_opener import TableOpener
from croupier.lobby.tables.table_updater import TableUpdater, table_busy
from croupier.lobby.tables.turns import Turns
from croupier.runtime.errors import AlreadyExists, LimitReached, Unavailable
from croupier.runtime.steps import in_steps
from croupier.runtime.table_access import unknown_table
from croupier_api.v1 import errors_pb2

CODE_LENGTH = 8
CODE_ATTEMPTS = 5
FORMING = (TableState.FORMING, TableState.OPENING)
SHOWN_RUNNING = (*FORMING, TableState.PLAYING)
PAGE_SIZE = 200
SEATS_STEP = 25
REMATCH_ATTEMPTS = 5
MAX_PAGE_READS = 4
"""Of all streams at a time, so that calls find free connections however many streams begin at once."""


class WatchedTable(NamedTuple):
    """A table of a stream, None to show that it is alive, and whether all tables with which it begins were sent.

    `my_seat` is that of the viewer if they follow their own tables, None if they have none any more.
    """

    table: Table | None
    is_list_complete: bool
    my_seat: MySeat | None = None


@dataclass(frozen=True, slots=True)
class TableService:
    """The tables of the lobby. Every method raises ServiceError for a refusal, and then changes nothing."""

    store: TableStore
    updater: TableUpdater
    feed: TableFeed
    engine: EnginePort
    opener: TableOpener
    games: GameRegistry
    presence: Presence
    turns: Turns
    source: random.Random
    clock: Callable[[], int]
    page_reads: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_PAGE_READS))

    async def create(
        self, host: Player, spec: TableSpec, network: str = "", request: CreateRequest | None = None
    ) -> Table:
        """Create a table and seat its host, who calls from a network; opens a table that is complete.

        A repeated request returns the table that the first one created. Raises AlreadyExists for a request whose id
        belongs to another one.
        """
        if request and (known := await self._created_by(host, request)):
            return known
        try:
            table = await self._create(await self._requested(host, spec, network), request=request)
        except RequestKnown:
            if request and (known := await self._created_by(host, request)):
                return known
            raise
        return await self.opener.advance(table)

    async def check(self, host: Player, spec: TableSpec, network: str = "") -> Table:
        """Return the table that `create` would create, without id, code and commitment; raises its refusals."""
        requested = await self._requested(host, spec, network)
        return replace(await self._prepared(requested, validate_only=True), table_id="")

    async def _created_by(self, host: Player, request: CreateRequest) -> Table | None:
        """Return the table that a request created before, or None."""
        found = await self.store.get_by_request(host.player_id, request.request_id)
        if found is None:
            return None
        table, content_hash = found
        if content_hash != request.content_hash:
            raise AlreadyExists(
                errors_pb2.ERROR_REASON_REQUEST_ID_REUSED,
                "request_id belongs to another request of this player: use a new one for each",
            )
        return await self.opener.advance(_shown(table, host.player_id))

    async def _requested(self, host: Player, spec: TableSpec, network: str) -> Table:
        bots = await chosen_bots(self.games, spec)
        return requested_table(host, spec, bots, new_id(self.source), self.clock(), network)

    async def rematch(self, player: Player, table_id: str, network: str = "") -> tuple[Table, bool]:
        """Take a seat of the table that follows a finished one; returns it, and whether this call created it."""
        change = partial(join_next, player=player)
        for _ in range(REMATCH_ATTEMPTS):
            finished = await self._finished(player.player_id, table_id)
            following = await self.store.get(finished.next_table_id) if finished.next_table_id else None
            if following is not None and following.state is not TableState.CLOSED:
                joined = await self._change(player.player_id, following.table_id, change, network)
                if joined.state is not TableState.CLOSED:
                    return joined, False
            else:
                with suppress(TableChanged):
                    return await self._create_next(player, finished, network), True
        raise table_busy()

    async def _create_next(self, host: Player, finished: Table, network: str) -> Table:
        now = self.clock()
        requested = next_table(finished, host, new_id(self.source), now, network)
        followed = next_version(finished, replace(finished, next_table_id=requested.table_id), now, "")
        table = await self._create(requested, (finished, followed))
        self.feed.publish(followed)
        return table

    async def _finished(self, player_id: str, table_id: str) -> Table:
        """Return a finished table at which a player had a seat; that its game is over may not be stored yet."""
        table = await self.get(player_id, table_id)
        if table.state is TableState.PLAYING and table.seat_of(player_id) is not None:
            await self.opener.finish([table_id])
            table = await self.get(player_id, table_id)
        check_finished(table, player_id)
        return table

    async def _create(
        self,
        requested: Table,
        previous: tuple[Table, Table] | None = None,
        request: CreateRequest | None = None,
    ) -> Table:
        """Prepare and store a table, with the previous one and the request as TableStore.add has them."""
        prepared = await self._prepared(requested)
        try:
            return await self._add(prepared, previous, request)
        except (LimitReached, TableChanged, RequestKnown):
            # After any other failure the table may be stored; the engine then deletes the prepared one by age.
            self.updater.discard(requested.table_id)
            raise

    async def _prepared(self, requested: Table, *, validate_only: bool = False) -> Table:
        """Return a new table as the engine prepared it; raises the refusals of a table that cannot be created."""
        await self.store.check_limits(requested.host_player_id, requested.network)
        preparation = await self.engine.prepare_table(
            requested.table_id,
            requested.game,
            len(requested.seats),
            requested.options,
            requested.time_control,
            requested.network,
            requested.host_player_id,
            validate_only=validate_only,
        )
        return forming_table.opening_if_complete(preparation.applied_to(requested, TableState.FORMING))

    async def _add(self, created: Table, previous: tuple[Table, Table] | None, request: CreateRequest | None) -> Table:
        async def add() -> Table:
            table = replace(created, invite_code=self._invite_code())
            await self.store.add(table, previous, request)
            return table

        table = await _with_free_invite_code(add)
        self.presence.store.mark_recorded([(table.table_id, table.host_player_id)], table.created_milliseconds)
        self.feed.publish(table)
        return table

    async def update(self, player_id: str, table_id: str, spec: TableSpec, *, validate_only: bool = False) -> Table:
        """Change a forming table for its host, and open it if it is complete; the game of the specification is unused.

        Has no effect if nothing changes. With `validate_only` return the table as it would be.
        """
        table = await self.get(player_id, table_id)
        check_revision(table, player_id)
        preparation = await self.engine.prepare_table(
            table_id,
            table.game,
            spec.seat_count,
            spec.options,
            spec.time_control,
            table.network,
            revision=table.revision + 1,
            validate_only=validate_only,
        )

        def revise(current: Table, code: str = "") -> Table:
            check_revision(current, player_id)
            if current.revision != table.revision:
                raise table_busy()
            changed = preparation.applied_to(revised(current, spec.seat_count, spec.access), TableState.FORMING)
            if has_same_settings(current, changed):
                return current
            # A public table of an earlier version has no code.
            return forming_table.opening_if_complete(replace(changed, invite_code=current.invite_code or code))

        async def update() -> Table:
            return await self._update(player_id, table_id, partial(revise, code=self._invite_code()))

        if validate_only:
            return revise(table)
        return await self.opener.advance(await _with_free_invite_code(update))

    async def get(self, viewer_id: str, table_id: str) -> Table:
        """Return a table that a player may see; one who has a seat while it forms is there."""
        table = await self.store.get(table_id)
        if table is None:
            raise unknown_table()
        if _shown(table, viewer_id).state is not TableState.FORMING or table.seat_of(viewer_id) is None:
            return table
        seen = await self._seen(table_id)
        if self.presence.marked(table, seen, viewer_id) != table:
            return await self._update(viewer_id, table_id, lambda current: current)
        await self.presence.store.record([(table_id, viewer_id)], self.clock())
        return table

    async def list_public(
        self, game: str, states: Collection[TableState], before: tuple[int, str] | None, limit: int
    ) -> list[Table]:
        """Return public tables, newest first, after (created, table_id) of the page before; `game` empty for all.

        Raises MalformedRequest for an unknown game.
        """
        if game:
            await self.games.find(game)
        return await self.store.list_public(game, states, before, limit)

    async def get_by_invite_code(self, viewer_id: str, invite_code: str) -> Table:
        """Return the table with an invite code, in upper or lower case, before its end, unless the viewer is blocked.

        A blocked player waits as long as one with a wrong code.
        """
        table = await self.store.get_by_invite_code(invite_code.strip().upper())
        if table is None or table.state in ENDED or table.access.is_removed(viewer_id):
            raise unknown_table()
        return table

    async def join(self, player: Player, table_id: str, network: str = "", seat: int | None = None) -> Table:
        """Take a seat of a table that the player, who calls from a network, may see, or move to it."""
        player_id = player.player_id
        return await self._change(
            player_id, table_id, lambda table: forming_table.join(_shown(table, player_id), player, seat), network
        )

    async def join_by_invite_code(
        self, player: Player, invite_code: str, network: str = "", seat: int | None = None
    ) -> Table:
        """Take a seat by invite code, or move to it."""
        table = await self.get_by_invite_code(player.player_id, invite_code)
        return await self._change(
            player.player_id, table.table_id, lambda current: forming_table.join(current, player, seat), network
        )

    async def leave(self, player_id: str, table_id: str) -> None:
        """Give up a seat."""
        await self._update(player_id, table_id, lambda table: forming_table.leave(table, player_id))

    async def set_ready(self, player_id: str, table_id: str, is_ready: bool, client_seed: bytes) -> Table:
        """Set whether a player is ready; the last one opens the table."""
        return await self.opener.advance(
            await self._update(
                player_id, table_id, lambda table: forming_table.set_ready(table, player_id, is_ready, client_seed)
            )
        )

    async def add_bot(self, player_id: str, table_id: str, bot: str, seat: int | None = None) -> Table:
        """Fill a seat with a bot, which opens the table if only its ready host plays; idempotent by seat if given."""
        kind = await self.games.choose_bot((await self.get(player_id, table_id)).game, bot)
        return await self.opener.advance(
            await self._update(player_id, table_id, lambda table: forming_table.add_bot(table, player_id, kind, seat))
        )

    async def clear_seat(self, player_id: str, table_id: str, seat: int, *, block: bool = False) -> Table:
        """Free a seat; with `block` a player who had it loses access to the table."""

        async def clear() -> Table:
            code = self._invite_code()
            return await self._update(
                player_id,
                table_id,
                lambda table: forming_table.clear_seat(table, player_id, seat, block=block, invite_code=code),
            )

        return await _with_free_invite_code(clear)

    async def watch_table(self, viewer_id: str, table_id: str, network: str = "") -> AsyncGenerator[WatchedTable, None]:
        """Yield a table and its changes until it ends; raises NotFound once the viewer may not see it any more.

        A finished table ends for its players when another one follows it.
        """
        with self.feed.subscribe_table(table_id, viewer_id, network) as subscription:
            table = await self.get(viewer_id, table_id)
            subscription.mark_delivered(table)
            yield WatchedTable(table, False)
            yield WatchedTable(None, True)
            if has_ended(table, viewer_id):
                return
            async for _, changed, _ in subscription.changes():
                yield WatchedTable(_shown(changed, viewer_id), True)
                if has_ended(changed, viewer_id):
                    return

    async def watch_public(self, viewer_id: str, game: str, network: str = "") -> AsyncGenerator[WatchedTable, None]:
        """Yield the public tables that are forming, newest first, and then changes of public tables.

        Raises MalformedRequest for an unknown game: such a stream would never get a message.
        """
        if game:
            await self.games.find(game)
        with self.feed.subscribe_public(game, viewer_id, network) as subscription:
            before = None
            while page := await self._read_page(game, before):
                for table in page:
                    if table.is_shown_to(viewer_id):
                        await subscription.turn_for(table)
                        yield WatchedTable(table, False)
                before = (page[-1].created_milliseconds, page[-1].table_id)
            yield WatchedTable(None, True)
            async for _, changed, _ in subscription.changes():
                if changed.is_shown_to(viewer_id):
                    yield WatchedTable(changed, True)

    async def list_own(
        self, player_id: str, has_ended: bool, before: tuple[int, str] | None, limit: int
    ) -> list[Table]:
        """Return tables that have ended, or have not, at which a player has a seat, as `list_public` does."""
        return await self.store.list_own(player_id, has_ended, before, limit)

    async def with_seats(self, player_id: str, tables: Sequence[Table]) -> AsyncGenerator[tuple[Table, MySeat], None]:
        """Yield tables, each with the seat of a player, without those at which they have none.

        The engine is asked for the turns of games.
        """
        turns = await self.turns.read([table.table_id for table in tables if table.state is TableState.PLAYING])
        async for table in in_steps(tables, SEATS_STEP):
            if (seat := my_seat(table, player_id, turns.get(table.table_id))) is not None:
                yield table, seat

    async def watch_own(self, player_id: str, network: str = "") -> AsyncGenerator[WatchedTable, None]:
        """Yield the tables of a player that are forming or being played, newest first, and then changes of these.

        A table at which they have no seat any more comes once more, without it; they may not be allowed to see it.
        """
        with self.feed.subscribe_own(player_id, network) as subscription:
            async for watched in self._begin_own(player_id, subscription):
                yield watched
            yield WatchedTable(None, True)
            async for _, changed, seat in subscription.changes():
                yield WatchedTable(changed, True, seat)

    async def _begin_own(self, player_id: str, subscription: Subscription) -> AsyncGenerator[WatchedTable, None]:
        """Yield the tables with which a stream begins; no other frame keeps them in memory as long as it lasts."""
        async for table, seat in self.with_seats(player_id, await self._read_own(player_id)):
            await subscription.turn_for(table, seat)
            yield WatchedTable(table, False, seat)

    async def _read_own(self, player_id: str) -> list[Table]:
        """Return the running tables of a player, newest first, and follow them before: no later change is missed.

        Those that they have lost meanwhile stay followed: another stream of the player may not know it yet.
        """
        own = self.feed.own
        async with self.page_reads:
            table_ids = await self.store.ids_of_running(player_id)
            own.follow(player_id, table_ids)
            read = await self.store.list_by_ids(table_ids) if table_ids else []
        tables = [table for table in read if table.state in SHOWN_RUNNING]
        for table in tables:
            own.see(table)
        return sorted(tables, key=lambda table: (table.created_milliseconds, table.table_id), reverse=True)

    async def _update(self, player_id: str, table_id: str, change: Callable[[Table], Table]) -> Table:
        return await self._change(player_id, table_id, lambda table: change(_shown(table, player_id)))

    async def _change(
        self, player_id: str, table_id: str, change: Callable[[Table], Table], network: str = ""
    ) -> Table:
        """Update a table for a player who calls, and who is therefore there; a host who is away is none any more."""
        seen, is_changed = await self._seen(table_id), False

        def mark(table: Table) -> Table:
            return self.presence.marked(table, seen, player_id)

        def marked_change(table: Table) -> Table:
            nonlocal is_changed
            # Marked again after the change: a player who joins is there too.
            changed = mark(change(mark(without_reservations(table, self.clock()))))
            is_changed = changed != table
            return changed

        table = await self.updater.update(table_id, marked_change, player_id, network)
        if is_changed:
            # The update has recorded the player.
            self.presence.store.mark_recorded([(table_id, player_id)], self.clock())
        elif table.state is TableState.FORMING and table.seat_of(player_id) is not None:
            await self.presence.store.record([(table_id, player_id)], self.clock())
        return table

    async def _seen(self, table_id: str) -> Seen:
        return (await self.presence.store.seen([table_id]))[table_id]

    async def _read_page(self, game: str, before: tuple[int, str] | None) -> list[Table]:
        async with self.page_reads:
            return await self.store.list_public(game, FORMING, before, PAGE_SIZE)

    def _invite_code(self) -> str:
        return new_code(self.source, CODE_LENGTH)


def _shown(table: Table, viewer_id: str) -> Table:
    """Return a table; raises NotFound unless a player may see it."""
    if not table.is_shown_to(viewer_id):
        raise unknown_table()
    return table


async def _with_free_invite_code(store: Callable[[], Awaitable[Table]]) -> Table:
    """Return what `store` returns, which draws an invite code and is called again while the code is in use."""
    for _ in range(CODE_ATTEMPTS):
        try:
            return await store()
        except InviteCodeTaken:
            continue
    raise Unavailable(
        errors_pb2.ERROR_REASON_NO_INVITE_CODE, "no free invite code was found: try again", retry_after_seconds=0
    )
