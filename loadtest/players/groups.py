"""Groups and matched players, who play table after table, each with a behaviour of their own."""

import asyncio
import time
from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from itertools import count
from random import Random
from typing import NamedTuple

from google.protobuf.duration_pb2 import Duration

from croupier_api.v1 import games_pb2, tables_pb2
from croupier_client import CroupierError, InvalidArgument, TimedOut
from loadtest.judge.rematches import ShownTable, check_rematch
from loadtest.mix import MixEntry, OptionValue, draw_entry, matchable
from loadtest.players.client import PlayerClient
from loadtest.players.recorder import wall_milliseconds
from loadtest.players.seat_player import SeatPlayer
from loadtest.players.user_context import UserContext, count_failure
from loadtest.record import TableRecord
from loadtest.scenarios import Behaviour

OPTIONS_SHARE = 0.5
"""The share of tables with random options."""
DELAYED_SHARE = 0.1
"""The share of tables whose spectators see the game later."""
BOT_SHARE = 0.1
"""The share of tables at which a bot has the last seat."""
REMATCH_SHARE = 0.2
"""The share of finished tables that their group plays again."""
DELAYED = tables_pb2.TableAccess(watch_delay=Duration(seconds=3))
SEED_BYTES = 16
PAUSE_SECONDS = 0.5
POLL_SECONDS = 0.2
OPENING_SECONDS = 60.0
CRITERIA_SECONDS = 15.0
"""The period in which all matched players search for the same few games."""
MAX_SEATS = 4
"""Of tables by quick match: enough players must search for the same number of seats."""


def _time_control(action_seconds: int, reserve_seconds: int) -> tables_pb2.TimeControl:
    return tables_pb2.TimeControl(
        action_time=Duration(seconds=action_seconds), reserve_time=Duration(seconds=reserve_seconds)
    )


DEFAULT_TIMES = _time_control(30, 60)
QUICK_TIMES = _time_control(5, 2)
"""For tables that a player leaves, where the others wait for the time-outs."""
LATE_TIMES = _time_control(5, 20)
"""For tables at which a player uses the reserve."""


class GroupMember(NamedTuple):
    """A player of a group, at one table."""

    client: PlayerClient
    behaviour: Behaviour
    client_seed: bytes


async def group(context: UserContext, name: str) -> None:
    """Play table after table until the run drains."""
    guests = [
        context.guest(f"{name}-{seat}") for seat in range(max(max(entry.seats) for entry in context.settings.games))
    ]
    for number in count(1):
        if context.is_stopping:
            return
        random = context.random(f"{name}/{number}")
        try:
            await _play_one(context, guests, random)
        except CroupierError as error:
            count_failure(context.measures, "opening a table", error)
            await context.sleep(PAUSE_SECONDS)


async def _play_one(context: UserContext, guests: Sequence[PlayerClient], random: Random) -> None:
    entry = draw_entry(context.settings.games, random)
    seats = random.choice(entry.seats)
    has_bot = random.random() < BOT_SHARE
    people = [
        GroupMember(
            client, draw_behaviour(context, random), random.randbytes(SEED_BYTES) if random.random() < 0.5 else b""
        )
        for client in guests[: seats - has_bot]
    ]
    behaviours = {one.behaviour for one in people}
    time_control = LATE_TIMES if Behaviour.LATE in behaviours else DEFAULT_TIMES
    if Behaviour.LEAVER in behaviours:
        time_control = QUICK_TIMES
    table_id = (await _create_table(people[0].client, entry, seats, time_control, random)).table_id
    table = await open_table(table_id, [(one.client, one.client_seed) for one in people], seats - len(people))
    while table is not None:
        async with asyncio.TaskGroup() as tasks:
            playing = [tasks.create_task(play_seat(context, one, table, random)) for one in people]
        is_over = any(task.result() for task in playing)
        if not is_over or context.is_stopping or random.random() >= REMATCH_SHARE:
            return
        table = await _play_again(context, people, table.table_id)
    context.measures.record_failure("opening a table: it was not opened", f"table of {entry.game} for {seats}")


async def _play_again(context: UserContext, people: Sequence[GroupMember], table_id: str) -> tables_pb2.Table | None:
    """Let all players ask at once for the table that follows a finished one, and begin its game, as open_table does."""
    answers = await asyncio.gather(*(_rematch(one.client, table_id) for one in people))
    finished = (await people[0].client.get_table(table_id=table_id)).table
    context.measures.record_violations(check_rematch(finished, finished.next_table_id, answers))
    context.measures.count("checked rematches")
    return await _begin(finished.next_table_id, [(one.client, one.client_seed) for one in people])


async def _rematch(client: PlayerClient, table_id: str) -> ShownTable:
    table = (await client.rematch(table_id=table_id)).table
    assert client.player is not None
    return ShownTable(wall_milliseconds(), client.player.player_id, table)


