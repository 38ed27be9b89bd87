"""The registry of an engine's tables: preparation, opening and look-up."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from croupier.engine.core.access import Need, Visitor, check_access, has_seat
from croupier.engine.core.fold import advance, new_table
from croupier.engine.core.folded_table import FoldedTable
from croupier.engine.core.guarded_rules import RulesUnusable
from croupier.engine.core.living_games import LivingGames
from croupier.engine.core.log import ClockConfig, SeatConfig, TableConfig
from croupier.engine.core.log_codec import UnreadableLog
from croupier.engine.core.shuffles import SEED_BYTES, revised_seed
from croupier.engine.storage.port import StoredTable, TableStore, log_rows
from croupier.engine.tables.failing_rules import FailingRules
from croupier.engine.tables.loading import LoadQueue
from croupier.engine.tables.memory import TablesInMemory
from croupier.engine.tables.replays import Replay, ReplayCache
from croupier.engine.tables.table import Table, not_finished
from croupier.engine.tables.table_checks import (
    MAX_NETWORK_CHARACTERS,
    Revision,
    check_clock,
    check_repeat,
    check_rules,
    check_seats,
    config_by,
    offered_game,
    revised_config,
    unknown_rules,
)
from croupier.games.facts import SPECTATOR, Viewer
from croupier.games.interface import OptionValue
from croupier.games.registry import UnknownRules
from croupier.runtime.errors import AlreadyExists, LimitReached, MalformedRequest, Unavailable, decode_id
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.observation.logs import Logger
from croupier.runtime.single_flight import SingleFlight
from croupier.runtime.table_access import SEATED, TableAccess, unknown_table
from croupier_api.v1 import errors_pb2


class Loaded(NamedTuple):
    """A table, the number of entries that had to be read for it, and of the callers that shared the load."""

    table: Table
    entries: int = 0
    callers: int = 1


class Tables:
    """The tables of this engine; those in use are in memory."""

    def __init__(
        self,
        store: TableStore,
        new_table: Callable[[FoldedTable, str], Table],
        load_queue: LoadQueue,
        replays: ReplayCache,
        clock: Clock,
        new_seed: Callable[[int], bytes],
        logger: Logger,
        max_open_tables: int,
        living_games: Callable[[], Awaitable[LivingGames]],
        failing: FailingRules,
        min_bot_delay_milliseconds: int = 0,
        abandoned_milliseconds: int = 0,
    ) -> None:
        """Make a registry without tables; `new_table` makes one that a player of a network created.

        `living_games` returns the games of all living engines; raises Unavailable.
        """
        self._store = store
        self._new_table = new_table
        self._load_queue = load_queue
        self._replays = replays
        self._clock = clock
        self._new_seed = new_seed
        self._logger = logger
        self._max_open_tables = max_open_tables
        self.living_games = living_games
        self._failing = failing
        self._min_bot_delay_milliseconds = min_bot_delay_milliseconds
        self._abandoned_milliseconds = abandoned_milliseconds
        self._memory = TablesInMemory(clock)
        self._opening: set[str] = set()
        self._finding: SingleFlight[StoredTable] = SingleFlight()
        self._loading: SingleFlight[Loaded] = SingleFlight()
        self.is_draining = False
        """Whether this engine loads no more tables, because it stops."""

    @property
    def in_memory(self) -> Mapping[str, Table]:
        """The tables in memory, but for those whose game was over, for spectators too, at the last eviction."""
        return self._memory.live

    @property
    def loading(self) -> Collection[str]:
        """The ids of tables that are being loaded, whose logs may have been read already."""
        return self._loading.running

    @property
    def subscribed(self) -> int:
        """The number of tables in memory with subscribers."""
        return sum(bool(table.subscribers) for table in self._memory)

    async def prepare(
        self,
        table_id: str,
        game: str,
        seats: int,
        options: Mapping[str, OptionValue],
        clock: ClockConfig,
        network: str = "",
        host_player_id: str = "",
        revision: int = 0,
    ) -> TableConfig:
        """Check a table's configuration and commit to the seed of its revision; repeats return the same.

        `network` is that of the player who created the table: the entries of its bots take units of its budget. This
        player, the host, may create links before the game begins. Of a later revision nothing is stored, since its seed
        follows from that of the first. Raises as `check` does, and AlreadyExists if another table has the id.
        """
        if network:
            decode_id("network", network, MAX_NETWORK_CHARACTERS)
        if host_player_id:
            decode_id("host_player_id", host_player_id)
        host = (SeatConfig(host_player_id, ""),) if host_player_id else ()
        async with self._refusing_for_all_engines() as living:
            requested = self._requested(table_id, game, seats, options, clock, living)
            stored = await self._store.prepare(replace(requested, seats=host), self._clock(), network)
            if revision and stored.game == game:
                return replace(requested, seed=revised_seed(stored.seed, revision))
            async with self._refusing_unknown_rules(stored):
                check_repeat(stored, requested, options)
            return stored

    async def check(
        self, table_id: str, game: str, seats: int, options: Mapping[str, OptionValue], clock: ClockConfig
    ) -> TableConfig:
        """Return a table's configuration with a new seed.

        A bot delay below the operator's minimum is raised to it, and the clock gets the operator's time of abandonment.
        Raises MalformedRequest with the wrong field; Unavailable instead if another engine may know it in a roll-out.
        """
        async with self._refusing_for_all_engines() as living:
            return self._requested(table_id, game, seats, options, clock, living)

    def _requested(
        self,
        table_id: str,
        game: str,
        seats: int,
        options: Mapping[str, OptionValue],
        clock: ClockConfig,
        living: LivingGames,
    ) -> TableConfig:
        self._refuse_if_draining()
        decode_id("table_id", table_id)
        rules = offered_game(game, living)
        check_clock(clock)
        clock = replace(
            clock,
            bot_delay_milliseconds=max(clock.bot_delay_milliseconds, self._min_bot_delay_milliseconds),
            abandoned_milliseconds=self._abandoned_milliseconds,
        )
        return config_by(rules, table_id, seats, options, clock, self._new_seed(SEED_BYTES))

    async def open(
        self,
        table_id: str,
        seats: Sequence[SeatConfig],
        client_seeds: Sequence[bytes],
        access: TableAccess = SEATED,
        revision: Revision | None = None,
    ) -> None:
        """Open a prepared table and deal; repeats change nothing.

        Raises NotFound, MalformedRequest, LimitReached, AlreadyExists if it is open with other seats; Unavailable for
        what another engine may know in a roll-out, RulesUnusable.
        """
        self._refuse_if_draining()
        stored = await self._stored(table_id)
        rules_version = stored.config.rules_version if revision is None else revision.rules_version
        started = replace(stored.config, rules_version=rules_version)
        async with self._refusing_for_all_engines(), self._refusing_unknown_rules(started):
            prepared = stored.config if revision is None else revised_config(stored, revision, len(seats))
            check_rules(prepared)
            config = replace(prepared, seats=tuple(seats), client_seeds=tuple(client_seeds), access=access)
            check_seats(config)
        if stored.is_prepared:
            with self._slot_for(table_id):
                first = advance(config, new_table(config, self._failing.watch(config)), self._clock(), None)
                if await self._store.open(config, [each.entry for each in first], first[-1].after.turn):
                    table = (await self._loaded(stored._replace(config=config), is_urgent=True)).table
                    table.is_last_writer = True
                    table.schedule_turn()
                    return
            stored = await self._stored(table_id)
        # A repeat may be of an older lobby, which had no access.
        if replace(stored.config, access=access) != config:
            raise AlreadyExists(errors_pb2.ERROR_REASON_TABLE_ALREADY_OPEN, "the table is open with other seats")

    @asynccontextmanager
    async def _refusing_for_all_engines(self) -> AsyncIterator[LivingGames]:
        """Yield the games of all engines; Unavailable replaces a refusal if they differ: another may accept it."""
        living = await self.living_games()
        try:
            yield living
        except (MalformedRequest, AlreadyExists) as refusal:
            if living.is_rolling_out:
                message = f"{refusal.message}; another engine may know it: try again"
                raise Unavailable(errors_pb2.ERROR_REASON_TABLE_TOO_NEW, message, retry_after_seconds=1) from None
            raise

    @asynccontextmanager
    async def _refusing_unknown_rules(self, config: TableConfig) -> AsyncIterator[None]:
        """Raise the refusal of a table in place of UnknownRules."""
        try:
            yield
        except UnknownRules as fault:
            raise unknown_rules(config, fault, await self.living_games()) from None

    @contextmanager
    def _slot_for(self, table_id: str) -> Iterator[None]:
        """Reserve a slot in memory for a table that is being opened; raises LimitReached if none is free."""
        opening = self._opening.difference(self.in_memory, (table_id,))
        if len(self.in_memory) + len(opening) >= self._max_open_tables:
            raise LimitReached(
                errors_pb2.ERROR_REASON_TOO_MANY_TABLES,
                "this engine has the maximum of open tables",
                retry_after_seconds=5,
                metadata={"limit": "tables"},
            )
        self._opening.add(table_id)
        try:
            yield
        finally:
            self._opening.discard(table_id)

    async def get(self, table_id: str, visitor: Visitor | None = None, need: Need = Need.TABLE) -> Table:
        """Return an open or finished table for a visitor, or for the engine itself; raises as find() and load() do."""
        return (await self.load(await self.find(table_id, visitor, need), visitor, need)).table

    async def load(self, found: Table | StoredTable, visitor: Visitor | None = None, need: Need = Need.TABLE) -> Loaded:
        """Return a found table with its log; raises Unavailable while the engine stops or too many strangers wait."""
        if isinstance(found, Table):
            return Loaded(found)
        loaded = await self._loaded(found, _is_urgent(found.config, visitor))
        if visitor is not None:
            # The game may have ended while its log was read.
            loaded.table.check_access(visitor, need)
        return loaded

    async def replay(self, found: Table | StoredTable, visitor: Visitor, viewer: Viewer | None = None) -> Replay:
        """Return the replay of a table found for a visitor, as a file, or its events for a viewer.

        Raises IllegalNow unless its game is over for the visitor, Unavailable if too many strangers wait for logs.
        """
        table_id = found.config.table_id
        if isinstance(found, Table):
            await found.require_finished(found.viewer_of(visitor.player_id))
        elif not self._is_over_for(found, visitor):
            # The query, which calls share, may have begun before the end.
            found = await self._stored(table_id)
            if not self._is_over_for(found, visitor):
                raise not_finished()
        # The end that this engine did not know may have ended the access too.
        check_access(found.config, visitor, Need.REPLAY, found.finished_at, self._clock())
        with self._readable(table_id):
            replay = await self._replays.get(found, _is_urgent(found.config, visitor), viewer)
        if not replay.compressed:
            # Its row was deleted meanwhile.
            raise unknown_table()
        return replay

    def is_seated_in_memory(self, table_id: str, player_id: str) -> bool:
        """Return whether a table is in memory and a player has a seat there."""
        table = self._memory.get(table_id)
        return table is not None and table.viewer_of(player_id) != SPECTATOR

    async def find(self, table_id: str, visitor: Visitor | None, need: Need) -> Table | StoredTable:
        """Return an open or finished table, in memory or stored; concurrent callers share the query.

        A prepared table is found for links only. Raises NotFound for any other table, and for one that does not exist
        for the visitor; Unavailable while the engine stops; RulesUnusable if its rules are missing, or it is set aside.
        """
        self._refuse_if_draining()
        found: Table | StoredTable | None = self._memory.get(table_id)
        if found is None:
            found, _ = await self._finding.run(table_id, partial(self._stored, table_id))
        if isinstance(found, StoredTable) and found.is_prepared and need is not Need.LINK:
            raise unknown_table()
        if visitor is not None:
            # Before the log is read, since that is work, and before any other refusal, which would show that it exists.
            check_access(found.config, visitor, need, found.finished_at, self._clock())
        if isinstance(found, Table):
            self._memory.use(table_id)
        else:
            self._failing.check(table_id)
            async with self._refusing_unknown_rules(found.config):
                check_rules(found.config)
        return found

    def _is_over_for(self, found: StoredTable, visitor: Visitor) -> bool:
        access = found.config.access
        is_known = has_seat(found.config, visitor.player_id)
        now = self._clock()
        return found.status == "finished" and (is_known or access.is_over_for_spectators(found.finished_at, now))

    async def _loaded(self, stored: StoredTable, is_urgent: bool) -> Loaded:
        """Return a table from its log; concurrent callers share the load."""
        table_id = stored.config.table_id
        with self._load_queue.awaited(table_id, is_urgent):
            loaded, callers = await self._loading.run(table_id, partial(self._load, stored))
        return loaded._replace(callers=callers)

    async def _load(self, stored: StoredTable) -> Loaded:
        table_id = stored.config.table_id
        # Perhaps its load ended while its configuration was read.
        if (known := self._memory.get(table_id)) is not None:
            return Loaded(known)
        async with self._load_queue.turn(table_id):
            self._refuse_if_draining()
            with self._readable(table_id):
                watch = self._failing.watch(stored.config, partial(self._set_aside, table_id))
                folded = FoldedTable(stored.config, watch)
                async for row in log_rows(self._store, table_id):
                    folded.add(row)
        self._refuse_if_draining()
        if not folded.entries:
            # Its row was deleted meanwhile.
            raise unknown_table()
        table = self._new_table(folded, stored.network)
        self._memory.add(table)
        return Loaded(table, folded.state.sequence)

    def _set_aside(self, table_id: str, refusal: RulesUnusable) -> None:
        if (table := self._memory.remove(table_id)) is not None:
            table.subscribers.refuse(refusal)

    async def _stored(self, table_id: str) -> StoredTable:
        decode_id("table_id", table_id)
        with self._readable(table_id):
            stored = await self._store.find(table_id)
        if stored is None:
            raise unknown_table()
        return stored

    @contextmanager
    def _readable(self, table_id: str) -> Iterator[None]:
        """Raise Unavailable for a table with an unknown format: perhaps a newer engine continues it."""
        try:
            yield
        except UnreadableLog as fault:
            self._logger.error("log cannot be read", table_id=table_id, exc_info=fault)
            raise Unavailable(errors_pb2.ERROR_REASON_TABLE_TOO_NEW, str(fault), retry_after_seconds=1) from None

    async def evict(self, idle_milliseconds: int) -> None:
        """Evict tables that were not used for so long; finished ones sooner."""
        await self._memory.evict(idle_milliseconds)

    async def drain(self) -> None:
        """Open no more tables, let no time run out any more, and hand all streams over.

        Waits for the loads in progress, which fail, unless it is cancelled.
        """
        self.is_draining = True
        await asyncio.gather(*(table.drain() for table in self.in_memory.values()), self._loading.ended())

    async def close(self) -> None:
        """End the work for callers that have gone, after the last call."""
        tables = [table.close() for table in self._memory]
        await asyncio.gather(self._finding.close(), self._loading.close(), self._replays.close(), *tables)

    def _refuse_if_draining(self) -> None:
        if self.is_draining:
            raise Unavailable(
                errors_pb2.ERROR_REASON_SERVER_STOPPING, "this engine stops: try again", retry_after_seconds=0.5
            )


def _is_urgent(config: TableConfig, visitor: Visitor | None) -> bool:
    """Return whether a log is read for a player at the table, or for the engine itself."""
    return visitor is None or has_seat(config, visitor.player_id)
