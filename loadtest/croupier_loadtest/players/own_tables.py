"""The tables at which a player of a group sits, as the lobby lists and streams them, and their checks."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field

from croupier_api.v1 import lobby_pb2, tables_pb2
from croupier_client import CroupierError, Internal
from croupier_client.rpc import Rpc, Service
from croupier_loadtest.judge.own_tables import OwnStream, Stay, check_list, check_stream
from croupier_loadtest.players.client import PlayerClient
from croupier_loadtest.players.recorder import wall_milliseconds
from croupier_loadtest.players.user_context import UserContext, count_failure
from croupier_loadtest.record import DeliveryLimit, SeatRecord, ShownSeat

DELIVERY_SHARE = 0.5
"""The time limit of a change, as a share of the time after which a silent stream is checked."""
BEGINNING_MILLISECONDS = 5_000
"""A game is not over so soon if one of its players has not acted."""
MAX_STAYS = 500
PAUSE_SECONDS = 0.5
MAX_MESSAGES = 2_000
"""With more messages a stream is checked, and another one opened."""
WATCH = Rpc(Service.LOBBY, lobby_pb2.WatchTablesRequest(mine=True), lobby_pb2.WatchTablesResponse)


@dataclass(slots=True)
class OwnTables:
    """The tables of one player."""

    _context: UserContext
    _client: PlayerClient
    _stays: list[Stay] = field(default_factory=list)

    def sat_down(self, table: tables_pb2.Table) -> bool:
        """Record that the game of a table has begun; returns whether the player has a seat there."""
        seat = next((number for number, one in enumerate(table.seats) if one.player_id == self._player_id), None)
        if seat is None:
            return False
        now = wall_milliseconds()
        # Another seat is possible while the table formed: players move.
        others = [Stay(table.table_id, other, 0, now, now, now) for other in range(len(table.seats)) if other != seat]
        # The game may be over at once, and the lobby may learn of it later.
        self._stays = [*self._stays[-MAX_STAYS:], *others, Stay(table.table_id, seat, 0, now, now)]
        return True

    async def list(self, viewer: SeatRecord) -> None:
        """List the tables before the player has acted at the newest one, so that its game is not over.

        The judge compares the turn with the log. Raises CroupierError.
        """
        asked = wall_milliseconds()
        page = await self._client.list_my_tables()
        answered = wall_milliseconds()
        *others, newest = self._stays
        if answered < newest.certain_from + BEGINNING_MILLISECONDS:
            newest = newest._replace(certain_from=0, certain_until=answered + 1)
        violations = check_list(self._player_id, [*others, newest], asked, answered, page.tables)
        self._context.measures.record_violations(violations)
        self._context.measures.count("checked lists of own tables")
        for mine in page.tables:
            if mine.table.table_id == newest.table_id and mine.my_seat.HasField("is_to_act"):
                viewer.shown_seats.append(ShownSeat(asked, answered, mine.my_seat.SerializeToString()))

    async def follow(self) -> None:
        """Follow the tables until cancelled, on stream after stream, and check each at its end."""
        while True:
            stream = OwnStream(wall_milliseconds())
            try:
                await self._read(stream)
            except CroupierError as error:
                # Others are counted with the call.
                if isinstance(error, Internal):
                    count_failure(self._context.measures, "following own tables", error)
                await asyncio.sleep(PAUSE_SECONDS)
            finally:
                self._check(stream)

    async def _read(self, stream: OwnStream) -> None:
        async with aclosing(await self._client.open(WATCH)) as messages:
            async for message in messages:
                if message.HasField("table") or not any(one.is_list_complete for _, one in stream.messages[-1:]):
                    stream.messages.append((wall_milliseconds(), message))
                if len(stream.messages) >= MAX_MESSAGES:
                    return

    def _check(self, stream: OwnStream) -> None:
        stream.ended_milliseconds = wall_milliseconds()
        limit = DeliveryLimit(round(self._context.settings.silence_seconds * 1000 * DELIVERY_SHARE))
        self._context.measures.record_violations(check_stream(self._player_id, self._stays, stream, limit))
        self._context.measures.count("checked streams of own tables")
        self._stays = [stay for stay in self._stays if stay.certain_from >= stream.opened_milliseconds]

    @property
    def _player_id(self) -> str:
        return self._client.player.player_id if self._client.player is not None else ""
