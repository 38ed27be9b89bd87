"""Tables whose people are all away: they stand still, and end after a time unless a player acts."""

from collections import Counter
from dataclasses import replace
from random import Random
from typing import TypeAlias

import pytest

from croupier.engine.core.clock import AWAY_MILLISECONDS, abandoned_at
from croupier.engine.core.compensation import Outage
from croupier.engine.core.fold import ABANDONED
from croupier.engine.core.log import ActedBy, ClockCompensated, SeatConfig, TableEnded
from croupier.engine.core.replay_verification import verify_replay
from croupier.engine.core.reports import ResultReport
from croupier.engine.tables.table import Table
from croupier.engine.tables.turn_scheduler import STANDBY_MILLISECONDS
from croupier.games.facts import SPECTATOR
from croupier.games.interface import GameOver, SeatActed
from croupier.runtime.errors import IllegalNow
from tests.engine.fakes import EngineHarness, MemoryTable
from tests.engine.folds import write_replay
from tests.engine.play import (
    CLOCK,
    FULL_MILLISECONDS,
    act_once,
    bots,
    choice,
    event_of,
    live_stream,
    make_config,
    open_table,
    people,
    reload_table,
    until_end,
)
from tests.waiting import settled

Seats: TypeAlias = tuple[SeatConfig, ...]
ABANDONED_MILLISECONDS = CLOCK.abandoned_milliseconds
END = TableEnded(ABANDONED)


async def desert(engine: EngineHarness, table: Table) -> None:
    """Let time pass until all people are away, and the table waits for the last of them."""
    while (due := table.state.due) is not None:
        if due.at == abandoned_at(table.state.clock, table.config.clock, table.config.seats):
            return
        engine.clock.advance(max(0, due.at - engine.clock()))
        await settled()
    raise AssertionError("the game is over")


async def deserted_table(engine: EngineHarness, seats: Seats, game: str = "one_ten") -> Table:
    table = await open_table(engine, make_config(game, seats=seats))
    await desert(engine, table)
    return table


def stored(engine: EngineHarness) -> MemoryTable:
    return engine.store.tables["t1"]


@pytest.mark.parametrize("seats", [people(4), people(2), (*people(1), *bots(3))], ids=["four", "two", "with bots"])
async def test_a_table_without_people_stands_still_and_ends_void(engine: EngineHarness, seats: Seats) -> None:
    table = await deserted_table(engine, seats)
    stream, before = await live_stream(table, SPECTATOR), table.state
    assert before.deadline == before.clock.left_at + ABANDONED_MILLISECONDS
    for remaining in (60_000, 3_000, 1):
        engine.clock.advance(before.deadline - engine.clock() - remaining)
        await settled()
        assert table.state == before
    engine.clock.advance(1)
    await settled()
    assert [entry.event for entry in stored(engine).entries[before.sequence :]] == [END]
    everybody = (tuple(range(len(seats))),)
    assert table.state.awaiting == GameOver(everybody, ABANDONED, is_void=True)
    assert (stored(engine).status, table.state.deadline) == ("finished", 0)
    assert engine.count("croupier_tables_ended_total", limit="abandoned") == 1
    *_, last = [event_of(message) for message in await until_end(stream)]
    (ended,) = [fact.game_ended for fact in last.update.facts if fact.HasField("game_ended")]
    assert (ended.reason, ended.is_void) == (ABANDONED, True)


async def test_the_result_of_an_abandoned_table_counts_nowhere_and_is_in_its_replay(engine: EngineHarness) -> None:
    table = await deserted_table(engine, people(2))
    engine.clock.advance(ABANDONED_MILLISECONDS)
    await settled()
    result = table.reports[-1]
    assert isinstance(result, ResultReport)
    assert result.ended.is_void
    assert all(seat.finished_by_engine and seat.timeouts for seat in result.conduct)
    await engine.outbox.deliver()
    assert engine.scoring.received[-1] == ("t1", "result")
    replay = write_replay(table.config, table.entries)
    assert '"event":{"type":"end","limit":"abandoned"}' in replay
    assert verify_replay(replay).ranking == ((0, 1),)


