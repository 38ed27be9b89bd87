"""Tables of any game, and functions that play them."""

import asyncio
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import suppress
from random import Random
from typing import TypeVar

import pytest

from croupier.engine.core.access import Need, Visitor
from croupier.engine.core.decide import PROPOSAL_MILLISECONDS, agreement, away
from croupier.engine.core.fold import TableState, Transition, advance, new_table, refusal_of
from croupier.engine.core.folded_table import FoldedTable
from croupier.engine.core.log import (
    ActedBy,
    AwaySet,
    ClockCompensated,
    ClockConfig,
    Entry,
    Proposed,
    SeatConfig,
    TableConfig,
    TableEnded,
    Voted,
)
from croupier.engine.storage.port import log_rows
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.replays import Replay
from croupier.engine.tables.subscription import Subscription
from croupier.engine.tables.table import Table
from croupier.games.actions import Action, Draw
from croupier.games.bots import random_of
from croupier.games.facts import SPECTATOR, Seat, Viewer
from croupier.games.interface import OptionValue, SeatActed, resolve_options
from croupier.games.registry import OWN_GAMES
from croupier.runtime.errors import ServiceError
from croupier.runtime.table_access import OPEN, TableAccess
from croupier_api.v1 import engine_pb2
from tests.engine.fakes import START, EngineHarness
from tests.waiting import TIMEOUT_SECONDS, settled

CLOCK = ClockConfig(30_000, 10_000, bot_delay_milliseconds=1_000, abandoned_milliseconds=180_000)
FULL_MILLISECONDS = CLOCK.action_milliseconds + CLOCK.reserve_milliseconds
"""The time of a seat that has not acted yet."""
SEED = bytes(range(32))
Waited = TypeVar("Waited")

ROUNDS: dict[str, dict[str, OptionValue]] = {
    "thulla": {"best_of": 3, "scoring": "cards"},
    "solo": {"do_factor": 1, "through_factor": 1},
}
"""Options with which random play has a few rounds, so that there are deals while spectators watch."""

LIMITS: dict[str, dict[str, OptionValue]] = {"one_ten": {"max_rounds": 3}}
"""Options without which random play may not end."""

ENDLESS: dict[str, OptionValue] = {"may_draw_instead": True, "deck": 104}
"""Options of 101 with which seats may draw all the time."""

every_game = pytest.mark.parametrize("game", list(OWN_GAMES))


async def within_timeout(awaitable: Awaitable[Waited]) -> Waited:
    return await asyncio.wait_for(awaitable, TIMEOUT_SECONDS)


def viewers(config: TableConfig) -> tuple[Viewer, ...]:
    return (*range(config.seat_count), SPECTATOR)


def people(count: int) -> tuple[SeatConfig, ...]:
    """Return seats with persons p0, p1 and so on."""
    return tuple(SeatConfig(f"p{seat}", f"Player {seat}") for seat in range(count))


def bots(count: int) -> tuple[SeatConfig, ...]:
    return tuple(SeatConfig("", f"Computer {seat}", "random") for seat in range(count))


def make_config(
    game: str = "thulla",
    seat_count: int = 0,
    seats: Sequence[SeatConfig] = (),
    options: dict[str, OptionValue] | None = None,
    clock: ClockConfig = CLOCK,
    seed: bytes = SEED,
    table_id: str = "t1",
    access: TableAccess = OPEN,
) -> TableConfig:
    """Return a table's configuration, by default with the minimum of seats."""
    count = seat_count or len(seats) or OWN_GAMES[game].seats.start
    resolved = resolve_options(OWN_GAMES[game], count, LIMITS.get(game, {}) | (options or {}))
    return TableConfig(
        table_id,
        game,
        OWN_GAMES[game].rules_version,
        count,
        resolved,
        clock,
        seed,
        tuple(seats) or people(count),
        (b"",) * count,
        access,
    )


def dealt(config: TableConfig) -> TableState:
    return advance(config, new_table(config), START, None)[-1].after


async def open_table(engine: EngineHarness, config: TableConfig) -> Table:
    """Return an open table on an engine's store."""
    first = advance(config, new_table(config), engine.clock(), None)
    await engine.store.open(config, [transition.entry for transition in first], first[-1].after.turn)
    table = await reload_table(engine, config.table_id)
    table.is_last_writer = True
    table.schedule_turn()
    return table


async def reload_table(engine: EngineHarness, table_id: str) -> Table:
    """Return the table as a new engine loads it."""
    stored = await engine.store.find(table_id)
    assert stored
    folded = FoldedTable(stored.config)
    async for row in log_rows(engine.store, table_id):
        folded.add(row)
    return engine.table(folded)


def choice(table: TableState, random: Random) -> tuple[Seat, Action]:
    seat = random.choice(table.seats_to_act)
    return seat, random_of(table.legal_actions(seat), random.randrange)


def some_action(table: TableState) -> SeatActed:
    """Return a legal action, always the same."""
    return SeatActed(*choice(table, Random(1)))


