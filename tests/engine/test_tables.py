"""Preparing, opening and finding tables."""

import asyncio
import gc
import weakref
from dataclasses import replace
from random import Random, randbytes
from typing import Any

import pytest

from croupier.engine.log import ClockConfig, SeatConfig, TableConfig
from croupier.engine.shuffles import commitment
from croupier.engine.tables import FINISHED_IDLE_MILLISECONDS, Tables
from croupier.games.catalogue import GAMES
from croupier.games.interface import OptionValue, resolve_options
from croupier.runtime.errors import AlreadyExists, IllegalNow, LimitReached, MalformedRequest, NotFound
from tests.engine.fakes import Bench, StoreDown
from tests.engine.play import CLOCK, every_game, make_config, people, play_on, soon
from tests.waiting import settled

IDLE_MILLISECONDS = 120_000


@pytest.fixture
def tables(engine: Bench) -> Tables:
    return Tables(engine.services, randbytes, most_open_tables=3)


async def prepare(tables: Tables, table_id: str = "t1", **changes: Any) -> TableConfig:
    asked: dict[str, Any] = {"game": "thulla", "seats": 3, "options": {}, "clock": CLOCK} | changes
    return await tables.prepare(table_id, **asked)


async def opened(tables: Tables, table_id: str = "t1") -> None:
    await prepare(tables, table_id)
    await tables.open(table_id, people(3), [b"", b"x", b""])


@every_game
async def test_preparing_resolves_options_and_commits_to_a_seed(tables: Tables, game: str) -> None:
    seats = make_config(game).seat_count
    config = await prepare(tables, game=game, seats=seats)
    assert config.options == resolve_options(GAMES[game], seats, {})
    assert config.commitment == commitment(config.seed)
    assert len(config.seed) == 32


async def test_preparing_again_gives_the_same_and_another_table_is_refused(tables: Tables) -> None:
    config = await prepare(tables)
    assert await prepare(tables) == config
    assert await prepare(tables, options={"best_of": 1}) == config
    different: tuple[dict[str, Any], ...] = (
        {"game": "one_oh_one"},
        {"seats": 4},
        {"options": {"best_of": 3}},
        {"clock": replace(CLOCK, bot_delay_milliseconds=5)},
    )
    for changes in different:
        with pytest.raises(AlreadyExists) as refusal:
            await prepare(tables, **changes)
        assert refusal.value.reason == "TABLE_EXISTS"
    await tables.open("t1", people(3), [b""] * 3)
    assert (await prepare(tables)).commitment == config.commitment


BAD_OPTIONS: tuple[dict[str, OptionValue], ...] = (
    {"nothing": 1},
    {"best_of": 2},
    {"best_of": "3"},
    {"best_of": True},
    {"start": "never"},
    {"start": 1},
    {"stall_limit": -1},
)
REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"game": "snap"}, "UNKNOWN_GAME", "game"),
    ({"game": ""}, "UNKNOWN_GAME", "game"),
    ({"seats": 0}, "SEATS", "seats"),
    ({"seats": 1}, "SEATS", "seats"),
    ({"seats": 7}, "SEATS", "seats"),
    ({"seats": 2**32 - 1}, "SEATS", "seats"),
    *(({"options": options}, "OPTION", next(iter(options))) for options in BAD_OPTIONS),
    ({"clock": ClockConfig(4_000, 0, 0)}, "CLOCK", "clock.action_seconds"),
    ({"clock": ClockConfig(86_401_000, 0, 0)}, "CLOCK", "clock.action_seconds"),
    ({"clock": ClockConfig(30_000, 86_401_000, 0)}, "CLOCK", "clock.reserve_seconds"),
    ({"clock": ClockConfig(30_000, 0, 10_001)}, "CLOCK", "clock.bot_delay_milliseconds"),
    ({"table_id": ""}, "TEXT_LENGTH", "table_id"),
    ({"table_id": "x" * 65}, "TEXT_LENGTH", "table_id"),
    ({"table_id": "a\nb"}, "TEXT_LENGTH", "table_id"),
    ({"table_id": "a\x00"}, "TEXT_LENGTH", "table_id"),
]


@pytest.mark.parametrize(("changes", "reason", "field"), REFUSED, ids=str)
async def test_what_cannot_be_prepared_is_refused_with_its_field(
    engine: Bench, tables: Tables, changes: dict[str, Any], reason: str, field: str
) -> None:
    with pytest.raises(MalformedRequest) as refusal:
        await prepare(tables, **changes)
    assert (refusal.value.reason, refusal.value.field) == (reason, field)
    assert engine.store.tables == {}


async def test_the_limits_themselves_are_allowed(tables: Tables) -> None:
    await prepare(tables, "x" * 64, clock=ClockConfig(5_000, 0, 0), seats=2)
    await prepare(tables, "y", clock=ClockConfig(86_400_000, 86_400_000, 10_000), seats=6)


