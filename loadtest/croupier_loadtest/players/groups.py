"""Groups and matched players, who play table after table, each with a behaviour of their own."""

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from itertools import count
from random import Random
from typing import NamedTuple

from google.protobuf.duration_pb2 import Duration

from croupier_api.v1 import tables_pb2
from croupier_client import CroupierError, TimedOut
from croupier_loadtest.judge.forming import check_match
from croupier_loadtest.judge.rematches import ShownTable, check_rematch
from croupier_loadtest.mix import draw_entry, matchable
from croupier_loadtest.players.client import PlayerClient
from croupier_loadtest.players.forming import Forming, WantedTable, begin
from croupier_loadtest.players.own_tables import OwnTables
from croupier_loadtest.players.recorder import wall_milliseconds
from croupier_loadtest.players.seat_player import SeatPlayer
from croupier_loadtest.players.user_context import UserContext, count_failure
from croupier_loadtest.record import SeatRecord, TableRecord
from croupier_loadtest.scenarios import Behaviour

BOT_SHARE, ALONE_SHARE = 0.1, 0.02
"""The shares of tables at which a bot has a seat, and of those at which bots have all seats but the host's."""
READY_SHARE = 0.2
"""The share of tables whose host is ready at once."""
FOLLOWING_SHARE = 0.1
"""The share of players who follow their own tables on a stream."""
LISTING_SHARE = 0.1
"""The share of players who list their own tables when a game begins."""
REMATCH_SHARE = 0.2
"""The share of finished tables that their group plays again."""
SEED_BYTES = 16
PAUSE_SECONDS = 0.5
CRITERIA_SECONDS = 15.0
"""The period in which all matched players search for the same few games."""
PRESET_SHARE = 0.2
"""The share of searches for the quickest preset of the game."""
BOTS_AFTER_SECONDS, BOTS_AFTER_SHARE = 20, 0.1
"""The time after which bots take the free seats, and the share of searches that have it."""
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
    """A player at one table; those of groups have own tables."""

    client: PlayerClient
    behaviour: Behaviour
    client_seed: bytes
    own: OwnTables | None = None


async def group(context: UserContext, name: str) -> None:
    """Play table after table until the run drains."""
    guests = [
        context.guest(f"{name}-{seat}") for seat in range(max(max(entry.seats) for entry in context.settings.games))
    ]
    own = [OwnTables(context, client) for client in guests]
    async with _following(context, name, own):
        for number in count(1):
            if context.is_stopping:
                return
            random = context.random(f"{name}/{number}")
            try:
                await _play_one(context, [*zip(guests, own, strict=True)], random)
            except CroupierError as error:
                count_failure(context.measures, "opening a table", error)
                await context.sleep(PAUSE_SECONDS)


@asynccontextmanager
async def _following(context: UserContext, name: str, own: Sequence[OwnTables]) -> AsyncIterator[None]:
    """Let some players follow their own tables during the body."""
    random = context.random(f"{name} following")
    following = [asyncio.create_task(one.follow()) for one in own if random.random() < FOLLOWING_SHARE]
    try:
        yield
    finally:
        for task in following:
            task.cancel()
        ends = await asyncio.gather(*following, return_exceptions=True)
    for end in ends:
        if isinstance(end, Exception):
            raise end


async def _play_one(context: UserContext, guests: Sequence[tuple[PlayerClient, OwnTables]], random: Random) -> None:
    entry = draw_entry(context.settings.games, random)
    seats = random.choice(entry.seats)
    kind, is_ready = random.random(), random.random() < READY_SHARE
    bots = seats - 1 if kind < ALONE_SHARE else int(kind < BOT_SHARE + ALONE_SHARE)
    people = [_member(context, *guest, random) for guest in guests[: seats - bots]]
    if is_ready and bots == seats - 1:
        # The game begins with the last bot.
        people = [one._replace(client_seed=b"") for one in people]
    behaviours = {one.behaviour for one in people}
    time_control = LATE_TIMES if Behaviour.LATE in behaviours else DEFAULT_TIMES
    if Behaviour.LEAVER in behaviours:
        time_control = QUICK_TIMES
    forming = Forming(context.measures, _seeds(people), random)
    table = await forming.form(WantedTable(entry, seats, bots, time_control, is_ready))
    while table is not None:
        async with asyncio.TaskGroup() as tasks:
            playing = [tasks.create_task(play_seat(context, one, table, random)) for one in people]
        is_over = any(task.result() for task in playing)
        if not is_over or context.is_stopping or random.random() >= REMATCH_SHARE:
            return
        table = await _play_again(context, people, table.table_id)
    context.measures.record_failure("opening a table: it was not opened", f"table of {entry.game} for {seats}")


def _member(context: UserContext, client: PlayerClient, own: OwnTables, random: Random) -> GroupMember:
    behaviour = draw_behaviour(context, random)
    return GroupMember(client, behaviour, random.randbytes(SEED_BYTES) if random.random() < 0.5 else b"", own)


