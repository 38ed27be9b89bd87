"""The registry: preparing, opening and finding tables."""

import asyncio
import gc
import weakref
from collections.abc import Awaitable, Callable
from dataclasses import replace
from random import Random, randbytes
from typing import Any
from unittest.mock import AsyncMock

import pytest

from croupier.engine.core.log import ClockConfig, SeatConfig, TableConfig
from croupier.engine.core.shuffles import commitment, revised_seed
from croupier.engine.tables.memory import FINISHED_IDLE_MILLISECONDS
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.table_checks import Revision
from croupier.games.interface import resolve_options
from croupier.games.registry import OWN_GAMES
from croupier.runtime.errors import AlreadyExists, IllegalNow, LimitReached, MalformedRequest, NotFound
from tests.engine.fakes import EngineHarness, StoreDown
from tests.engine.play import CLOCK, every_game, make_config, people, play_on, within_timeout
from tests.engine.timing import HeldCall
from tests.waiting import settled

IDLE_MILLISECONDS = 120_000


@pytest.fixture
def tables(engine: EngineHarness) -> Tables:
    return engine.tables(3, randbytes)


@pytest.fixture
def other(engine: EngineHarness) -> Tables:
    return engine.another_engine().tables(3, randbytes)


async def prepare(tables: Tables, table_id: str = "t1", **changes: Any) -> TableConfig:
    asked: dict[str, Any] = {"game": "thulla", "seats": 3, "options": {}, "clock": CLOCK} | changes
    return await tables.prepare(table_id, **asked)


async def opened(tables: Tables, table_id: str = "t1", **changes: Any) -> None:
    await prepare(tables, table_id)
    await tables.open(table_id, **{"seats": people(3), "client_seeds": [b"", b"x", b""]} | changes)


@every_game
async def test_preparing_resolves_options_and_commits_to_a_seed(tables: Tables, game: str) -> None:
    seats = make_config(game).seat_count
    config = await prepare(tables, game=game, seats=seats)
    assert config.options == resolve_options(OWN_GAMES[game], seats, {})
    assert config.commitment == commitment(config.seed)
    assert len(config.seed) == 32


async def test_preparing_again_returns_the_same_and_another_table_is_refused(tables: Tables) -> None:
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
        assert refusal.value.reason_name == "TABLE_EXISTS"
    await tables.open("t1", people(3), [b""] * 3)
    assert (await prepare(tables)).commitment == config.commitment


async def test_each_revision_has_a_seed_of_its_own_that_follows_from_the_first(tables: Tables, other: Tables) -> None:
    config = await prepare(tables)
    revised = [await prepare(tables, revision=number, seats=2, options={"best_of": 3}) for number in (1, 2)]
    assert len({config.commitment, *(each.commitment for each in revised)}) == 3
    assert [each.seed for each in revised] == [revised_seed(config.seed, number) for number in (1, 2)]
    assert (revised[0].seat_count, revised[0].options["best_of"]) == (2, 3)
    # Whatever was asked for meanwhile, at any engine.
    assert (await prepare(other, revision=1, seats=2, options={"best_of": 3})).seed == revised[0].seed
    assert await prepare(tables) == config
    with pytest.raises(AlreadyExists):
        await prepare(tables, revision=3, game="one_oh_one")


async def test_the_revision_that_is_opened_is_played_and_opening_it_again_changes_nothing(
    engine: EngineHarness, tables: Tables, other: Tables
) -> None:
    await prepare(tables)
    revised = await prepare(tables, revision=2, seats=2, options={"best_of": 3})
    await prepare(tables, revision=3)
    revision = Revision(2, revised.rules_version, revised.options, revised.clock)
    await asyncio.gather(
        *(each.open("t1", people(2), [b"a", b"b"], revision=revision) for each in (tables, other, tables))
    )
    config = engine.store.tables["t1"].config
    assert config == replace(revised, seats=people(2), client_seeds=(b"a", b"b"))
    assert (await tables.get("t1")).config == config
    with pytest.raises(AlreadyExists) as refusal:
        await tables.open("t1", people(2), [b"a", b"b"], revision=revision._replace(options={"best_of": 1}))
    assert refusal.value.reason_name == "TABLE_ALREADY_OPEN"


