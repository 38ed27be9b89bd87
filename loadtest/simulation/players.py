"""Players of the simulated world: the reference client over the simulated network, and what they do with it."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from random import Random
from typing import Any

from croupier.games.catalogue import GAMES
from croupier_api.v1 import cards_pb2, engine_pb2, lobby_pb2, table_pb2
from croupier_client import (
    AsyncTable,
    BrokenStream,
    Client,
    CroupierError,
    Endpoints,
    FailedPrecondition,
    IllegalAction,
    StaleSequence,
    random_legal,
)
from croupier_client.callers import Call, Service
from loadtest.judge.violations import Invariant
from loadtest.record import TableRecord
from loadtest.simulation.loop import Process
from loadtest.simulation.plan import Behaviour, TablePlan
from loadtest.simulation.replica import ENGINE, LOBBY, SCORING
from loadtest.simulation.surroundings import Surroundings

ACTION_SECONDS = 5
AGAIN_SECONDS = 0.5
ABSENT_SECONDS = (5.5, 10.0)
_ALLOWED = frozenset({"MATCH_FAILED", "TABLE_FINISHED"})
"""Reasons for which a player may be refused who did nothing wrong."""


class SimulatedClient(Client):
    """The reference client; its channels are simulated, and so is its chance."""

    def __init__(self, process: Process, chance: Random, world: Surroundings) -> None:
        name, clock = process.name, world.loop.now_milliseconds
        super().__init__(Endpoints(LOBBY, ENGINE, SCORING), f"the secret of {name}", name, clock=clock, random=chance)
        self._network = world.network
        self._process = process
        self._chance = chance

    def _connect(self, address: str) -> Any:
        return self._network.channel(self._process, address)

    def play(self, table_id: str) -> AsyncTable:
        """Play at a table; the names of requests come from the seed."""
        table = super().play(table_id)
        table._new_id = self.new_request_id
        return table

    def new_request_id(self) -> str:
        """A name for a request."""
        return f"{self._chance.getrandbits(64):016x}"


class Player:
    """A player; with `only_plays` they play on, and do nothing else."""

    def __init__(self, name: str, behaviour: Behaviour, world: Surroundings) -> None:
        self.name = name
        self.process = Process(name)
        self.only_plays = False
        self._behaviour = behaviour
        self._chance = world.chance(name)
        self._findings = world.findings
        self._client = SimulatedClient(self.process, self._chance, world)

    def _does(self, share: float) -> bool:
        return self._chance.random() < share and not self.only_plays

    async def until_done(self, attempt: Callable[[], Any]) -> Any:
        """Try again and again what the services cannot do now."""
        while True:
            try:
                return await attempt()
            except BrokenStream as fault:
                self._findings.add(Invariant.SEQUENCE_GAP, f"{self.name}: {fault}")
                return None
            except CroupierError as error:
                if isinstance(error, FailedPrecondition) and error.reason not in _ALLOWED:
                    self._findings.add(
                        Invariant.WRONG_REFUSAL, f"{self.name} did nothing wrong: {error.reason}: {error}"
                    )
                await asyncio.sleep(AGAIN_SECONDS)

    # Finding a table

    async def be_matched(self, plan: TablePlan) -> str:
        """Find others by quick match; returns the table's id."""
        wish = partial(
            self._client.quick_match_until_seated,
            game=plan.game,
            seats=plan.seats,
            client_seed=self._chance.randbytes(8),
            request_id=self._client.new_request_id(),
        )
        table = await self.until_done(wish)
        return str(table.table_id)

    async def host(self, plan: TablePlan) -> str:
        """Form a table and seat the computer players there; returns the table's id."""
        clock = table_pb2.Clock(
            action_seconds=ACTION_SECONDS,
            reserve_seconds=plan.reserve_seconds,
            bot_delay_milliseconds=plan.bot_delay_milliseconds,
        )
        answer = await self.until_done(
            lambda: self._client.create_table(game=plan.game, seats=plan.seats, options=plan.options, clock=clock)
        )
        table_id = str(answer.table.table_id)
        for seat, bot in enumerate(plan.bots, start=1):
            await self.until_done(partial(self._client.add_bot, table_id=table_id, bot=bot, seat=seat))
        return table_id

    async def join(self, table_id: str) -> None:
        """Take a seat."""
        await self._client.join_table(table_id=table_id)

    async def get_ready(self, table_id: str) -> None:
        """Get ready, and wait until the table plays."""
        seed = self._chance.randbytes(4)
        await self.until_done(lambda: self._ready(table_id, seed))
        await self.until_done(lambda: self._until_open(table_id))

    async def _ready(self, table_id: str, seed: bytes) -> None:
        table = (await self._client.get_table(table_id=table_id)).table
        if table.state == lobby_pb2.TABLE_STATE_FORMING:
            await self._client.set_ready(table_id=table_id, client_seed=seed)

    async def _until_open(self, table_id: str) -> None:
        async for news in self._client.watch_tables(table_id=table_id):
            if news.table.state != lobby_pb2.TABLE_STATE_FORMING:
                return

    # Playing

    async def play(self, table_id: str) -> None:
        """Play until the game is over."""
        finished = False
        while not finished:
            async with self._client.play(table_id) as table:
                finished = await self._sit(table)

    async def _sit(self, table: AsyncTable) -> bool:
        """Play; False if they have left the table for a moment."""
        talking = asyncio.create_task(self._talk(table))
        try:
            while await table.your_turn():
                if self._does(self._behaviour.leaves):
                    return False
                await self._take_turn(table)
            return True
        finally:
            talking.cancel()

    async def _take_turn(self, table: AsyncTable) -> None:
        away = self._does(self._behaviour.is_away)
        await asyncio.sleep(
            self._chance.uniform(*ABSENT_SECONDS) if away else self._chance.expovariate(1 / self._behaviour.thinks)
        )
        if not table.to_act:
            return
        seen = table.sequence
        try:
            if self._does(self._behaviour.tries):
                card = self._chance.choice(cards_pb2.Card.values()[1:])
                await table.act(table_pb2.Action(play=table_pb2.PlayAction(card=card)))
            elif self._chance.random() < self._behaviour.calls:
                await self._act_by_call(table)
            else:
                named = seen if self._chance.random() < 0.5 else None
                await table.act(random_legal(table, self._chance), expected_sequence=named)
        except StaleSequence:
            await table.changed(after=seen, timeout_seconds=60)
        except IllegalAction:
            await asyncio.sleep(0.01)
        except FailedPrecondition:
            if not table.finished:
                raise

    async def _act_by_call(self, table: AsyncTable) -> None:
        sequence = table.sequence
        action = random_legal(table, self._chance)
        answer = await self._client.submit_action(
            table_id=table.table_id, request_id=self._client.new_request_id(), action=action
        )
        await table.changed(after=max(sequence, answer.sequence - 1), timeout_seconds=60)

    async def _talk(self, table: AsyncTable) -> None:
        """Propose, vote and react now and then."""
        voted = 0
        while not table.finished:
            await asyncio.sleep(self._chance.uniform(0.2, 1.0))
            try:
                if table.proposal is not None and table.proposal.sequence != voted:
                    voted = table.proposal.sequence
                    await table.vote(agree=self._chance.random() < 0.8)
                elif self._does(self._behaviour.talks):
                    await self._say_something(table)
            except BrokenStream as fault:
                self._findings.add(Invariant.SEQUENCE_GAP, f"{self.name}: {fault}")
            except CroupierError:
                continue

    async def _say_something(self, table: AsyncTable) -> None:
        proposals = list(GAMES[table.info.game].proposals)
        if proposals and self._chance.random() < 0.5:
            await table.propose(self._chance.choice(proposals))
        elif self._chance.random() < 0.5:
            await self._client.react(table_id=table.table_id, reaction="wow")
        else:
            await self._client.get_view(table_id=table.table_id)

    async def watch(self, table_id: str) -> None:
        """Watch until the game is over."""
        async with self._client.watch(table_id) as table:
            async for event in table:
                if self._does(self._behaviour.is_away) and isinstance(event, engine_pb2.TableUpdate):
                    await asyncio.sleep(self._chance.uniform(0.1, 2.0))

    async def read_again(self, table_id: str) -> None:
        """Read the whole log of a finished table, on a stream that resumes before the first entry."""
        request = engine_pb2.WatchTableRequest(table_id=table_id, after_sequence=0)
        call = Call(Service.ENGINE, request, engine_pb2.WatchTableResponse)
        async with aclosing(await self._client.open(call)) as messages:
            async for _ in messages:
                pass

    async def fetch(self, record: TableRecord) -> None:
        """Add the replay and the score sheet of a finished table to its record."""
        table_id = record.table_id
        answer = await self._client.get_replay(table_id=table_id)
        record.sheet = (await self._client.get_score_sheet(table_id=table_id)).SerializeToString()
        record.replays.append(answer.replay)

    async def board(self, game: str) -> list[bytes]:
        """The leaderboard of a game: LeaderboardLine messages."""
        board = await self._client.get_leaderboard(game=game)
        return [line.SerializeToString() for line in board.lines]

    async def statistics(self, player_id: str) -> bytes:
        """The statistics of a player: a GetPlayerStatisticsResponse."""
        answer = await self._client.get_player_statistics(player_id=player_id)
        return bytes(answer.SerializeToString())