async def test_a_round_that_was_scored_does_not_rank_an_abandoned_table(engine: EngineHarness) -> None:
    table = await open_table(engine, make_config("one_ten", seats=people(2)))
    while not any(not isinstance(report, ResultReport) for report in table.reports):
        await act_once(table, Random(1))
    await desert(engine, table)
    assert table.state.rules.ranking_at_limit(table.state.game) is not None
    engine.clock.advance(ABANDONED_MILLISECONDS)
    await settled()
    assert isinstance(table.state.awaiting, GameOver)
    assert (table.state.awaiting.ranking, table.state.awaiting.is_void) == (((0, 1),), True)


async def test_a_player_who_acts_in_time_brings_the_table_back(engine: EngineHarness) -> None:
    table = await deserted_table(engine, people(3), "thulla")
    engine.clock.advance(table.state.deadline - engine.clock() - 1)
    await settled()
    (seat,) = table.state.seats_to_act
    await act_once(table, Random(1))
    assert not table.state.clock.away[seat]
    while table.state.seats_to_act != (seat,):
        # The engine plays on for the other two.
        sequence = table.state.sequence
        engine.clock.advance(AWAY_MILLISECONDS)
        await settled()
        assert (table.entries[-1].sequence, table.entries[-1].acted_by) == (sequence + 1, ActedBy.TIMEOUT)
    assert table.state.deadline > engine.clock() + AWAY_MILLISECONDS


async def test_a_player_who_acts_after_the_end_is_refused(engine: EngineHarness) -> None:
    table = await deserted_table(engine, people(2))
    seat, action = choice(table.state, Random(1))
    engine.clock.advance(ABANDONED_MILLISECONDS)
    await settled()
    with pytest.raises(IllegalNow) as refusal:
        await table.append_once(SeatActed(seat, action), "late")
    assert refusal.value.reason_name == "TABLE_FINISHED"


async def test_an_outage_does_not_count_for_the_end(engine: EngineHarness) -> None:
    table = await deserted_table(engine, people(2))
    now, sequence = engine.clock(), table.state.sequence
    engine.liveness_store.outages.append(Outage(now + 10_000, now + 70_000))
    engine.clock.advance(table.state.deadline - now)
    await settled()
    assert [entry.event for entry in table.entries.after(sequence)] == [ClockCompensated(60_000)]
    engine.clock.advance(60_000 - 1)
    await settled()
    assert not table.state.is_over
    engine.clock.advance(1)
    await settled()
    assert table.entries[-1].event == END


async def test_engines_agree_on_the_end(engine: EngineHarness) -> None:
    table = await deserted_table(engine, people(2))
    others = [await reload_table(engine.another_engine(), "t1") for _ in range(2)]
    engine.clock.advance(ABANDONED_MILLISECONDS + STANDBY_MILLISECONDS)
    await settled()
    assert Counter(entry.event for entry in stored(engine).entries if isinstance(entry.event, TableEnded)) == {END: 1}
    assert {each.state.awaiting for each in (table, *others)} == {table.state.awaiting}
    assert {each.entries[-1] for each in (table, *others)} == {table.entries[-1]}


async def test_a_table_that_no_engine_has_in_memory_ends_too(engine: EngineHarness) -> None:
    table = await deserted_table(engine, people(2))
    table.retire()
    engine.clock.advance(ABANDONED_MILLISECONDS)
    await settled()
    assert stored(engine).status == "open"
    (await reload_table(engine, "t1")).schedule_turn()
    engine.clock.advance(STANDBY_MILLISECONDS)
    await settled()
    assert stored(engine).entries[-1].event == END


async def test_the_engine_plays_on_at_tables_of_earlier_versions(engine: EngineHarness) -> None:
    clock = replace(CLOCK, abandoned_milliseconds=0)
    table = await open_table(engine, make_config("thulla", seats=people(3), clock=clock))
    for _ in range(3):
        engine.clock.advance(FULL_MILLISECONDS)
        await settled()
    sequence = table.state.sequence
    engine.clock.advance(AWAY_MILLISECONDS)
    await settled()
    assert isinstance(table.entries[sequence].event, SeatActed)
