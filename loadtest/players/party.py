"""People who play table after table, each in a manner of his own: as parties, or with whom they are matched."""

import asyncio
import time
from collections.abc import Coroutine, Mapping, Sequence
from itertools import count
from random import Random
from typing import NamedTuple

from croupier_api.v1 import engine_pb2, lobby_pb2, table_pb2
from croupier_client import CroupierError, InvalidArgument, TimedOut
from loadtest.mix import Kind, OptionValue, drawn, matchable
from loadtest.players.client import PlayerClient
from loadtest.players.seat import SeatPlayer
from loadtest.players.world import World, tell_failure
from loadtest.record import TableRecord
from loadtest.scenarios import Manner

HOUSE_RULES = 0.5
"""How often a table has other options than the usual ones."""
COMPUTER_PLAYER = 0.1
"""How often the last seat is a computer player's."""
SEED_BYTES = 16
PAUSE_SECONDS = 0.5
POLL_SECONDS = 0.2
OPENING_SECONDS = 30.0
FASHION_SECONDS = 15.0
MOST_SEATS = 4
"""People wish for tables that others wish for as well."""
USUAL_CLOCK = table_pb2.Clock(action_seconds=30, reserve_seconds=60)
QUICK_CLOCK = table_pb2.Clock(action_seconds=5, reserve_seconds=2)
"""For tables that somebody leaves, where the others have to wait for time to run out."""
LATE_CLOCK = table_pb2.Clock(action_seconds=5, reserve_seconds=20)
"""For tables at which somebody plays on the reserve."""


class Person(NamedTuple):
    """One of a party, at one table."""

    client: PlayerClient
    manner: Manner
    client_seed: bytes


async def party(world: World, name: str) -> None:
    """Play table after table until time is up."""
    guests = [world.guest(f"{name}-{seat}") for seat in range(max(max(kind.seats) for kind in world.manners.games))]
    for number in count(1):
        if world.is_time_up:
            return
        random = world.random(f"{name}/{number}")
        try:
            await _play_one(world, guests, random)
        except CroupierError as error:
            tell_failure(world.measures, "opening a table", error)
            await world.sleep(PAUSE_SECONDS)


async def _play_one(world: World, guests: Sequence[PlayerClient], random: Random) -> None:
    kind = drawn(world.manners.games, random)
    seats = random.choice(kind.seats)
    has_bot = seats > 2 and random.random() < COMPUTER_PLAYER
    people = [
        Person(client, drawn_manner(world, random), random.randbytes(SEED_BYTES) if random.random() < 0.5 else b"")
        for client in guests[: seats - has_bot]
    ]
    clock = _clock_for({one.manner for one in people})
    table = await _formed(people, kind, seats, clock, random)
    if table is None:
        world.measures.failed("opening a table: it was not opened", f"table of {kind.game} for {seats}")
        return
    async with asyncio.TaskGroup() as group:
        for one in people:
            group.create_task(seated(world, one, table, clock, random))


def _clock_for(manners: set[Manner]) -> table_pb2.Clock:
    if Manner.LEAVER in manners:
        return QUICK_CLOCK
    return LATE_CLOCK if Manner.LATE in manners else USUAL_CLOCK


def seated(
    world: World, person: Person, table: lobby_pb2.Table, clock: table_pb2.Clock, random: Random
) -> Coroutine[None, None, None]:
    """How a person plays at a table that is open."""
    assert person.client.player is not None
    record = TableRecord(table.table_id, table.game, len(table.seats), table.commitment)
    player_id = person.client.player.player_id
    counts = table.seats[0].occupant.player_id == player_id
    viewer = world.tables.sit_down(record, player_id, person.manner, person.client_seed, counts=counts)
    chance = Random(random.random())
    return SeatPlayer(world, person.client, table.table_id, viewer, chance, clock.action_seconds).play()


def drawn_manner(world: World, random: Random) -> Manner:
    """A manner, by the scenario's weights."""
    manners = world.manners.scenario.manners
    return random.choices(list(manners), list(manners.values()))[0]


async def _formed(
    people: Sequence[Person], kind: Kind, seats: int, clock: table_pb2.Clock, random: Random
) -> lobby_pb2.Table | None:
    """A table that is open, with a seat for each of these people; None if it was not opened in time."""
    host = people[0].client
    table_id = (await _created(host, kind, seats, clock, random)).table_id
    for person in people[1:]:
        await person.client.join_table(table_id=table_id)
    for _ in range(seats - len(people)):
        await host.add_bot(table_id=table_id, bot="random")
    for person in people:
        await person.client.set_ready(table_id=table_id, client_seed=person.client_seed)
    deadline = time.monotonic() + OPENING_SECONDS
    while time.monotonic() < deadline:
        table = (await host.get_table(table_id=table_id)).table
        if table.state != lobby_pb2.TABLE_STATE_FORMING:
            return table
        await asyncio.sleep(POLL_SECONDS)
    return None


async def _created(
    host: PlayerClient, kind: Kind, seats: int, clock: table_pb2.Clock, random: Random
) -> lobby_pb2.Table:
    if random.random() < HOUSE_RULES:
        rules = await _house_rules(host, kind.game, random) | dict(kind.bounds)
        try:
            return (await host.create_table(game=kind.game, seats=seats, options=rules, clock=clock)).table
        except InvalidArgument:
            pass  # Not all of them go together with each other.
    return (await host.create_table(game=kind.game, seats=seats, options=kind.bounds, clock=clock)).table


async def _house_rules(host: PlayerClient, game_id: str, random: Random) -> dict[str, OptionValue]:
    """Any value for each option that lists its values."""
    games: Mapping[str, engine_pb2.GameDescription] = {one.game: one for one in (await host.list_games()).games}
    return {one.name: _value(one, random) for one in games[game_id].options if len(one.allowed_values) > 1}


def _value(option: engine_pb2.OptionDescription, random: Random) -> OptionValue:
    text = random.choice(option.allowed_values)
    return {"boolean": text == "true", "integer": int(text) if text.isdecimal() else 0}.get(option.type, text)


async def matcher(world: World, name: str) -> None:
    """Wish for a game, play with whom one is matched, and wish again until time is up."""
    client = world.guest(name)
    client_seed = world.random(f"{name} seed").randbytes(SEED_BYTES)
    for number in count(1):
        if world.is_time_up:
            return
        random = world.random(f"{name}/{number}")
        kind, seats = random.choice(_wishes(world))
        try:
            table = await client.matched(game=kind.game, seats=seats, client_seed=client_seed)
        except TimedOut:
            world.measures.count("wishes given up")
            continue
        except CroupierError as error:
            tell_failure(world.measures, "being matched", error)
            await world.sleep(PAUSE_SECONDS)
            continue
        if client.player is not None and table.seats[0].occupant.player_id == client.player.player_id:
            world.measures.count(f"quick matches {table.game}")
        person = Person(client, drawn_manner(world, random), client_seed)
        # A wish that was given up may have been matched just then: the next one brings that table, with that seed.
        client_seed = world.random(f"{name}/{number} seed").randbytes(SEED_BYTES)
        await seated(world, person, table, USUAL_CLOCK, random)


def _wishes(world: World) -> list[tuple[Kind, int]]:
    """What people wish for just now: everybody, in whichever process, of the same few games."""
    fashion = world.random(f"fashion {int(time.time() / FASHION_SECONDS)}")
    kinds = [drawn(matchable(world.manners.games), fashion) for _ in range(world.manners.wishes)]
    return [(kind, fashion.choice([seats for seats in kind.seats if seats <= MOST_SEATS])) for kind in kinds]