@pytest.mark.parametrize(
    ("changes", "reason", "field"),
    [
        ({"options": {"nothing": 1}}, "INVALID_OPTION", "options.nothing"),
        ({"clock": ClockConfig(4_000, 0, 0)}, "INVALID_FIELD", "time_control.action_time"),
    ],
)
async def test_an_invalid_revision_is_not_opened(
    engine: EngineHarness, tables: Tables, changes: dict[str, Any], reason: str, field: str
) -> None:
    config = await prepare(tables)
    revision = Revision(1, config.rules_version, config.options, config.clock)._replace(**changes)
    with pytest.raises(MalformedRequest) as refusal:
        await tables.open("t1", people(3), [b""] * 3, revision=revision)
    assert (refusal.value.reason_name, refusal.value.field) == (reason, field)
    assert engine.store.tables["t1"].status == "prepared"


async def test_a_table_that_is_only_checked_is_not_stored(engine: EngineHarness, tables: Tables) -> None:
    assert (await tables.check("t1", "thulla", 3, {}, CLOCK)).options == resolve_options(OWN_GAMES["thulla"], 3, {})
    with pytest.raises(MalformedRequest):
        await tables.check("t1", "thulla", 3, {"nothing": 1}, CLOCK)
    assert engine.store.tables == {}


async def test_a_bot_delay_below_the_minimum_is_raised(engine: EngineHarness) -> None:
    tables = engine.tables(3, randbytes, min_bot_delay_milliseconds=250)
    for asked, effective in ((0, 250), (249, 250), (250, 250), (251, 251)):
        clock = replace(CLOCK, bot_delay_milliseconds=asked, abandoned_milliseconds=0)
        config = await prepare(tables, f"t{asked}", clock=clock)
        assert config.clock == replace(clock, bot_delay_milliseconds=effective)
        assert await prepare(tables, f"t{asked}", clock=clock) == config
        assert await prepare(tables, f"t{asked}", clock=config.clock) == config


async def test_a_table_keeps_the_time_of_abandonment_of_the_engine_that_prepared_it(engine: EngineHarness) -> None:
    one, other = (engine.tables(3, randbytes, abandoned_milliseconds=each) for each in (7_000, 9_000))
    config = await prepare(one)
    assert config.clock == replace(CLOCK, abandoned_milliseconds=7_000)
    assert await prepare(other) == config


async def test_the_limits_themselves_are_allowed(tables: Tables) -> None:
    await prepare(tables, "x" * 64, clock=ClockConfig(5_000, 0, 0), seats=2, network="x" * 33)
    await prepare(tables, "y", clock=ClockConfig(86_400_000, 86_400_000, 10_000), seats=6)


async def test_opening_deals_once_also_at_the_same_time_and_opening_again_changes_nothing(
    engine: EngineHarness, tables: Tables, other: Tables
) -> None:
    config = await prepare(tables)
    seats = people(config.seat_count)
    await asyncio.gather(*(each.open("t1", seats, [b"", b"x", b""]) for each in (tables, other, tables, other)))
    first = (await tables.get("t1")).entries
    assert len(first) == 1
    await opened(tables)
    assert (await tables.get("t1")).entries == first
    for changes in ({"seats": people(3)[::-1]}, {"client_seeds": [b"", b"y", b""]}):
        with pytest.raises(AlreadyExists) as refusal:
            await opened(tables, **changes)
        assert refusal.value.reason_name == "TABLE_ALREADY_OPEN"
    assert len(engine.store.tables["t1"].entries) == 1


def seats_with(**changes: str) -> dict[str, Any]:
    return {"seats": (*people(2), replace(SeatConfig("p2", "Player 2"), **changes))}


