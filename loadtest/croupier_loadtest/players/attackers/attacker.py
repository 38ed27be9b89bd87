"""An attacker: the clients of one attack, the pace of their calls, and the counts of the answers."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from random import Random
from typing import TypeVar

from google.protobuf.message import Message

from croupier_client import Endpoints
from croupier_loadtest.judge.violations import Invariant, Violation
from croupier_loadtest.measures import Measures
from croupier_loadtest.players.attackers.client import Answer, AttackClient, Metadata
from croupier_loadtest.players.attackers.games import AttackedGames

T = TypeVar("T")
PAGE_SIZE = 100
ATTACK_PREFIX = "attack "
ONE_NETWORK, MANY_NETWORKS = "from one network", "from many networks"


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack: its coroutine, the refusals that limit it, and the pace of its calls.

    `refusals` are names of limits or reasons. In a run that passes, an attacker with one network got each of them.
    """

    run: "Callable[[Attacker], Awaitable[None]]"
    refusals: frozenset[str]
    calls_per_second: float = 5.0


@dataclass(slots=True)
class PublicTables:
    """The ids of the public tables, which all attackers share."""

    finished: Sequence[str] = ()
    playing: Sequence[str] = ()


@dataclass(slots=True)
class Attacker:
    """Makes one attack, from one network or from many; the number selects networks that no other attacker uses."""

    _name: str
    _attack: Attack
    _endpoints: Endpoints
    measures: Measures
    random: Random
    _number: int
    has_one_network: bool
    tables: PublicTables
    games: AttackedGames
    _clients: list[AttackClient] = field(default_factory=list)

    async def run(self) -> None:
        """Attack until cancelled, then close all connections."""
        try:
            await self._attack.run(self)
        finally:
            await asyncio.gather(*(client.close() for client in self._clients))

    def new_client(self) -> AttackClient:
        """Return a client with a new address, which has not signed in."""
        count = len(self._clients)
        # Of 198.18.0.0/15, for benchmarks, and 100.64.0.0/10, for shared addresses.
        address = (
            f"198.18.{self._number}.{count % 250 + 1}"
            if self.has_one_network
            else f"100.{64 + self._number % 64}.{count % 250}.{count // 250 % 250 + 1}"
        )
        name = f"{self._name} {self.random.getrandbits(64):x}"
        client = AttackClient(self._endpoints, address, name, self.measures)
        self._clients.append(client)
        return client

    async def sign_in(self, count: int) -> Sequence[AttackClient]:
        """Return new clients that have signed in: fewer than `count` if sign-ins are refused."""
        signed_in = []
        for _ in range(count):
            client = self.new_client()
            await self.pause()
            if (await client.sign_in()).message is not None:
                signed_in.append(client)
        return signed_in

    async def turns(self, clients: Sequence[T]) -> AsyncIterator[T]:
        """Yield these clients in turn, at the pace of the attack, forever."""
        for client in cycle(clients):
            await self.pause()
            yield client

    async def pause(self) -> None:
        """Wait until the next call is due."""
        await asyncio.sleep(self.random.uniform(0.5, 1.5) / self._attack.calls_per_second)

    async def call(self, client: AttackClient, request: Message, metadata: Metadata = ()) -> Answer:
        """Send a request, and count the answer."""
        return self.counted(await client.call(request, metadata))

    async def open(self, client: AttackClient, request: Message) -> Answer:
        """Open a stream, and count the answer."""
        return self.counted(await client.open(request))

    def counted(self, answer: Answer) -> Answer:
        """Count an answer and return it; an internal error is a violation."""
        self.measures.count(f"{ATTACK_PREFIX}{self._name}: {answer.outcome}")
        if answer.outcome in ("INTERNAL", "INTERNAL_FAULT", "UNKNOWN"):
            self.record_violation(Invariant.INTERNAL_ERROR, "", f"answered {answer.outcome}")
        return answer

    def record_violation(self, invariant: Invariant, table_id: str, detail: str) -> None:
        """Record a violation."""
        self.measures.record_violations([Violation(invariant, table_id, 0, f"{self._name}: {detail}")])


async def attack_until(attackers: Sequence[Attacker], stopping: Awaitable[object]) -> None:
    """Run attackers until `stopping` is done; raises the first error of an attacker."""
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
