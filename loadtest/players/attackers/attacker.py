"""An attacker: the strangers of one attack, the pace of their calls, and the counts of the answers."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from random import Random
from typing import TypeVar

from google.protobuf.message import Message

from croupier_api.v1 import lobby_pb2, scoring_pb2, tables_pb2
from croupier_client import Endpoints
from loadtest.judge.violations import Invariant, Violation
from loadtest.measures import Measures
from loadtest.players.attackers.stranger import Answer, Metadata, Stranger

T = TypeVar("T")
PAGE_SIZE = 100
ATTACK_PREFIX = "attack "
ONE_NETWORK, MANY_NETWORKS = "from one network", "from many networks"
TARGET_CALLS = 50
"""The number of calls after which an attacker looks for new tables."""


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack: the coroutine of an attacker, the pace of all its calls, and the refusals by which it is limited.

    In a run that passes, each of `refusals`, the names of limits or reasons, was an answer to the attacker with one
    network.
    """

    run: "Callable[[Attacker], Awaitable[None]]"
    refusals: frozenset[str]
    calls_per_second: float = 5.0


class Attacker:
    """An attack from one network or from many; `numbers` distinguish the networks of attackers."""

    def __init__(
        self,
        name: str,
        attack: Attack,
        endpoints: Endpoints,
        measures: Measures,
        random: Random,
        *,
        number: int,
        has_one_network: bool,
    ) -> None:
        self.random = random
        self.finished: Sequence[str] = ()
        """The ids of public tables whose game is over."""
        self.playing: Sequence[str] = ()
        """The ids of public tables whose game is being played."""
        self._name = f"{name} {ONE_NETWORK if has_one_network else MANY_NETWORKS}"
        self._attack = attack
        self._endpoints = endpoints
        self.measures = measures
        self._number = number
        self.has_one_network = has_one_network
        self._strangers: list[Stranger] = []
        self._calls = 0

    async def run(self) -> None:
        """Attack until cancelled, then close all connections."""
        try:
            await self._attack.run(self)
        finally:
            await asyncio.gather(*(stranger.close() for stranger in self._strangers))

    def new_stranger(self) -> Stranger:
        """Return a stranger who has not signed in, at an address of their own."""
        count = len(self._strangers)
        # Of 198.18.0.0/15, for benchmarks, and 100.64.0.0/10, for shared addresses.
        address = (
            f"198.18.{self._number}.{count % 250 + 1}"
            if self.has_one_network
            else f"100.{64 + self._number % 64}.{count % 250}.{count // 250 % 250 + 1}"
        )
        name = f"{self._name} {self.random.getrandbits(64):x}"
        stranger = Stranger(self._endpoints, address, name, self.measures)
        self._strangers.append(stranger)
        return stranger

    async def strangers(self, count: int) -> Sequence[Stranger]:
        """Return strangers who have signed in; less than asked for if sign-ins are refused."""
        signed_in = []
        for _ in range(count):
            stranger = self.new_stranger()
            await self.pause()
            if (await stranger.sign_in()).message is not None:
                signed_in.append(stranger)
        return signed_in

    async def turns(self, strangers: Sequence[T]) -> AsyncIterator[T]:
        """Yield these strangers in turn, at the pace of the attack, forever."""
        for stranger in cycle(strangers):
            await self.pause()
            yield stranger

    async def pause(self) -> None:
        """Wait until the next call is due."""
        await asyncio.sleep(self.random.uniform(0.5, 1.5) / self._attack.calls_per_second)

    async def call(self, stranger: Stranger, request: Message, metadata: Metadata = ()) -> Answer:
        """Send a request, and count the answer."""
        return self.counted(await stranger.call(request, metadata))

    async def open(self, stranger: Stranger, request: Message) -> Answer:
        """Open a stream, and count the answer."""
        return self.counted(await stranger.open(request))

    def counted(self, answer: Answer) -> Answer:
        """Count an answer and return it; an internal error is a violation."""
        self.measures.count(f"{ATTACK_PREFIX}{self._name}: {answer.outcome}")
        if answer.outcome in ("INTERNAL", "INTERNAL_FAULT", "UNKNOWN"):
            self.record_violation(Invariant.INTERNAL_ERROR, "", f"answered {answer.outcome}")
        return answer

    def record_violation(self, invariant: Invariant, table_id: str, detail: str) -> None:
        """Record a violation."""
        self.measures.record_violations([Violation(invariant, table_id, 0, f"{self._name}: {detail}")])

    async def find_tables(self, stranger: Stranger) -> None:
        """Look for public tables, once in TARGET_CALLS calls."""
        self._calls += 1
        if self._calls % TARGET_CALLS != 1:
            return
        results = await stranger.call(scoring_pb2.ListResultsRequest(page_size=PAGE_SIZE))
        if results.message is not None:
            self.finished = [result.table_id for result in results.message.results]
        tables = await stranger.call(
            lobby_pb2.ListTablesRequest(state=tables_pb2.TABLE_STATE_PLAYING, page_size=PAGE_SIZE)
        )
        if tables.message is not None:
            self.playing = [table.table_id for table in tables.message.tables]


async def attack_until(attackers: Sequence[Attacker], stopping: Awaitable[object]) -> None:
    """Run attackers until something is over; raises the first error of an attacker."""
    tasks = [asyncio.create_task(attacker.run()) for attacker in attackers]
    try:
        await stopping
    finally:
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
    for end in ends:
        if isinstance(end, Exception):
            raise end