NOT_PREPARED: list[tuple[dict[str, Any], str, str]] = [
    ({"game": "snap"}, "UNKNOWN_GAME", "game"),
    *(({"seats": seats}, "INVALID_FIELD", "seat_count") for seats in (0, 1, 7, 2**32 - 1)),
    ({"options": {"nothing": 1}}, "INVALID_OPTION", "options.nothing"),
    ({"options": {"best_of": 2}}, "INVALID_OPTION", "options.best_of"),
    ({"clock": ClockConfig(4_000, 0, 0)}, "INVALID_FIELD", "time_control.action_time"),
    ({"clock": ClockConfig(86_401_000, 0, 0)}, "INVALID_FIELD", "time_control.action_time"),
    ({"clock": ClockConfig(30_000, 86_401_000, 0)}, "INVALID_FIELD", "time_control.reserve_time"),
    ({"clock": ClockConfig(30_000, 0, 10_001)}, "INVALID_FIELD", "time_control.bot_delay"),
    *(
        ({"clock": ClockConfig(30_000, 0, 0, away_milliseconds=time)}, "INVALID_FIELD", "time_control.away_time")
        for time in (0, 86_401_000)
    ),
    *(({"table_id": table_id}, "INVALID_FIELD", "table_id") for table_id in ("", "x" * 65, "a\nb", "a\x00")),
    *(({"network": network}, "INVALID_FIELD", "network") for network in ("x" * 34, "a\x00")),
]
NOT_OPENED: list[tuple[dict[str, Any], str, str]] = [
    *(({"seats": people(count)}, "INVALID_FIELD", "seats") for count in (0, 2, 4)),
    ({"client_seeds": [b""] * 2}, "INVALID_FIELD", "seats"),
    ({"client_seeds": [b"", b"", b"x" * 65]}, "INVALID_FIELD", "client_seeds"),
    *((seats_with(name=name), "INVALID_FIELD", "seats.name") for name in ("", "x" * 161, "a\0b")),
    *((seats_with(player_id=name), "INVALID_FIELD", "seats.player_id") for name in ("", "x" * 65)),
    (seats_with(player_id="p0"), "INVALID_FIELD", "seats"),
    (seats_with(player_id="", bot="genius"), "UNKNOWN_BOT", "seats.bot"),
]
REFUSED = [(prepare, *each) for each in NOT_PREPARED] + [(opened, *each) for each in NOT_OPENED]


@pytest.mark.parametrize(("call", "changes", "reason", "field"), REFUSED, ids=range(len(REFUSED)))
async def test_an_invalid_table_is_refused_with_its_field(
    engine: EngineHarness,
    tables: Tables,
    call: Callable[..., Awaitable[Any]],
    changes: dict[str, Any],
    reason: str,
    field: str,
) -> None:
    with pytest.raises(MalformedRequest) as refusal:
        await call(tables, **changes)
    assert (refusal.value.reason_name, refusal.value.field) == (reason, field)
    assert [kept.status for kept in engine.store.tables.values()] == ["prepared"] * (call is opened)


async def test_an_unprepared_table_cannot_be_opened_and_an_unopened_one_not_found(
    engine: EngineHarness, tables: Tables
) -> None:
    with pytest.raises(NotFound):
        await tables.open("t1", people(3), [b""] * 3)
    await prepare(tables)
    for table_id in ("t1", "nowhere"):
        with pytest.raises(NotFound):
            await tables.get(table_id)
    for table_id in ("", "x" * 65):
        with pytest.raises(MalformedRequest):
            await tables.get(table_id)
    assert engine.store.log_reads == 0


async def test_concurrent_opens_respect_the_limit_of_tables(tables: Tables) -> None:
    names = [f"t{number}" for number in range(6)]
    for name in names:
        await prepare(tables, name)
    opening = (tables.open(name, people(3), [b""] * 3) for name in names)
    refused = [error for error in await asyncio.gather(*opening, return_exceptions=True) if error is not None]
    assert [getattr(error, "reason_name", error) for error in refused] == ["TOO_MANY_TABLES"] * 3
    with pytest.raises(LimitReached):
        await tables.open(names[-1], people(3), [b""] * 3)
    for name in list(tables.in_memory):
        await tables.open(name, people(3), [b""] * 3)
    assert len(tables.in_memory) == 3
    # An unused slot is free again.
    await tables.evict(-IDLE_MILLISECONDS)
    await tables.open(names[-1], people(3), [b""] * 3)