async def test_opening_deals_and_opening_again_changes_nothing(engine: Bench, tables: Tables) -> None:
    await opened(tables)
    first = (await tables.get("t1")).entries
    assert len(first) == 1
    await tables.open("t1", people(3), [b"", b"x", b""])
    assert (await tables.get("t1")).entries == first
    others: tuple[tuple[tuple[SeatConfig, ...], list[bytes]], ...] = (
        (tuple(reversed(people(3))), [b"", b"x", b""]),
        (people(3), [b"", b"y", b""]),
    )
    for seats, seeds in others:
        with pytest.raises(AlreadyExists) as refusal:
            await tables.open("t1", seats, seeds)
        assert refusal.value.reason == "TABLE_OPEN"
    assert len(engine.store.tables["t1"].entries) == 1


async def test_opening_at_the_same_time_deals_once(engine: Bench, tables: Tables) -> None:
    await prepare(tables)
    other = Tables(engine.another_engine().services, randbytes, most_open_tables=3)
    await asyncio.gather(*(each.open("t1", people(3), [b""] * 3) for each in (tables, other, tables, other)))
    assert len(engine.store.tables["t1"].entries) == 1


def seats_with(**changes: str) -> tuple[SeatConfig, ...]:
    return (*people(2), replace(SeatConfig("p2", "Player 2"), **changes))


NOT_OPENED: list[tuple[tuple[SeatConfig, ...], list[bytes], str, str]] = [
    (people(2), [b""] * 2, "SEATS", "seats"),
    (people(4), [b""] * 4, "SEATS", "seats"),
    ((), [], "SEATS", "seats"),
    (people(3), [b""] * 2, "SEATS", "seats"),
    (people(3), [], "SEATS", "seats"),
    (people(3), [b"", b"", b"x" * 65], "CLIENT_SEED", "client_seeds"),
    (seats_with(name=""), [b""] * 3, "TEXT_LENGTH", "seats.name"),
    (seats_with(name="x" * 65), [b""] * 3, "TEXT_LENGTH", "seats.name"),
    (seats_with(name="a\tb"), [b""] * 3, "TEXT_LENGTH", "seats.name"),
    (seats_with(player_id=""), [b""] * 3, "TEXT_LENGTH", "seats.player_id"),
    (seats_with(player_id="x" * 65), [b""] * 3, "TEXT_LENGTH", "seats.player_id"),
    (seats_with(player_id="p0"), [b""] * 3, "SEATS", "seats"),
    (seats_with(player_id="", bot="genius"), [b""] * 3, "UNKNOWN_BOT", "seats.bot"),
]


@pytest.mark.parametrize(("seats", "seeds", "reason", "field"), NOT_OPENED, ids=range(len(NOT_OPENED)))
async def test_what_cannot_be_opened_is_refused_with_its_field(
    engine: Bench, tables: Tables, seats: tuple[SeatConfig, ...], seeds: list[bytes], reason: str, field: str
) -> None:
    await prepare(tables)
    with pytest.raises(MalformedRequest) as refusal:
        await tables.open("t1", seats, seeds)
    assert (refusal.value.reason, refusal.value.field) == (reason, field)
    assert engine.store.tables["t1"].status == "prepared"


async def test_what_was_not_prepared_cannot_be_opened_and_what_was_not_opened_not_found(tables: Tables) -> None:
    with pytest.raises(NotFound):
        await tables.open("t1", people(3), [b""] * 3)
    await prepare(tables)
    for table_id in ("t1", "nowhere"):
        with pytest.raises(NotFound):
            await tables.get(table_id)
    for table_id in ("", "x" * 65):
        with pytest.raises(MalformedRequest):
            await tables.get(table_id)


async def test_an_engine_carries_so_many_tables(tables: Tables) -> None:
    for number in range(3):
        await opened(tables, f"t{number}")
    await prepare(tables, "t3")
    with pytest.raises(LimitReached) as refusal:
        await tables.open("t3", people(3), [b""] * 3)
    assert refusal.value.reason == "TOO_MANY_TABLES"
    await tables.open("t0", people(3), [b"", b"x", b""])


async def test_tables_that_are_opened_at_once_find_no_more_places_than_there_are(tables: Tables) -> None:
    names = [f"t{number}" for number in range(6)]
    for name in names:
        await prepare(tables, name)
    opening = (tables.open(name, people(3), [b""] * 3) for name in names)
    refused = [error for error in await asyncio.gather(*opening, return_exceptions=True) if error is not None]
    assert [getattr(error, "reason", error) for error in refused] == ["TOO_MANY_TABLES"] * 3
    assert len(tables.in_memory) == 3
    # A place that was not used is free again.
    tables.tidy(-IDLE_MILLISECONDS)
    await tables.open("t5", people(3), [b""] * 3)


async def test_a_finished_table_leaves_memory_and_can_still_be_read(engine: Bench, tables: Tables, seed: int) -> None:
    await opened(tables)
    table = await tables.get("t1")
    with pytest.raises(IllegalNow) as refusal:
        await table.must_be_over()
    assert refusal.value.reason == "TABLE_NOT_FINISHED"
    tables.tidy(IDLE_MILLISECONDS)
    assert set(tables.in_memory) == {"t1"}
    await play_on(table, Random(seed))
    tables.tidy(IDLE_MILLISECONDS)
    assert set(tables.in_memory) == set()
    assert (await tables.get("t1")).state == table.state
    again = await Tables(engine.another_engine().services, randbytes, 3).get("t1")
    await again.must_be_over()
    assert again.state == table.state


