"""Users who do not play: spectators, browsers of the lobby, and openers of tables that never start."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

import grpc

from croupier_api.v1 import tables_pb2
from croupier_client import CroupierError, TimedOut
from croupier_loadtest.mix import draw_entry
from croupier_loadtest.players.client import PlayerClient
from croupier_loadtest.players.counting import is_failure
from croupier_loadtest.players.leaving import leave_table
from croupier_loadtest.players.recorder import wall_milliseconds
from croupier_loadtest.players.table import opened
from croupier_loadtest.players.user_context import UserContext, count_failure
from croupier_loadtest.record import TableRecord
from croupier_loadtest.scenarios import Behaviour

PAUSE_SECONDS = 1.0
WATCH_SECONDS = (5.0, 60.0)
BROWSE_SECONDS = (0.5, 5.0)
OPEN_SECONDS = (1.0, 10.0)
MAX_LEFT_OPEN = 10
"""With more forming tables than this an opener leaves the oldest."""
PAGE_SIZE = 50


@contextmanager
def _failures_counted(context: UserContext, operation: str) -> Iterator[None]:
    """Let refusals end the body, and count them if the services failed."""
    try:
        yield
    except CroupierError as error:
        if is_failure(error) or error.code is grpc.StatusCode.DEADLINE_EXCEEDED:
            count_failure(context.measures, operation, error)


async def spectator(context: UserContext, name: str) -> None:
    """Watch one public table after another."""
    client, random = context.guest(name), context.random(name)
    while not context.is_stopping:
        with _failures_counted(context, "watching a table"):
            tables = (await client.list_tables(state=tables_pb2.TABLE_STATE_PLAYING, page_size=PAGE_SIZE)).tables
            if tables:
                await _watch_for_a_while(context, client, random.choice(tables), random)
        await context.sleep(PAUSE_SECONDS)


async def _watch_for_a_while(
    context: UserContext, client: PlayerClient, table: tables_pb2.Table, random: Random
) -> None:
    until = time.monotonic() + random.uniform(*WATCH_SECONDS)
    await watch(context, client, table, lambda: context.is_stopping or time.monotonic() >= until)


async def watch(
    context: UserContext,
    client: PlayerClient,
    table: tables_pb2.Table,
    is_enough: Callable[[], bool],
    *,
    is_counter: bool = False,
) -> None:
    """Watch a table until its game is over or it is enough.

    With `is_counter`, as in `TableRecords.add_viewer`, no player is recorded, and so this viewer says that it is over.
    """
    assert client.player is not None
    record = TableRecord(table.table_id, table.game, len(table.seats), table.seed_commitment)
    viewer = context.tables.add_viewer(record, client.player.player_id, Behaviour.STEADY, is_counter=is_counter)
    try:
        async with opened(client.watched_table(table.table_id, viewer)) as watched:
            while not watched.is_finished and not is_enough():
                try:
                    await watched.wait_for_change(timeout_seconds=PAUSE_SECONDS)
                except TimedOut:
                    continue
            if watched.is_finished and is_counter:
                context.tables.mark_finished(table.table_id)
            if not watched.is_finished:
                viewer.left_milliseconds = wall_milliseconds()
    finally:
        await leave_table(context, client, table.table_id, viewer)


async def browser(context: UserContext, name: str) -> None:
    """Read the lobby's tables, leaderboards and results."""
    client, random = context.guest(name), context.random(name)
    while not context.is_stopping:
        game = draw_entry(context.settings.games, random).game
        with _failures_counted(context, "browsing the lobby"):
            await client.list_games()
            page = await client.list_tables(game=game, page_size=PAGE_SIZE)
            if page.next_page_token:
                await client.list_tables(game=game, page_size=PAGE_SIZE, page_token=page.next_page_token)
            board = await client.get_leaderboard(game=game, page_size=PAGE_SIZE)
            for line in board.entries[:1]:
                await client.get_player_statistics(player_id=line.player_id)
            await client.list_results(game=game, page_size=PAGE_SIZE)
        await context.sleep(random.uniform(*BROWSE_SECONDS))


async def opener(context: UserContext, name: str) -> None:
    """Open tables and never start them; leave the oldest at the lobby's limit."""
    client, random = context.guest(name), context.random(name)
    opened: deque[str] = deque()
    while not context.is_stopping:
        entry = draw_entry(context.settings.games, random)
        with _failures_counted(context, "opening a table"):
            table = (await client.create_table(game=entry.game, seat_count=random.choice(entry.seats))).table
            opened.append(table.table_id)
            if len(opened) > MAX_LEFT_OPEN:
                await client.leave_table(table_id=opened.popleft())
        await context.sleep(random.uniform(*OPEN_SECONDS))
    for table_id in opened:
        with _failures_counted(context, "leaving a table"):
            await client.leave_table(table_id=table_id)
