"""Parties of players who play table after table, at all of them at once, whatever happens to the services."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from croupier_api.v1 import lobby_pb2
from croupier_client import CroupierError
from loadtest.faults.findings import Finding, Kind
from loadtest.faults.player import Player
from loadtest.faults.records import Stream, TableRecord
from loadtest.faults.sittings import Sitting, sitting
from loadtest.faults.witness import Connections, Errors, WitnessClient

SEATS_OF_A_PARTY = 6
POLL_SECONDS = 0.2
OPENING_SECONDS = 120.0
_FORMING = lobby_pb2.TABLE_STATE_FORMING


@dataclass(slots=True)
class Manners:
    """How everybody plays just now."""

    think_seconds: float
    """How long a player thinks on average."""
    twins: Sequence[Connections] = ()
    """Where every action is sent at once, to each of them, under one name; by the usual stream if there is none."""
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once no new tables are begun, and nobody goes away any more."""


@dataclass(slots=True)
class Swarm:
    """All parties: the tables that are played at, and those that are over and have not been audited."""

    seed: int
    groups: Sequence[Connections]
    manners: Manners
    errors: Errors = field(default_factory=Errors)
    playing: dict[str, TableRecord] = field(default_factory=dict)
    finished: list[TableRecord] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    tables: int = 0
    clients: list[WitnessClient] = field(default_factory=list)
    _parties: list[asyncio.Task[None]] = field(default_factory=list)

    @property
    def acknowledged(self) -> int:
        """How many actions were acknowledged at tables that have not been taken for the audit."""
        return sum(len(record.acknowledged) for record in self.records())

    def records(self) -> Iterator[TableRecord]:
        """Every table that has not been taken for the audit."""
        yield from self.playing.values()
        yield from self.finished

    def take_finished(self) -> list[TableRecord]:
        """The tables that are over, once each."""
        taken, self.finished = self.finished, []
        return taken

    def start(self, parties: int) -> None:
        """Let so many parties begin."""
        self._parties = [asyncio.create_task(_Party(self, number).play_on()) for number in range(parties)]

    async def end(self, seconds: float) -> None:
        """Begin no more tables, and let those that are on be played to their ends for so long."""
        self.manners.ending.set()
        await asyncio.wait(self._parties, timeout=seconds)

    async def stop(self) -> None:
        """Stop whoever plays; raises what went wrong in a party itself."""
        for party in self._parties:
            party.cancel()
        outcomes = await asyncio.gather(*self._parties, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome

    def hamper(self, is_hampered: Callable[[WitnessClient], bool]) -> None:
        """The run stands in the way of these clients: from now on the time of their seats may run out."""
        hampered = {id(client) for client in self.clients if is_hampered(client)}
        for record in self.playing.values():
            for stream in record.streams:
                stream.hampered |= stream.client in hampered


class _Party:
    """People who always play together."""

    def __init__(self, swarm: Swarm, number: int) -> None:
        self._swarm = swarm
        self._number = number
        self._played = 0
        secret = f"fault tests {swarm.seed} {number:04}"
        connections = swarm.groups[number % len(swarm.groups)]
        self._clients = [
            WitnessClient(connections, f"{secret} {seat}", f"P{number}-{seat}", swarm.errors)
            for seat in range(SEATS_OF_A_PARTY + 1)
        ]
        swarm.clients += self._clients

    async def play_on(self) -> None:
        """Play table after table."""
        while not self._swarm.manners.ending.is_set():
            random = Random(f"{self._swarm.seed} {self._number} {self._played}")
            wanted = sitting(self._number + self._played * 7, random)
            self._played += 1
            try:
                async with asyncio.timeout(OPENING_SECONDS):
                    table = await self._form(wanted)
            except TimeoutError:
                continue
            except CroupierError as error:
                # Half a table is nobody's loss: the next one is formed anew.
                self._swarm.errors.note_raised(error)
                await asyncio.sleep(POLL_SECONDS)
                continue
            await self._play(table, wanted, random)

    async def _form(self, wanted: Sitting) -> lobby_pb2.Table:
        host, *others = self._clients[: wanted.people]
        seats = wanted.people + len(wanted.bots)
        created = await host.create_table(game=wanted.game, seats=seats, options=wanted.options, clock=wanted.clock)
        table_id = created.table.table_id
        for client in others:
            await client.join_table(table_id=table_id)
        for bot in wanted.bots:
            await host.add_bot(table_id=table_id, bot=bot)
        for client in (host, *others):
            await client.set_ready(table_id=table_id, client_seed=self._number.to_bytes(2, "big"))
        # The answer comes from a service, which has to be asked.
        while (table := (await host.get_table(table_id=table_id)).table).state == _FORMING:  # noqa: ASYNC110
            await asyncio.sleep(POLL_SECONDS)
        return table

    async def _play(self, table: lobby_pb2.Table, wanted: Sitting, random: Random) -> None:
        swarm, players = self._swarm, tuple(seat.occupant.player_id for seat in table.seats)
        record = TableRecord(table.table_id, wanted.game, len(players), players, has_leavers=wanted.has_leavers)
        swarm.playing[record.table_id] = record
        swarm.tables += 1
        clients = self._clients[: wanted.people]
        if wanted.has_spectator:
            clients.append(self._clients[-1])
        leaver = random.randrange(wanted.people) if wanted.has_leavers else None
        seated = [
            Player(swarm.manners, record, client, self._stream(record, client, n == leaver), Random(random.random()))
            for n, client in enumerate(clients)
        ]
        faults = await asyncio.gather(*(player.play_to_the_end() for player in seated))
        swarm.findings += [Finding(Kind.CLIENT_ERROR, record.table_id, record.head, fault) for fault in faults if fault]
        record.finished = not any(faults)
        del swarm.playing[record.table_id]
        swarm.finished.append(record)

    @staticmethod
    def _stream(record: TableRecord, client: WitnessClient, leaves: bool) -> Stream:
        stream = Stream(client=id(client), leaves=leaves, hampered=leaves)
        record.streams.append(stream)
        return stream


async def until_playing(swarm: Swarm, tables: int, seconds: float) -> None:
    """Wait until so many tables are played at; not for longer."""
    deadline = time.monotonic() + seconds
    while len(swarm.playing) < tables and time.monotonic() < deadline:  # noqa: ASYNC110
        await asyncio.sleep(POLL_SECONDS)
