"""Players of the simulated world: the reference client over the simulated network, and people who use it."""

import asyncio
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from croupier.games.catalogue import GAMES
from croupier_api.v1 import cards_pb2, engine_pb2, lobby_pb2, table_pb2
from croupier_client import (
    AsyncTable,
    AsyncWatchedTable,
    BrokenStream,
    Client,
    CroupierError,
    Endpoints,
    FailedPrecondition,
    IllegalAction,
    StaleSequence,
    random_legal,
)
from loadtest.simulation.loop import Process
from loadtest.simulation.network import Network
from loadtest.simulation.plan import Manner, Seating
from loadtest.simulation.referee import Referee
from loadtest.simulation.replica import ENGINE, LOBBY, SCORING
from loadtest.simulation.verdict import Verdict

ACTION_SECONDS = 5
AGAIN_SECONDS = 0.5
ABSENT_SECONDS = (5.5, 10.0)


class SimulatedClient(Client):
    """The reference client; its channels are simulated, and so is its chance."""

    def __init__(self, name: str, network: Network, process: Process, chance: Random, clock: Callable[[], int]) -> None:
        super().__init__(Endpoints(LOBBY, ENGINE, SCORING), f"the secret of {name}", name, clock=clock, random=chance)
        self._network = network
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


class Person:
    """Somebody with a device; `is_calm` says that he has to play on now without any of his ways."""

    def __init__(
        self, name: str, manner: Manner, network: Network, chance: Random, referee: Referee, verdict: Verdict
    ) -> None:
        self.name = name
        self.process = Process(name)
        self.is_calm = False
        self.table_ids: list[str] = []
        self.final: AsyncWatchedTable | None = None
        self._manner = manner
        self._network = network
        self._chance = chance
        self._verdict = verdict
        self._client = SimulatedClient(name, network, self.process, chance, referee.now)

    def _feels_like(self, share: float) -> bool:
        return self._chance.random() < share and not self.is_calm

    async def until_done(self, attempt: Callable[[], Any]) -> Any:
        """Try again and again whatever the services cannot do now, as people do."""
        while True:
            try:
                return await attempt()
            except BrokenStream as fault:
                self._verdict.fail("a stream has no gap and no repeat", f"{self.name}: {fault}")
                return None
            except CroupierError as error:
                self._verdict.expect(
                    not isinstance(error, FailedPrecondition) or error.reason in _HARMLESS,
                    "players are not refused for nothing",
                    self.name,
                    repr(error),
                    error.reason,
                )
                await asyncio.sleep(AGAIN_SECONDS)

    # Finding a table

    async def be_matched(self, seating: Seating) -> str:
        """Find others by quick match; gives the table."""
        wish = partial(
            self._client.quick_match_until_seated,
            game=seating.game,
            seats=seating.seats,
            client_seed=self._chance.randbytes(8),
            request_id=self._client.new_request_id(),
        )
        table = await self.until_done(wish)
        return str(table.table_id)

    async def host(self, seating: Seating) -> str:
        """Form a table and seat the computer players there; gives the table."""
        clock = table_pb2.Clock(
            action_seconds=ACTION_SECONDS,
            reserve_seconds=seating.reserve_seconds,
            bot_delay_milliseconds=seating.bot_delay_milliseconds,
        )
        answer = await self.until_done(
            lambda: self._client.create_table(
                game=seating.game, seats=seating.seats, options=seating.options, clock=clock
            )
        )
        table_id = str(answer.table.table_id)
        for seat, bot in enumerate(seating.bots, start=1):
            await self.until_done(partial(self._client.add_bot, table_id=table_id, bot=bot, seat=seat))
        return table_id

    async def join(self, table_id: str) -> None:
        """Take a seat."""
        await self.until_done(lambda: self._client.join_table(table_id=table_id))

    async def get_ready(self, table_id: str) -> None:
        """Say that one is ready, and wait until the table plays."""
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
        """Play until the game is over, whatever happens to the connection."""
        self.table_ids.append(table_id)
        await self.until_done(lambda: self._play(table_id))

    async def _play(self, table_id: str) -> None:
        finished = False
        while not finished:
            async with self._client.play(table_id) as table:
                finished = await self._sit(table)
                if finished:
                    self.final = table

    async def _sit(self, table: AsyncTable) -> bool:
        """Play; False if he has left the table for a moment."""
        talking = asyncio.create_task(self._talk(table))
        try:
            while await table.your_turn():
                if self._feels_like(self._manner.leaves):
                    return False
                await self._take_turn(table)
            return True
        finally:
            talking.cancel()

    async def _take_turn(self, table: AsyncTable) -> None:
        away = self._feels_like(self._manner.strays)
        await asyncio.sleep(
            self._chance.uniform(*ABSENT_SECONDS) if away else self._chance.expovariate(1 / self._manner.thinks)
        )
        if not table.to_act:
            return
        seen = table.sequence
        try:
            if self._feels_like(self._manner.tries):
                card = self._chance.choice(cards_pb2.Card.values()[1:])
                await table.act(table_pb2.Action(play=table_pb2.PlayAction(card=card)))
            elif self._chance.random() < self._manner.calls:
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
                elif self._feels_like(self._manner.talks):
                    await self._say_something(table)
            except BrokenStream as fault:
                self._verdict.fail("a stream has no gap and no repeat", f"{self.name}: {fault}")
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
        await self.until_done(lambda: self._watch(table_id))

    async def _watch(self, table_id: str) -> None:
        async with self._client.watch(table_id) as table:
            async for event in table:
                if self._feels_like(self._manner.strays) and isinstance(event, engine_pb2.TableUpdate):
                    await asyncio.sleep(self._chance.uniform(0.1, 2.0))
            self.final = table

    async def replay(self, table_id: str) -> str:
        """The replay of a finished table."""
        answer = await self.until_done(lambda: self._client.get_replay(table_id=table_id))
        return str(answer.replay)


_HARMLESS = frozenset({"MATCH_FAILED", "TABLE_FINISHED"})
"""What may be said to somebody who did nothing wrong."""
