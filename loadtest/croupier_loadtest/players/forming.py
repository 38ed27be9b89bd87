"""Forms the tables of groups, with all that players may do before a game begins, and checks the answers."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from google.protobuf.duration_pb2 import Duration

from croupier_api.v1 import games_pb2, lobby_pb2, tables_pb2
from croupier_client import InvalidArgument, new_request_id
from croupier_client.methods import encode_options
from croupier_client.rpc import Rpc, Service
from croupier_loadtest.judge.forming import (
    check_creation,
    check_look,
    check_name,
    check_repeat,
    check_seat,
    check_update,
)
from croupier_loadtest.judge.violations import Violation
from croupier_loadtest.measures import Measures
from croupier_loadtest.mix import MixEntry, OptionValue
from croupier_loadtest.players.client import PlayerClient

OPTIONS_SHARE = 0.5
"""The share of tables with random options."""
DELAYED_SHARE, PRIVATE_SHARE = 0.1, 0.1
"""The shares of tables whose spectators see the game later, and of those that are not public."""
BOTS_SHARE = 0.5
"""The share of tables with bots whose request has them; to the others the host adds them."""
REPEATED_SHARE = 0.1
"""The share of tables whose request is sent twice."""
CHOSEN_SHARE, MOVED_SHARE = 0.2, 0.1
"""The shares of players who choose their seat, and of those who move to another one."""
UPDATED_SHARE = 0.1
"""The share of tables that their host changes."""
RENAMED_SHARE = 0.03
"""The share of players who change their name at a table."""
DELAYED = tables_pb2.TableAccess(watch_delay=Duration(seconds=3))
PRIVATE = tuple(
    tables_pb2.TableAccess(visibility=visibility)
    for visibility in (tables_pb2.VISIBILITY_LINK, tables_pb2.VISIBILITY_SEATED)
)
POLL_SECONDS = 0.2
OPENING_SECONDS = 60.0
People = Sequence[tuple[PlayerClient, bytes]]
"""The players of a table, the host first, each with their client seed."""


class WantedTable(NamedTuple):
    """A table to form: the game, the numbers of seats and bots, the times, and whether the host is ready at once."""

    entry: MixEntry
    seats: int
    bots: int
    time_control: tables_pb2.TimeControl
    is_ready: bool


async def open_table(table_id: str, people: People) -> tables_pb2.Table | None:
    """Give seats to players in order after the host, and begin the game; see `begin`."""
    for client, _ in people[1:]:
        await client.join_table(table_id=table_id)
    return await begin(table_id, people)


async def begin(table_id: str, people: People) -> tables_pb2.Table | None:
    """Make all players ready, and wait until the game begins.

    Returns None if it has not begun within OPENING_SECONDS; raises CroupierError.
    """
    host, _ = people[0]
    for client, client_seed in people:
        await client.set_ready(table_id=table_id, client_seed=client_seed)
    deadline = time.monotonic() + OPENING_SECONDS
    while time.monotonic() < deadline:
        table = (await host.get_table(table_id=table_id)).table
        if table.state != tables_pb2.TABLE_STATE_FORMING:
            return table
        await asyncio.sleep(POLL_SECONDS)
    return None


@dataclass(frozen=True, slots=True)
class Forming:
    """Forms one table of these players, by calls that are drawn at random; every method raises CroupierError."""

    measures: Measures
    people: People
    random: Random

    @property
    def host(self) -> PlayerClient:
        """The player who creates the table."""
        return self.people[0][0]

    async def form(self, wanted: WantedTable) -> tables_pb2.Table | None:
        """Create a table, seat the players, and begin the game, as `begin` does."""
        table = await self._create(wanted)
        if table.state != tables_pb2.TABLE_STATE_FORMING:
            return await begin(table.table_id, self.people)
        for client, _ in self.people[1:]:
            await self._join(client, table)
        if self._is_drawn(UPDATED_SHARE):
            await self._update(table.table_id, wanted)
        for _ in range(sum(not (seat.player_id or seat.bot) for seat in table.seats) - len(self.people) + 1):
            await self.host.add_bot(table_id=table.table_id, bot=wanted.entry.bot)
        return await begin(table.table_id, self.people)

    def _is_drawn(self, share: float) -> bool:
        return self.random.random() < share

    async def _create(self, wanted: WantedTable) -> tables_pb2.Table:
        kind = self.random.random()
        access = DELAYED if kind < DELAYED_SHARE else None
        if DELAYED_SHARE <= kind < DELAYED_SHARE + PRIVATE_SHARE:
            access = self.random.choice(PRIVATE)
        if self._is_drawn(OPTIONS_SHARE):
            options = await random_options(self.host, wanted.entry, self.random)
            try:
                return await self._create_with(wanted, options, access)
            except InvalidArgument:
                pass  # Not all options can be combined.
        return await self._create_with(wanted, {}, access)

    async def _create_with(
        self, wanted: WantedTable, options: Mapping[str, OptionValue], access: tables_pb2.TableAccess | None
    ) -> tables_pb2.Table:
        request = lobby_pb2.CreateTableRequest(
            game=wanted.entry.game,
            seat_count=wanted.seats,
            options=encode_options({**options, **wanted.entry.bounds}),
            time_control=wanted.time_control,
            access=access,
            request_id=new_request_id(),
            bots=[wanted.entry.bot] * (wanted.bots if self._is_drawn(BOTS_SHARE) else 0),
            is_ready=wanted.is_ready,
        )
        table = await self._send(request)
        if table.state == tables_pb2.TABLE_STATE_FORMING:
            self._check(check_creation(_id_of(self.host), request, table), "creations")
        if self._is_drawn(REPEATED_SHARE):
            self._check(check_repeat(table, await self._send(request)), "repeated creations")
        return table

    async def _send(self, request: lobby_pb2.CreateTableRequest) -> tables_pb2.Table:
        return (await self.host.invoke(Rpc(Service.LOBBY, request, lobby_pb2.CreateTableResponse))).table

    async def _join(self, client: PlayerClient, created: tables_pb2.Table) -> None:
        """Take a seat: by the code after a look if the table is not public, and sometimes at a chosen seat."""
        target, is_public = {"table_id": created.table_id}, created.access.visibility == tables_pb2.VISIBILITY_EVERYONE
        if not is_public:
            target = {"invite_code": created.invite_code}
            await self._look(client, created)
        seat = await self._free_seat(created.table_id) if self._is_drawn(CHOSEN_SHARE) else None
        joined = (await client.join_table(**target, seat=seat)).table
        if seat is not None:
            self._check(check_seat(_id_of(client), seat, joined), "chosen seats")
        if self._is_drawn(MOVED_SHARE) and (free := await self._free_seat(created.table_id)) is not None:
            moved = (await client.join_table(table_id=created.table_id, seat=free)).table
            self._check(check_seat(_id_of(client), free, moved), "chosen seats")
        if self._is_drawn(RENAMED_SHARE):
            await self._rename(client, created.table_id)

    async def _look(self, client: PlayerClient, created: tables_pb2.Table) -> None:
        if client.player is None:
            await client.sign_in()
        before = (await self.host.get_table(table_id=created.table_id)).table
        shown = (await client.get_table(invite_code=created.invite_code)).table
        after = (await self.host.get_table(table_id=created.table_id)).table
        self._check(check_look(_id_of(client), before, shown, after), "looks")

    async def _free_seat(self, table_id: str) -> int | None:
        """Return one of the free seats; None if there is none."""
        table = (await self.host.get_table(table_id=table_id)).table
        free = [number for number, seat in enumerate(table.seats) if not (seat.player_id or seat.bot)]
        return self.random.choice(free) if free else None

    async def _rename(self, client: PlayerClient, table_id: str) -> None:
        name = f"renamed {self.random.getrandbits(48):x}"
        player = (await client.update_player(name=name)).player
        own = (await client.get_player()).player
        table = (await self.host.get_table(table_id=table_id)).table
        self._check(check_name(name, (player, own), table), "new names")

    async def _update(self, table_id: str, wanted: WantedTable) -> None:
        """Change times, and sometimes options, when another player is ready; no game begins, since the host is not."""
        for client, client_seed in self.people[1:2]:
            await client.set_ready(table_id=table_id, client_seed=client_seed)
        before = (await self.host.get_table(table_id=table_id)).table
        request = lobby_pb2.UpdateTableRequest(
            table_id=table_id,
            seat_count=len(before.seats),
            options=before.options,
            time_control=before.time_control,
            access=before.access,
        )
        request.time_control.reserve_time.seconds += 1
        if self._is_drawn(OPTIONS_SHARE):
            request.options.update(await random_options(self.host, wanted.entry, self.random))
            request.options.update(wanted.entry.bounds)
        try:
            after = await self._send_update(request)
        except InvalidArgument:
            request.options.CopyFrom(before.options)
            after = await self._send_update(request)
        self._check(check_update(before, after), "updates")

    async def _send_update(self, request: lobby_pb2.UpdateTableRequest) -> tables_pb2.Table:
        return (await self.host.invoke(Rpc(Service.LOBBY, request, lobby_pb2.UpdateTableResponse))).table

    def _check(self, violations: Iterable[Violation], name: str) -> None:
        self.measures.record_violations(violations)
        self.measures.count(f"checked {name}")


async def random_options(host: PlayerClient, entry: MixEntry, random: Random) -> dict[str, OptionValue]:
    """Return a random value for each option that lists its values or is true or false."""
    games: Mapping[str, games_pb2.GameDescription] = {one.game: one for one in (await host.list_games()).games}
    values: dict[str, Sequence[OptionValue]] = {
        one.name: [False, True]
        if one.HasField("flag")
        else [it.string_value if it.HasField("string_value") else int(it.number_value) for it in one.choice.values]
        for one in games[entry.game].options
    }
    drawn = {name: entry.drawn.get(name, listed) for name, listed in values.items() if len(listed) > 1}
    return {name: random.choice(among) for name, among in drawn.items()}


def _id_of(client: PlayerClient) -> str:
    assert client.player is not None
    return client.player.player_id
