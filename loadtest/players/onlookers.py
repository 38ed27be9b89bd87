"""People who do not play: spectators, those who look through the lobby, and those who open tables for nobody."""

import time
from collections import deque
from random import Random

import grpc

from croupier_api.v1 import lobby_pb2
from croupier_client import CroupierError, TimedOut
from loadtest.mix import drawn
from loadtest.players.client import PlayerClient
from loadtest.players.counting import is_failure
from loadtest.players.tables import wall_milliseconds
from loadtest.players.world import World, tell_failure
from loadtest.record import TableRecord
from loadtest.scenarios import Manner

PAUSE_SECONDS = 1.0
WATCHED_SECONDS = (5.0, 60.0)
LOOKED_SECONDS = (0.5, 5.0)
OPEN_SECONDS = (1.0, 10.0)
MOST_LEFT_OPEN = 10
"""Beyond so many forming tables of his own an opener leaves the oldest."""
PAGE_SIZE = 50


async def spectator(world: World, name: str) -> None:
    """Watch one public table after the other."""
    client, random = world.guest(name), world.random(name)
    while not world.is_time_up:
        try:
            tables = (await client.list_tables(state=lobby_pb2.TABLE_STATE_PLAYING, page_size=PAGE_SIZE)).tables
            if tables:
                await _watch(world, client, random.choice(tables), random)
        except CroupierError as error:
            _tell(world, "watching a table", error)
        await world.sleep(PAUSE_SECONDS)


async def _watch(world: World, client: PlayerClient, table: lobby_pb2.Table, random: Random) -> None:
    assert client.player is not None
    record = TableRecord(table.table_id, table.game, len(table.seats), table.commitment)
    viewer = world.tables.sit_down(record, client.player.player_id, Manner.STEADY)
    until = time.monotonic() + random.uniform(*WATCHED_SECONDS)
    try:
        async with client.gallery(table.table_id, viewer) as seat:
            while not seat.finished and time.monotonic() < until and not world.is_time_up:
                try:
                    await seat.changed(timeout_seconds=PAUSE_SECONDS)
                except TimedOut:
                    continue
            if not seat.finished:
                viewer.left_milliseconds = wall_milliseconds()
    finally:
        left = world.tables.leave(table.table_id)
    if left is not None:
        await world.tables.see_off(left)


async def browser(world: World, name: str) -> None:
    """Look through the lobby, at leaderboards and at results."""
    client, random = world.guest(name), world.random(name)
    while not world.is_time_up:
        game = drawn(world.manners.games, random).game
        try:
            await client.list_games()
            page = await client.list_tables(game=game, page_size=PAGE_SIZE)
            if page.next_page_token:
                await client.list_tables(game=game, page_size=PAGE_SIZE, page_token=page.next_page_token)
            board = await client.get_leaderboard(game=game, page_size=PAGE_SIZE)
            for line in board.lines[:1]:
                await client.get_player_statistics(player_id=line.player_id)
            await client.list_results(game=game, page_size=PAGE_SIZE)
        except CroupierError as error:
            _tell(world, "looking through the lobby", error)
        await world.sleep(random.uniform(*LOOKED_SECONDS))


async def opener(world: World, name: str) -> None:
    """Open tables and never start them; leave only when the lobby would allow no more."""
    client, random = world.guest(name), world.random(name)
    opened: deque[str] = deque()
    while not world.is_time_up:
        kind = drawn(world.manners.games, random)
        try:
            table = (await client.create_table(game=kind.game, seats=random.choice(kind.seats))).table
            opened.append(table.table_id)
            if len(opened) > MOST_LEFT_OPEN:
                await client.leave_table(table_id=opened.popleft())
        except CroupierError as error:
            _tell(world, "opening a table for nobody", error)
        await world.sleep(random.uniform(*OPEN_SECONDS))
    for table_id in opened:
        try:
            await client.leave_table(table_id=table_id)
        except CroupierError as error:
            _tell(world, "leaving a table", error)


def _tell(world: World, what: str, error: CroupierError) -> None:
    if is_failure(error) or error.code is grpc.StatusCode.DEADLINE_EXCEEDED:
        tell_failure(world.measures, what, error)
