"""The simulation of a seed, from the first sign-in to the end of the last table."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from croupier_loadtest.faults.rows import ledger_of
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.record import DeliveryLimit, Outage, TableRecord
from croupier_loadtest.simulation.chaos import Chaos, supervise
from croupier_loadtest.simulation.database import Schema
from croupier_loadtest.simulation.engine_replica import EngineReplica
from croupier_loadtest.simulation.environment import Environment
from croupier_loadtest.simulation.lobby_observer import MAX_DELIVERY_MILLISECONDS as MAX_LOBBY_MILLISECONDS
from croupier_loadtest.simulation.lobby_observer import Rematch
from croupier_loadtest.simulation.loop import START_MILLISECONDS, Process, VirtualLoop
from croupier_loadtest.simulation.plan import BehaviourRates, TablePlan
from croupier_loadtest.simulation.players import Player
from croupier_loadtest.simulation.replica import LobbyReplica, Replica, ScoringReplica
from croupier_loadtest.simulation.short_games import ShortGame
from croupier_loadtest.simulation.trace import Trace

PLAYING_SECONDS = 400.0
"""The time limit of all games after the last fault."""
SETTLING_SECONDS = 60.0
"""The time limit of scoring and the lobby after the last game."""
RELEASE_SECONDS = 90.0
"""The time limit until all resources are released."""
RECOVERY_SECONDS = 5.0
MAX_DELIVERY_MILLISECONDS = 4_000
"""The time limit from the storage of an entry by any engine to every stream."""
_PLAYING = "SELECT table_id, state FROM lobby_tables WHERE state != 'FINISHED'"
_WAITING = "SELECT ticket_id FROM lobby_tickets WHERE table_id IS NULL AND stream_id IS NOT NULL"
SPECTATOR = BehaviourRates(0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class Simulation(Environment):
    """An environment with its replicas and players, and the steps of the run."""

    def __init__(
        self,
        seed: int,
        loop: VirtualLoop,
        trace: Trace,
        schemas: Mapping[str, Schema],
        games: Sequence[ShortGame],
        scenario: str = "",
    ) -> None:
        super().__init__(seed, loop, trace, schemas, games, scenario)
        counts = {EngineReplica: self.plan.engines, LobbyReplica: self.plan.lobbies, ScoringReplica: self.plan.scorings}
        self.replicas: list[Replica] = [
            kind(f"{kind.kind}-{number}", self) for kind, count in counts.items() for number in range(1, count + 1)
        ]
        self.players: list[Player] = []
        self.boards: dict[str, list[bytes]] = {}
        """LeaderboardEntry messages by game."""
        self.statistics: dict[str, bytes] = {}
        """GetPlayerStatisticsResponse messages by player."""
        self.run: asyncio.Task[None] | None = None
        self._seated: list[tuple[Player, str]] = []
        self._unattended: list[tuple[Player, str]] = []
        self._spectators: list[tuple[Player, str]] = []
        self._beside: list[asyncio.Task[None]] = []
        """Players who follow and list their own tables until the end."""

    def start(self) -> None:
        """Start the run; the loop stops at its end, or at the first violation."""
        self.run = Process("harness").start(self._run())
        self.run.add_done_callback(lambda _: self.loop.stop())

    async def _run(self) -> None:
        for replica in self.replicas:
            replica.start()
        alive = asyncio.create_task(supervise(self.replicas))
        playing = [asyncio.create_task(self._table(number, plan)) for number, plan in enumerate(self.plan.tables, 1)]
        await Chaos(self, self.replicas).run(playing)
        self.trace.write("faults end")
        self.observer.lobby.end_faults()
        for player in self.players:
            player.only_plays = True
        _, late = await asyncio.wait(playing, timeout=PLAYING_SECONDS)
        if late:
            progress = f"{len(self.observer.finished)} of {len(self.observer.opened)} games are over"
            self.findings.add(Invariant.TABLE_STUCK, f"{progress} long after the last fault")
            return
        await self._end()
        alive.cancel()
        await asyncio.gather(*(replica.stop() for replica in self.replicas))

    # Playing

    def _player(self, name: str, behaviour: BehaviourRates) -> Player:
        player = Player(name, behaviour, self)
        self.players.append(player)
        return player

    async def _table(self, number: int, plan: TablePlan) -> None:
        """Run one table, from its players' first call to the end of the game."""
        players = [self._player(f"player-{number}-{seat}", behaviour) for seat, behaviour in enumerate(plan.players)]
        tables = await self._matched(players, plan) if plan.matched else await self._formed(players, plan)
        self._seated += zip(players, tables, strict=True)
        if plan.is_unattended:
            self._unattended += [(player, tables[0]) for player in players]
            while tables[0] not in self.observer.finished:  # noqa: ASYNC110 - time is virtual here
                await asyncio.sleep(0.5)
            return
        watching = [self._player(f"spectator-{number}-{place}", SPECTATOR) for place in range(plan.spectators)]
        await asyncio.gather(
            *(self._run_as(player, player.play, table_id) for player, table_id in zip(players, tables, strict=True)),
            *(self._run_as(player, player.watch, tables[0]) for player in watching),
        )
        self._spectators += [(player, tables[0]) for player in watching]
        # Several tables of matched players have players of other plans, who may not play again.
        if plan.returning and len({*tables}) == 1:
            await self._play_again(number, players, plan.returning, tables[0])

    async def _play_again(self, number: int, players: Sequence[Player], returning: int, table_id: str) -> None:
        """Let players play a finished table again, while a stranger wants the seat of each one who declines."""
        finished = await self._run_as(players[0], players[0].get_table, table_id)
        self.observer.lobby.rematches[table_id] = Rematch(finished)
        stranger = self._player(f"stranger-{number}", SPECTATOR)

        async def take_seat_and_play(player: Player, take: Callable[[str], Coroutine[Any, Any, str]]) -> None:
            if next_table_id := await self._run_as(player, take, table_id):
                self._seated.append((player, next_table_id))
                await self._run_as(player, player.get_ready, next_table_id)
                await self._run_as(player, player.play, next_table_id)

        await asyncio.gather(
            *(
                take_seat_and_play(player, partial(player.play_again, is_first=player is players[0]))
                for player in players[:returning]
            ),
            *(self._run_as(player, player.decline, table_id) for player in players[returning:]),
            take_seat_and_play(stranger, stranger.take_free_seat),
        )

    async def _matched(self, players: Sequence[Player], plan: TablePlan) -> list[str]:
        """Wait for quick match; returns the table of each player."""
        tables = await asyncio.gather(*(self._run_as(player, player.be_matched, plan) for player in players))
        for player, table_id in zip(players, tables, strict=True):
            record = self.observer.tables.get(table_id)
            config = json.loads(record.stored.config) if record is not None and record.stored is not None else {}
            player_id = self.observer.players[player.name]
            if all(player_id != seat[0] for seat in config.get("seats", ())):
                self.findings.add(Invariant.SEATED_WRONGLY, f"{player.name} was matched without a seat", table_id)
        return tables

    async def _formed(self, players: Sequence[Player], plan: TablePlan) -> list[str]:
        """Create and open a table; returns its id for each player."""
        host, *others = players
        if plan.is_varied:
            self._beside += [one.process.start(work()) for one in players for work in (one.follow_own, one.list_own)]
        table = await self._run_as(host, host.host, plan)
        if plan.is_varied:
            seats = enumerate(others, start=1 + len(plan.bots))
            arriving = [self._run_as(player, player.arrive, table, seat) for seat, player in seats]
            await asyncio.gather(*arriving, self._run_as(host, host.change, table))
        else:
            await asyncio.gather(*(self._run_as(player, player.join, table.table_id) for player in others))
        await asyncio.gather(*(self._run_as(player, player.get_ready, table.table_id) for player in players))
        return [table.table_id] * len(players)

    async def _run_as(self, player: Player, work: Callable[..., Coroutine[Any, Any, Any]], *about: Any) -> Any:
        """Run a player's coroutine in the player's process, with retries."""
        return await player.process.start(player.retry(work, *about))

    # The end

    async def _end(self) -> None:
        # They have no seat anywhere, so that they see statistics as others do.
        reader = self._player("reader", SPECTATOR)
        seated = {table_id: player for player, table_id in self._seated}
        await self._within(SETTLING_SECONDS, Invariant.RESULT_MISSING, missing_results)
        await self._within(SETTLING_SECONDS, Invariant.TABLE_STUCK, unfinished)
        await self._end_streams()
        for player, table_id in self._unattended:
            await self._run_as(player, player.watch, table_id)
        for player, table_id in (*self._seated, *self._spectators):
            await self._run_as(player, player.read_again, table_id)
        for record in self.observer.opened:
            await self._run_as(seated[record.table_id], seated[record.table_id].fetch, record)
            record.ledger = await self.access["scoring"].read(ledger_of, record.table_id)
            self.boards[record.game] = await self._run_as(reader, reader.board, record.game)
        for player_id in list(self.observer.players.values()):
            self.statistics[player_id] = await self._run_as(reader, reader.statistics, player_id)
        for table_id, rematch in self.observer.lobby.rematches.items():
            finished = await self._run_as(reader, reader.get_table, table_id)
            self.observer.lobby.check_rematch(rematch, finished.next_table_id)
        await self._within(RELEASE_SECONDS, Invariant.RESOURCE_LEAKED, leaked_resources)
        requested = Counter(self.observer.players[player.name] for player, _ in self._seated)
        for detail in wrongly_seated(self.observer.opened, requested):
            self.findings.add(Invariant.SEATED_WRONGLY, detail)

    async def _end_streams(self) -> None:
        """End the streams of own tables, once all changes must have arrived there."""
        if self._beside:
            await asyncio.sleep(2 * MAX_LOBBY_MILLISECONDS / 1000)
        for task in self._beside:
            task.cancel()
        await asyncio.gather(*self._beside, return_exceptions=True)

    async def _within(
        self, seconds: float, invariant: Invariant, missing: Callable[["Simulation"], Iterator[str]]
    ) -> None:
        until = self.loop.time() + seconds
        while (found := list(missing(self))) and self.loop.time() < until:
            self.trace.write("waiting", invariant, "; ".join(found)[:500])
            await asyncio.sleep(1.0)
        if found:
            self.findings.add(invariant, "; ".join(found))

    def records(self) -> list[TableRecord]:
        """Return the records of all opened tables, with their rows; to be called after the run."""
        self.observer.close()
        rows = self.databases["engine"].raw.execute("SELECT began, ended FROM outages ORDER BY began")
        outages = tuple(Outage(*row) for row in rows)
        are_stopped = any(kind.startswith(("stop database", "cut engine")) for kind in self.plan.scheduled_faults)
        are_unfair = self.plan.rates.slow_database or self.plan.rates.failed_transaction or are_stopped
        # From then on databases are available and fast.
        since = START_MILLISECONDS + round(1000 * (self.plan.faulty_seconds + RECOVERY_SECONDS if are_unfair else 0))
        limit = DeliveryLimit(MAX_DELIVERY_MILLISECONDS, since, applies_to_impaired=True)
        for record in self.observer.opened:
            record.outages, record.delivery, record.late_milliseconds = outages, limit, None
        return self.observer.opened


