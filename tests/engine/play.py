"""Tables of any game, and ways to play them on."""

import asyncio
from collections.abc import Awaitable, Iterator, Sequence
from random import Random
from typing import TypeVar

import pytest

from croupier.engine.live import LiveTable
from croupier.engine.log import ActedBy, ClockConfig, Entry, Proposed, SeatConfig, TableConfig, TimeCredited, Voted
from croupier.engine.proposals import PROPOSAL_MILLISECONDS, refusal_of
from croupier.engine.streams import Subscription
from croupier.engine.table import Step, TableState, advance, new_table
from croupier.engine.voting import steps_when_agreed
from croupier.games.actions import Action
from croupier.games.bots import random_of
from croupier.games.catalogue import GAMES, rules_of
from croupier.games.facts import SPECTATOR, Seat, Viewer
from croupier.games.interface import OptionValue, SeatActed, resolve_options
from croupier_api.v1 import engine_pb2
from tests.engine.fakes import START, Bench
from tests.waiting import PATIENCE_SECONDS

CLOCK = ClockConfig(action_milliseconds=30_000, reserve_milliseconds=10_000, bot_delay_milliseconds=1_000)
SEED = bytes(range(32))
Waited = TypeVar("Waited")

ROUNDS: dict[str, dict[str, OptionValue]] = {
    "thulla": {"best_of": 3, "scoring": "cards"},
    "solo": {"do_factor": 1, "through_factor": 1},
}
"""Options with which play by chance has a few rounds, so that there are deals while somebody watches."""

LIMITS: dict[str, dict[str, OptionValue]] = {"one_ten": {"max_rounds": 3}}
"""Options without which play by chance may not end."""

every_game = pytest.mark.parametrize("game", list(GAMES))


async def soon(awaitable: Awaitable[Waited]) -> Waited:
    """Await with a limit, so that what never comes is a failure."""
    return await asyncio.wait_for(awaitable, PATIENCE_SECONDS)


def viewers(config: TableConfig) -> tuple[Viewer, ...]:
    """Every seat and the spectators."""
    return (*range(config.seat_count), SPECTATOR)


def people(count: int) -> tuple[SeatConfig, ...]:
    """Seats with persons p0, p1 and so on."""
    return tuple(SeatConfig(f"p{seat}", f"Player {seat}") for seat in range(count))


def bots(count: int) -> tuple[SeatConfig, ...]:
    """Seats with computer players that pick by chance."""
    return tuple(SeatConfig("", f"Computer {seat}", "random") for seat in range(count))


def make_config(
    game: str = "thulla",
    seat_count: int = 0,
    seats: Sequence[SeatConfig] = (),
    options: dict[str, OptionValue] | None = None,
    clock: ClockConfig = CLOCK,
    seed: bytes = SEED,
    table_id: str = "t1",
) -> TableConfig:
    """A table that can be opened; the fewest seats of its game unless said otherwise."""
    count = seat_count or len(seats) or GAMES[game].seats.start
    resolved = resolve_options(GAMES[game], count, LIMITS.get(game, {}) | (options or {}))
    return TableConfig(
        table_id,
        game,
        GAMES[game].rules_version,
        count,
        resolved,
        clock,
        seed,
        tuple(seats) or people(count),
        (b"",) * count,
    )


async def open_table(engine: Bench, config: TableConfig) -> LiveTable:
    """A table in play on an engine's store."""
    first = advance(config, new_table(config), engine.clock(), None)
    await engine.store.open(config, [made.entry for made in first])
    table = await take_up(engine, config.table_id)
    table.is_leading = True
    table.look()
    return table


async def take_up(engine: Bench, table_id: str) -> LiveTable:
    """The table as an engine that has just started reads it."""
    stored = await engine.store.load(table_id)
    assert stored
    return LiveTable(stored.config, stored.entries, engine.services)


def choice(table: TableState, random: Random) -> tuple[Seat, Action]:
    """A seat that is to act and something that it may do."""
    seat = random.choice(table.seats_to_act)
    return seat, random_of(table.game.legal_actions(seat), random.randrange)


async def act_once(table: LiveTable, random: Random) -> int:
    """One legal action through the live table; gives its sequence."""
    seat, action = choice(table.state, random)
    return await table.act(seat, action, f"r{table.state.sequence}", None)


async def play_on(table: LiveTable, random: Random, most: int = 10_000) -> None:
    """Legal actions until the game is over, or so many."""
    for _ in range(most):
        if table.state.is_over:
            return
        await act_once(table, random)


def by_chance(config: TableConfig, table: TableState, at: int, random: Random) -> list[Step]:
    """What happens next: an action, also because time has run out, or time is given back, or all seats agree."""
    chance = random.random()
    if chance < 0.1:
        return advance(config, table, at, TimeCredited(random.randrange(1, 9_000)))
    proposals = [
        name for name in rules_of(config.game, config.rules_version).proposals if not refusal_of(table.game, name)
    ]
    if chance < 0.2 and proposals:
        return agree(config, table, at, random.choice(proposals))
    acted = SeatActed(*choice(table, random))
    if random.random() < 0.3:
        return advance(config, table, at, acted, ActedBy.TIMEOUT)
    return advance(config, table, at, acted, request_id=f"r{table.sequence}")


def agree(config: TableConfig, table: TableState, at: int, proposal: str) -> list[Step]:
    """The first seat proposes something, and all others agree."""
    steps = advance(config, table, at, Proposed(0, proposal, at + PROPOSAL_MILLISECONDS), request_id="p")
    for seat in range(1, config.seat_count):
        vote = Voted(seat, steps[0].entry.sequence, agree=True)
        steps += advance(config, steps[-1].after, at, vote, request_id=f"v{seat}")
    return steps + steps_when_agreed(config, steps[-1].after, at)


def walk(config: TableConfig, random: Random) -> Iterator[Step]:
    """A random game without an engine, step by step; time passes in between."""
    at, table = START, new_table(config)
    steps = advance(config, table, at, None)
    while True:
        yield from steps
        table = steps[-1].after
        if table.is_over:
            return
        at += random.randrange(45_000)
        steps = by_chance(config, table, at, random)


def whole_log(config: TableConfig, random: Random) -> list[Entry]:
    """The log of a random game."""
    return [made.entry for made in walk(config, random)]


async def taken(stream: Subscription) -> list[bytes]:
    """What waits in a stream now."""
    messages = []
    while stream.waiting:
        message = await soon(stream.next())
        assert message is not None
        messages.append(message)
    return messages


async def until_end(stream: Subscription) -> list[bytes]:
    """All messages of a stream up to its end."""
    messages = []
    while (message := await soon(stream.next())) is not None:
        messages.append(message)
    return messages


def parsed(message: bytes) -> engine_pb2.PlayResponse:
    """A message of a stream."""
    return engine_pb2.PlayResponse.FromString(message)