def play_seat(
    context: UserContext, member: GroupMember, table: tables_pb2.Table, random: Random
) -> Coroutine[None, None, bool]:
    """Return the coroutine by which a player plays at an open table, and which returns what SeatPlayer.play does."""
    assert member.client.player is not None
    record = TableRecord(table.table_id, table.game, len(table.seats), table.seed_commitment)
    player_id = member.client.player.player_id
    # At a table that is played again a bot may have seat 0.
    is_counter = next(seat.player_id for seat in table.seats if seat.player_id) == player_id
    viewer = context.tables.add_viewer(record, player_id, member.behaviour, member.client_seed, is_counter=is_counter)
    own_random, action_seconds = Random(random.random()), table.time_control.action_time.ToTimedelta().total_seconds()
    return SeatPlayer(context, member.client, table.table_id, viewer, own_random, action_seconds).play()


def draw_behaviour(context: UserContext, random: Random) -> Behaviour:
    """Return a behaviour, drawn by the scenario's weights."""
    behaviours = context.settings.scenario.behaviours
    return random.choices(list(behaviours), list(behaviours.values()))[0]


async def open_table(
    table_id: str, people: Sequence[tuple[PlayerClient, bytes]], bots: int = 0
) -> tables_pb2.Table | None:
    """Give seats to players, each with their client seed, in order after the host, and to bots, and begin the game.

    Returns None if it has not begun within OPENING_SECONDS; raises CroupierError.
    """
    host, _ = people[0]
    for client, _ in people[1:]:
        await client.join_table(table_id=table_id)
    for _ in range(bots):
        await host.add_bot(table_id=table_id, bot="random")
    return await _begin(table_id, people)


async def _begin(table_id: str, people: Sequence[tuple[PlayerClient, bytes]]) -> tables_pb2.Table | None:
    """Make all players ready, and wait until the game begins."""
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


async def _create_table(
    host: PlayerClient, entry: MixEntry, seats: int, time_control: tables_pb2.TimeControl, random: Random
) -> tables_pb2.Table:
    access = DELAYED if random.random() < DELAYED_SHARE else None
    create = partial(host.create_table, game=entry.game, seat_count=seats, time_control=time_control, access=access)
    if random.random() < OPTIONS_SHARE:
        options = await _random_options(host, entry.game, random) | dict(entry.bounds)
        try:
            return (await create(options=options)).table
        except InvalidArgument:
            pass  # Not all options can be combined.
    return (await create(options=entry.bounds)).table


async def _random_options(host: PlayerClient, game_id: str, random: Random) -> dict[str, OptionValue]:
    """Return a random value for each option that lists its values or is true or false."""
    games: Mapping[str, games_pb2.GameDescription] = {one.game: one for one in (await host.list_games()).games}
    values: dict[str, list[OptionValue]] = {
        one.name: [False, True]
        if one.HasField("flag")
        else [it.string_value if it.HasField("string_value") else int(it.number_value) for it in one.choice.values]
        for one in games[game_id].options
    }
    return {name: random.choice(listed) for name, listed in values.items() if len(listed) > 1}


async def matcher(context: UserContext, name: str) -> None:
    """Be matched with others by quick match and play, again and again until the run drains."""
    client = context.guest(name)
    client_seed = context.random(f"{name} seed").randbytes(SEED_BYTES)
    matched: set[str] = set()
    for number in count(1):
        if context.is_stopping:
            return
        random = context.random(f"{name}/{number}")
        entry, seats = random.choice(_match_criteria(context))
        try:
            table = await client.be_matched(game=entry.game, seat_count=seats, client_seed=client_seed)
        except TimedOut:
            context.measures.count("matches timed out")
            continue
        except CroupierError as error:
            count_failure(context.measures, "being matched", error)
            await context.sleep(PAUSE_SECONDS)
            continue
        if table.table_id in matched:
            # Connections break on purpose: the lobby sends a table again until its whole answer was sent.
            context.measures.count("matches repeated")
            continue
        matched.add(table.table_id)
        if client.player is not None and table.seats[0].player_id == client.player.player_id:
            context.measures.count(f"quick matches {table.game}")
        member = GroupMember(client, draw_behaviour(context, random), client_seed)
        # A player may be matched after a time-out too: the next call returns that table, with that seed.
        client_seed = context.random(f"{name}/{number} seed").randbytes(SEED_BYTES)
        await play_seat(context, member, table, random)


def _match_criteria(context: UserContext) -> list[tuple[MixEntry, int]]:
    """Return the games and numbers of seats that all matched players, in every process, search for at this time."""
    random = context.random(f"criteria {int(time.time() / CRITERIA_SECONDS)}")
    entries = [draw_entry(matchable(context.settings.games), random) for _ in range(context.settings.match_criteria)]
    return [(entry, random.choice([seats for seats in entry.seats if seats <= MAX_SEATS])) for entry in entries]