async def test_an_engine_that_is_behind_asks_the_log_whether_the_game_is_over(engine: Bench, seed: int) -> None:
    tables = Tables(engine.services, randbytes, 3)
    await opened(tables)
    behind = await Tables(engine.another_engine().services, randbytes, 3).get("t1")
    await play_on(await tables.get("t1"), Random(seed))
    assert not behind.state.is_over
    await behind.must_be_over()
    assert behind.state.is_over


async def test_finished_tables_in_memory_are_bounded(engine: Bench, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.engine.tables.MOST_FINISHED_IN_MEMORY", 2)
    tables = Tables(engine.services, randbytes, 100)
    for number in range(4):
        await opened(tables, f"t{number}")
        await play_on(await tables.get(f"t{number}"), Random(seed))
    tables.tidy(IDLE_MILLISECONDS)
    loads = engine.store.loads
    await tables.get("t3")
    assert engine.store.loads == loads
    assert (await tables.get("t0")).state.is_over
    assert engine.store.loads == loads + 1


async def test_a_finished_table_that_nobody_uses_leaves_memory_altogether(
    engine: Bench, tables: Tables, seed: int
) -> None:
    await opened(tables)
    await play_on(await tables.get("t1"), Random(seed))
    engine.clock.advance(FINISHED_IDLE_MILLISECONDS)
    tables.tidy(IDLE_MILLISECONDS)
    loads = engine.store.loads
    await tables.get("t1")
    assert engine.store.loads == loads
    engine.clock.advance(FINISHED_IDLE_MILLISECONDS + 1)
    tables.tidy(IDLE_MILLISECONDS)
    assert (await tables.get("t1")).state.is_over
    assert engine.store.loads == loads + 1


@pytest.mark.parametrize("is_over", [False, True])
async def test_what_leaves_memory_is_gone_without_a_search_for_circles(
    engine: Bench, tables: Tables, seed: int, is_over: bool
) -> None:
    await prepare(tables, "t1", clock=ClockConfig(86_400_000, 0, 0))
    await tables.open("t1", people(3), [b"", b"", b""])
    if is_over:
        await play_on(await tables.get("t1"), Random(seed))
    table = weakref.ref(await tables.get("t1"))
    tables.tidy(IDLE_MILLISECONDS)
    await settled()
    gc.disable()
    try:
        engine.clock.advance(IDLE_MILLISECONDS + 1)
        tables.tidy(IDLE_MILLISECONDS)
        assert table() is None
    finally:
        gc.enable()


async def test_asking_at_the_same_time_reads_a_table_once(engine: Bench, tables: Tables) -> None:
    await opened(tables)
    fresh = Tables(engine.another_engine().services, randbytes, 3)
    before = engine.store.loads
    found = await asyncio.gather(*(fresh.get("t1") for _ in range(10)))
    assert engine.store.loads == before + 1
    assert len({id(table) for table in found}) == 1


async def test_one_who_gives_up_while_a_table_is_read_does_not_stop_the_others(engine: Bench, tables: Tables) -> None:
    await opened(tables)
    fresh = Tables(engine.another_engine().services, randbytes, 3)
    first, second = asyncio.create_task(fresh.get("t1")), asyncio.create_task(fresh.get("t1"))
    await settled()
    first.cancel()
    assert (await soon(second)).state.sequence == 1


async def test_a_table_that_could_not_be_read_is_read_again(engine: Bench, tables: Tables) -> None:
    await opened(tables)
    fresh = Tables(engine.another_engine().services, randbytes, 3)
    engine.store.reads_fail = True
    with pytest.raises(StoreDown):
        await fresh.get("t1")
    engine.store.reads_fail = False
    assert (await fresh.get("t1")).state.sequence == 1


async def test_a_table_that_could_not_be_read_for_one_who_has_gone_is_no_surprise(
    engine: Bench, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    await opened(tables)
    fresh = Tables(engine.another_engine().services, randbytes, 3)
    surprises: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: surprises.append(context))
    gone, failed = asyncio.Event(), asyncio.Event()

    async def load(_: str) -> None:
        await gone.wait()
        failed.set()
        raise StoreDown

    monkeypatch.setattr(engine.store, "load", load)
    asking = asyncio.create_task(fresh.get("t1"))
    await settled()
    asking.cancel()
    await asyncio.wait([asking])
    del asking
    gone.set()
    await failed.wait()
    await settled()
    gc.collect()
    assert not surprises


async def test_what_the_seats_add_changes_the_deal(engine: Bench) -> None:
    tables = Tables(engine.services, bytes, most_open_tables=3)
    deals = []
    for number, seeds in enumerate(([b""] * 3, [b"x", b"", b""], [b"", b"x", b""])):
        await prepare(tables, f"t{number}")
        await tables.open(f"t{number}", people(3), seeds)
        deals.append((await tables.get(f"t{number}")).entries[0].event)
    assert len(set(deals)) == 3