async def test_a_finished_table_leaves_memory_and_can_still_be_read(tables: Tables, other: Tables, seed: int) -> None:
    await opened(tables)
    table, at_other = await tables.get("t1"), await other.get("t1")
    with pytest.raises(IllegalNow) as refusal:
        await table.require_finished(0)
    assert refusal.value.reason_name == "TABLE_NOT_FINISHED"
    await tables.evict(IDLE_MILLISECONDS)
    assert set(tables.in_memory) == {"t1"}
    await play_on(table, Random(seed))
    await table.require_finished(0)
    await tables.evict(IDLE_MILLISECONDS)
    assert set(tables.in_memory) == set()
    assert (await tables.get("t1")).state == table.state
    # An engine that is behind reads the log.
    assert not at_other.state.is_over
    await at_other.require_finished(0)
    assert at_other.state == table.state


async def test_finished_tables_in_memory_are_bounded_and_unused_ones_leave(
    engine: EngineHarness, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.engine.tables.memory.MAX_FINISHED_IN_MEMORY", 2)
    tables = engine.tables(100, randbytes)

    async def is_read(table_id: str) -> bool:
        reads = engine.store.log_reads
        assert (await tables.get(table_id)).state.is_over
        return engine.store.log_reads > reads

    for number in range(4):
        await opened(tables, f"t{number}")
        await play_on(await tables.get(f"t{number}"), Random(seed))
    await tables.evict(IDLE_MILLISECONDS)
    assert not await is_read("t3")
    assert await is_read("t0")
    for milliseconds, leaves in ((FINISHED_IDLE_MILLISECONDS, False), (FINISHED_IDLE_MILLISECONDS + 1, True)):
        engine.clock.advance(milliseconds)
        await tables.evict(IDLE_MILLISECONDS)
        assert await is_read("t0") == leaves


@pytest.mark.parametrize("is_over", [False, True])
async def test_a_retired_table_is_freed_at_once_without_the_garbage_collector(
    engine: EngineHarness, tables: Tables, seed: int, is_over: bool
) -> None:
    await prepare(tables, "t1", clock=ClockConfig(86_400_000, 0, 0))
    await tables.open("t1", people(3), [b"", b"", b""])
    if is_over:
        await play_on(await tables.get("t1"), Random(seed))
    table = weakref.ref(await tables.get("t1"))
    await tables.evict(IDLE_MILLISECONDS)
    await settled()
    gc.disable()
    try:
        engine.clock.advance(IDLE_MILLISECONDS + 1)
        await tables.evict(IDLE_MILLISECONDS)
        assert table() is None
    finally:
        gc.enable()


async def test_concurrent_callers_share_one_load_though_one_is_cancelled(
    engine: EngineHarness, tables: Tables, other: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    await opened(tables)
    before = engine.store.log_reads
    load = HeldCall(engine.store, "log_after", monkeypatch)
    first, *rest = (asyncio.create_task(other.get("t1")) for _ in range(10))
    await load.until_read()
    first.cancel()
    await settled()
    load.release()
    found = await within_timeout(asyncio.gather(*rest))
    assert engine.store.log_reads == before + 1
    assert len({id(table) for table in found}) == 1


async def test_a_failed_load_is_repeated(engine: EngineHarness, tables: Tables, other: Tables) -> None:
    await opened(tables)
    engine.store.reads_fail = True
    with pytest.raises(StoreDown):
        await other.get("t1")
    engine.store.reads_fail = False
    assert (await other.get("t1")).state.sequence == 1


@pytest.mark.parametrize("method", ["find", "log_after"])
async def test_a_failed_read_of_a_cancelled_caller_is_not_logged(
    engine: EngineHarness, other: Tables, tables: Tables, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    await opened(other)
    unhandled: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unhandled.append(context))
    fails = AsyncMock(side_effect=StoreDown)
    monkeypatch.setattr(engine.store, method, fails)
    read = HeldCall(engine.store, method, monkeypatch)
    asking = asyncio.create_task(tables.get("t1"))
    await read.until_read()
    asking.cancel()
    await asyncio.wait([asking])
    del asking
    read.release()
    await settled()
    gc.collect()
    assert fails.await_count == 1
    assert not unhandled
