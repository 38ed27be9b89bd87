"""The players of the simulation at the lobby: how they find, form and follow tables, and play again."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from google.protobuf.duration_pb2 import Duration

import croupier_client as client
from croupier_api.v1 import lobby_pb2, tables_pb2
from croupier_api.v1.errors_pb2 import ErrorReason
from croupier_client.rpc import Rpc, Service
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.simulation.client import SimulatedClient
from croupier_loadtest.simulation.environment import Environment
from croupier_loadtest.simulation.loop import Process
from croupier_loadtest.simulation.plan import BehaviourRates, TablePlan

RETRY_SECONDS = 0.5
CHANGING_SECONDS = (0.0, 2.0)
LISTING_SECONDS = (0.5, 4.0)
WAITING_SHARE = 0.5
"""The share of players who play again once the stream of the finished table has shown that another one follows."""
GIVING_UP_SHARE = 0.5
"""The share of players who give up their seat at the next table; other players who decline do nothing."""
JOINING_SECONDS = (0.01, 3.0)
_ALLOWED = frozenset({ErrorReason.ERROR_REASON_MATCH_FAILED, ErrorReason.ERROR_REASON_TABLE_FINISHED})
"""Reasons of refusals that are no fault of the player."""


class LobbyPlayer:
    """A player at the lobby; with `only_plays` they only play to the end."""

    def __init__(self, name: str, behaviour: BehaviourRates, environment: Environment) -> None:
        self.name = name
        self.process = Process(name)
        self.only_plays = False
        self._behaviour = behaviour
        self._present = asyncio.Event()
        self._present.set()
        self._random = environment.random(name)
        self._lists = environment.random(f"{name} lists")
        self._findings = environment.findings
        self._client = SimulatedClient(self.process, self._random, environment)
        self._seed = self._random.randbytes(4)
        """The player's contribution to the shuffles of tables that they form."""

    @property
    def player_id(self) -> str:
        """The player's id; empty before the sign-in."""
        return self._client.player.player_id if self._client.player is not None else ""

    def is_drawn(self, share: float) -> bool:
        return self._random.random() < share and not self.only_plays

    async def retry(self, attempt: Callable[..., Any], *about: Any, **fields: Any) -> Any:
        """Retry until the services succeed."""
        while True:
            try:
                return await attempt(*about, **fields)
            except client.BrokenStream as fault:
                self._findings.add(Invariant.SEQUENCE_GAP, f"{self.name}: {fault}")
                return None
            except client.CroupierError as error:
                if isinstance(error, client.FailedPrecondition) and error.reason not in _ALLOWED:
                    self._findings.add(Invariant.WRONG_REFUSAL, f"{self.name} was refused without a fault: {error}")
                await asyncio.sleep(RETRY_SECONDS)

    # Finding a table

    async def be_matched(self, plan: TablePlan) -> str:
        """Wait for quick match; returns the table's id."""
        seed, request_id = self._random.randbytes(8), self._client.new_request_id()
        asked = {"game": plan.game, "seat_count": plan.seats, "client_seed": seed, "request_id": request_id}
        table = await self.retry(self._client.wait_for_match, **asked)
        return str(table.table_id)

    async def host(self, plan: TablePlan) -> tables_pb2.Table:
        """Create a table with bots, by one request until it is answered; returns the table."""
        time_control = tables_pb2.TimeControl(
            action_time=Duration(seconds=plan.action_seconds),
            reserve_time=Duration(seconds=plan.reserve_seconds),
            bot_delay=Duration(nanos=plan.bot_delay_milliseconds * 1_000_000),
        )
        access = tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_SEATED) if plan.is_private else None
        asked = {"game": plan.game, "seat_count": plan.seats, "options": plan.options, "time_control": time_control}
        asked |= {"bots": plan.bots, "access": access, "request_id": self._client.new_request_id()}
        table: tables_pb2.Table = (await self.retry(self._client.create_table, **asked)).table
        return table

    async def change(self, table: tables_pb2.Table) -> None:
        """Change the times of a forming table, while others take their seats and get ready."""
        await asyncio.sleep(self._random.uniform(*CHANGING_SECONDS))
        request = lobby_pb2.UpdateTableRequest(
            table_id=table.table_id,
            seat_count=len(table.seats),
            options=table.options,
            time_control=table.time_control,
            access=table.access,
        )
        request.time_control.reserve_time.seconds += 1
        with suppress(client.PermissionDenied):
            # A host who was away for long is none any more.
            await self._client.invoke(Rpc(Service.LOBBY, request, lobby_pb2.UpdateTableResponse))

    async def join(self, table_id: str) -> None:
        """Join the table."""
        await self._client.join_table(table_id=table_id)

    async def arrive(self, table: tables_pb2.Table, seat: int) -> None:
        """Look at a table by its code, take a certain seat, and get ready."""
        await self._client.get_table(invite_code=table.invite_code)
        await self._client.join_table(invite_code=table.invite_code, seat=seat)
        await self._client.set_ready(table_id=table.table_id, client_seed=self._seed)

    async def follow_own(self) -> None:
        """Follow the player's own tables until cancelled."""
        while True:
            with suppress(client.CroupierError):
                async for _ in self._client.watch_my_tables():
                    pass
            await asyncio.sleep(RETRY_SECONDS)

    async def list_own(self) -> None:
        """List the player's own tables from time to time until cancelled."""
        while True:
            await asyncio.sleep(self._lists.uniform(*LISTING_SECONDS))
            with suppress(client.CroupierError):
                await self._client.list_my_tables()

    async def get_ready(self, table_id: str) -> None:
        """Get ready, again after each player who takes a free seat, and wait until the table is open."""

        async def be_ready_until_open() -> None:
            async for update in self._client.watch_tables(table_id=table_id):
                if not update.HasField("table"):
                    continue
                if update.table.state != tables_pb2.TABLE_STATE_FORMING:
                    return
                if not any(seat.is_ready and seat.player_id == self.player_id for seat in update.table.seats):
                    await self._client.set_ready(table_id=table_id, client_seed=self._seed)

        await self.retry(be_ready_until_open)

    # Playing again

    async def play_again(self, table_id: str, *, is_first: bool) -> str:
        """Take a seat of the table that follows a finished one, sometimes once it is there; returns its id."""
        await asyncio.sleep(self._random.expovariate(1 / self._behaviour.think_seconds))
        if not is_first and self._random.random() < WAITING_SHARE:
            await self._wait_for_next(table_id)
        return str((await self._client.rematch(table_id=table_id)).table.table_id)

    async def decline(self, table_id: str) -> None:
        """Give up the seat of the table that follows a finished one, or let it fall free after a minute."""
        if self._random.random() < GIVING_UP_SHARE:
            await self._client.leave_table(table_id=await self._wait_for_next(table_id))

    async def _wait_for_next(self, table_id: str) -> str:
        """Follow a finished table until another one follows it; returns the other one's id."""
        async for update in self._client.watch_tables(table_id=table_id):
            if update.table.next_table_id:
                return str(update.table.next_table_id)
        self._findings.add(Invariant.REMATCH_WRONG, f"{self.name}: the stream ended without a next table", table_id)
        return ""

    async def take_free_seat(self, table_id: str) -> str:
        """Try to join the table that follows a finished one, until its game begins; returns its id, or "" in vain."""
        while True:
            await asyncio.sleep(self._random.uniform(*JOINING_SECONDS))
            try:
                if following := (await self.get_table(table_id)).next_table_id:
                    await self._client.join_table(table_id=following)
                    return following
            except client.FailedPrecondition as refusal:
                if refusal.reason != ErrorReason.ERROR_REASON_TABLE_FULL:
                    return ""
            except client.CroupierError:
                continue

    async def get_table(self, table_id: str) -> tables_pb2.Table:
        """Return a table of the lobby."""
        table: tables_pb2.Table = (await self._client.get_table(table_id=table_id)).table
        return table