def draw(table: TableState, random: Random) -> tuple[Seat, Action]:
    """Return a legal action that draws a card if one does: with ENDLESS options a game of 101 goes on and on."""
    seat, action = choice(table, random)
    return seat, Draw() if Draw() in table.legal_actions(seat).actions else action


async def act_once(table: Table, random: Random) -> int:
    """Submit one legal action to the live table; returns its sequence."""
    seat, action = choice(table.state, random)
    return await table.append_once(SeatActed(seat, action), f"r{table.state.sequence}")


async def play_on(table: Table, random: Random, max_actions: int = 10_000) -> None:
    """Submit legal actions until the game is over, `max_actions` at most."""
    for _ in range(max_actions):
        if table.state.is_over:
            return
        await act_once(table, random)


def random_event(config: TableConfig, table: TableState, at: int, random: Random) -> list[Transition]:
    """Return the transitions of a random event.

    An action, a time-out, a compensation, an agreed proposal, or a player who leaves or returns.
    """
    chance = random.random()
    if chance < 0.1:
        return advance(config, table, at, ClockCompensated(random.randrange(1, 9_000)))
    asked = AwaySet(random.randrange(config.seat_count), random.random() < 0.5)
    if chance > 0.9 and (transitions := away(config, table, at, asked, f"a{table.sequence}", [])):
        return transitions
    proposals = [name for name in table.rules.proposals if not refusal_of(table.rules, table.game, name)]
    if chance < 0.2 and proposals:
        return agree(config, table, at, random.choice(proposals))
    acted = SeatActed(*choice(table, random))
    if random.random() < 0.3:
        return advance(config, table, at, acted, ActedBy.TIMEOUT)
    return advance(config, table, at, acted, request_id=f"r{table.sequence}")


def agree(config: TableConfig, table: TableState, at: int, proposal: str) -> list[Transition]:
    """Return a proposal of the first seat, and the agreement of all others."""
    transitions = advance(config, table, at, Proposed(0, proposal, at + PROPOSAL_MILLISECONDS), request_id="p")
    for seat in range(1, config.seat_count):
        vote = Voted(seat, transitions[0].entry.sequence, agree=True)
        transitions += advance(config, transitions[-1].after, at, vote, request_id=f"v{seat}")
    return transitions + agreement(config, transitions[-1].after, at)


def walk(config: TableConfig, random: Random, max_entries: int = 1_000_000) -> Iterator[Transition]:
    """Yield the transitions of a random game without an engine, up to the limit; time passes in between."""
    at, table = START, new_table(config)
    transitions = advance(config, table, at, None)
    while True:
        yield from transitions
        table = transitions[-1].after
        if table.is_over:
            return
        at += random.randrange(45_000)
        if table.sequence >= max_entries:
            yield from advance(config, table, at, TableEnded("entries"))
            return
        transitions = random_event(config, table, at, random)


def whole_log(config: TableConfig, random: Random) -> list[Entry]:
    return [transition.entry for transition in walk(config, random)]


async def pending_messages(stream: Subscription) -> list[bytes]:
    """Return the messages of a stream, but those of presence, that can be taken now, before its end or its error."""
    return [message for message in await pending_of_all_kinds(stream) if not is_presence(message)]


async def pending_of_all_kinds(stream: Subscription) -> list[bytes]:
    """Return the messages of a stream that can be taken now, before its end or its error."""
    messages: list[bytes] = []
    with suppress(ServiceError):
        while True:
            taking = asyncio.ensure_future(stream.next())
            await settled()
            if not taking.done():
                taking.cancel()
                break
            if (message := taking.result()) is None:
                break
            messages.append(message)
    return messages


async def live_stream(table: Table, viewer: Viewer) -> Subscription:
    """Return a new stream of the table after its first message, the state of the turn."""
    stream = table.subscribe(viewer, table.state.sequence)
    (message,) = await pending_messages(stream)
    assert event_of(message).HasField("turn_state")
    return stream


async def until_end(stream: Subscription) -> list[bytes]:
    """Return all messages of a stream, but those of presence."""
    messages = []
    while (message := await within_timeout(stream.next())) is not None:
        if not is_presence(message):
            messages.append(message)
    return messages


def is_presence(message: bytes) -> bool:
    return event_of(message).HasField("presence")


def parsed(message: bytes) -> engine_pb2.PlayTableResponse:
    return engine_pb2.PlayTableResponse.FromString(message)


def event_of(message: bytes) -> engine_pb2.TableEvent:
    """Return the event of a message, which WatchTable streams have under the same number."""
    event = parsed(message).table_event
    assert engine_pb2.WatchTableResponse.FromString(message).table_event == event
    return event


async def replay_of(tables: Tables, table_id: str, player_id: str, viewer: Viewer | None = None) -> Replay:
    """Return the replay of a table for a player, as a file or for a viewer; raises as their calls do."""
    visitor = Visitor(player_id)
    return await tables.replay(await tables.find(table_id, visitor, Need.REPLAY), visitor, viewer)