def missing_results(simulation: Simulation) -> Iterator[str]:
    """Yield tables with a result or a report that scoring does not have yet."""
    known = {table_id for (table_id,) in simulation.databases["scoring"].raw.execute("SELECT table_id FROM results")}
    yield from (
        f"{record.table_id} has no result" for record in simulation.observer.opened if record.table_id not in known
    )
    late = simulation.databases["engine"].raw.execute("SELECT table_id FROM tables WHERE reports_done < reports_due")
    yield from (f"{table_id} has reports that are due" for (table_id,) in late)


def unfinished(simulation: Simulation) -> Iterator[str]:
    """Yield tables that are not finished in the lobby."""
    opened = {record.table_id for record in simulation.observer.opened}
    for table_id, state in simulation.databases["lobby"].raw.execute(_PLAYING):
        if table_id in opened or state != "CLOSED":
            yield f"{table_id} is {state} in the lobby"


def leaked_resources(simulation: Simulation) -> Iterator[str]:
    """Yield tables in memory, calls, tasks and tickets that remain when all games are over.

    Each lobby keeps one stream of ended tables.
    """
    following: set[str] = set()
    for call in simulation.network.open_calls:
        if call.method.endswith("/WatchEndedTables") and call.client.name not in following:
            following.add(call.client.name)
            continue
        yield f"call {call.number} {call.method} of {call.client.name}"
    for replica in simulation.replicas:
        if replica.process.alive:
            yield from (f"{count} {kind} of {replica.name}" for kind, count in replica.pending().items() if count)
    yield from (f"ticket {ticket_id}" for (ticket_id,) in simulation.databases["lobby"].raw.execute(_WAITING))


def wrongly_seated(records: Sequence[TableRecord], requested: Mapping[str, int]) -> Iterator[str]:
    """Yield players with more or fewer seats than requested; `requested` are the numbers by player id."""
    seated: Counter[str] = Counter()
    for record in records:
        assert record.stored is not None
        seated.update(player_id for player_id, _, _ in json.loads(record.stored.config)["seats"] if player_id)
    for player_id in sorted(seated.keys() | requested.keys()):
        if seated[player_id] != requested.get(player_id, 0):
            yield f"player {player_id} has {seated[player_id]} seats and requested {requested.get(player_id, 0)}"