def _seeds(people: Sequence[GroupMember]) -> list[tuple[PlayerClient, bytes]]:
    return [(one.client, one.client_seed) for one in people]


async def _play_again(context: UserContext, people: Sequence[GroupMember], table_id: str) -> tables_pb2.Table | None:
    """Let all players ask at once for the table that follows a finished one, and begin its game, as `begin` does."""
    answers = await asyncio.gather(*(_rematch(one.client, table_id) for one in people))
    finished = (await people[0].client.get_table(table_id=table_id)).table
    context.measures.record_violations(check_rematch(finished, finished.next_table_id, answers))
    context.measures.count("checked rematches")
    return await begin(finished.next_table_id, _seeds(people))


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
    record.is_private = table.access.visibility != tables_pb2.VISIBILITY_EVERYONE
    player_id = member.client.player.player_id
    # At a table that is played again a bot may have seat 0.
    is_counter = next(seat.player_id for seat in table.seats if seat.player_id) == player_id
    viewer = context.tables.add_viewer(record, player_id, member.behaviour, member.client_seed, is_counter=is_counter)
    own_random, action_seconds = Random(random.random()), table.time_control.action_time.ToTimedelta().total_seconds()
    playing = SeatPlayer(context, member.client, table.table_id, viewer, own_random, action_seconds).play()
    if member.own is None or not member.own.sat_down(table):
        return playing
    return _list_and(context, playing, member.own, viewer) if own_random.random() < LISTING_SHARE else playing


async def _list_and(
    context: UserContext, playing: Coroutine[None, None, bool], own: OwnTables, viewer: SeatRecord
) -> bool:
    """List the player's tables, and play."""
    try:
        await own.list(viewer)
    except CroupierError as error:
        count_failure(context.measures, "listing own tables", error)
    except asyncio.CancelledError:
        playing.close()
        raise
    return await playing


def draw_behaviour(context: UserContext, random: Random) -> Behaviour:
    """Return a behaviour, drawn by the scenario's weights."""
    behaviours = context.settings.scenario.behaviours
    return random.choices(list(behaviours), list(behaviours.values()))[0]


async def matcher(context: UserContext, name: str) -> None:
    """Be matched with others by quick match and play, again and again until the run drains."""
    client = context.guest(name)
    client_seed = context.random(f"{name} seed").randbytes(SEED_BYTES)
    matched: set[str] = set()
    for number in count(1):
        if context.is_stopping:
            return
        random = context.random(f"{name}/{number}")
        criteria = random.choice(_match_criteria(context))
        bots_after = BOTS_AFTER_SECONDS if random.random() < BOTS_AFTER_SHARE else None
        try:
            table = await client.be_matched(
                **criteria._asdict(), client_seed=client_seed, bots_after_seconds=bots_after
            )
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
        assert client.player is not None
        if next(seat.player_id for seat in table.seats if seat.player_id) == client.player.player_id:
            context.measures.count(f"quick matches {table.game}")
        await _check_match(context, client, criteria, table, may_have_bots=bots_after is not None)
        member = GroupMember(client, draw_behaviour(context, random), client_seed)
        # A player may be matched after a time-out too: the next call returns that table, with that seed.
        client_seed = context.random(f"{name}/{number} seed").randbytes(SEED_BYTES)
        await play_seat(context, member, table, random)


class MatchCriteria(NamedTuple):
    """A game, its number of seats and the name of a preset, empty for none."""

    game: str
    seat_count: int
    preset: str


async def _check_match(
    context: UserContext, client: PlayerClient, criteria: MatchCriteria, table: tables_pb2.Table, *, may_have_bots: bool
) -> None:
    """Compare a match with what the player has searched for."""
    assert client.player is not None
    preset = None
    if criteria.preset:
        try:
            games = (await client.list_games()).games
        except CroupierError as error:
            count_failure(context.measures, "reading presets", error)
            return
        presets = next(one.presets for one in games if one.game == criteria.game)
        preset = next(one for one in presets if one.name == criteria.preset)
    violations = check_match(
        client.player.player_id, criteria.game, criteria.seat_count, preset, table, may_have_bots=may_have_bots
    )
    context.measures.record_violations(violations)
    context.measures.count("checked matches")


def _match_criteria(context: UserContext) -> list[MatchCriteria]:
    """Return what all matched players, in every process, search for at this time."""
    random = context.random(f"criteria {int(time.time() / CRITERIA_SECONDS)}")
    entries = [draw_entry(matchable(context.settings.games), random) for _ in range(context.settings.match_criteria)]
    return [
        MatchCriteria(
            entry.game,
            random.choice([seats for seats in entry.seats if seats <= MAX_SEATS] or [min(entry.seats)]),
            entry.preset if random.random() < PRESET_SHARE else "",
        )
        for entry in entries
    ]
