"""The end of a table at a limit of the operator, or once all of its people were away for a time."""

import json
from random import Random
from typing import TypeAlias

import pytest

from croupier.conformance.fold import fold
from croupier.engine.api.fact_codec import encode_view
from croupier.engine.api.scoring_channel import encode_result
from croupier.engine.core import decide
from croupier.engine.core.decide import TableLimits
from croupier.engine.core.fold import ABANDONED, LIMIT_REASON, advance, new_table, transition_of
from croupier.engine.core.log import AWAY_MILLISECONDS, ActedBy, Entry, SeatConfig, TableEnded
from croupier.engine.core.replay_verification import ReplayFault, verify_replay
from croupier.engine.core.reports import ResultReport
from croupier.engine.tables.table import Table
from croupier.engine.tables.turn_scheduler import STANDBY_MILLISECONDS
from croupier.games.actions import PLAYS
from croupier.games.facts import EVERYONE, SPECTATOR, GameEnded, TurnChanged
from croupier.games.interface import NOTHING_LEGAL, GameOver, SeatActed
from croupier.runtime.errors import IllegalNow
from croupier_api.v1 import engine_pb2
from tests.engine.fakes import START, EngineHarness
from tests.engine.folds import folded_table, transitions_of, write_replay
from tests.engine.play import (
    CLOCK,
    FULL_MILLISECONDS,
    ROUNDS,
    act_once,
    bots,
    choice,
    event_of,
    every_game,
    live_stream,
    make_config,
    open_table,
    people,
    play_on,
    reload_table,
    until_end,
    viewers,
    walk,
)
from tests.waiting import settled

Seats: TypeAlias = tuple[SeatConfig, ...]
ABANDONED_END = TableEnded(ABANDONED)


def limit(engine: EngineHarness, max_entries: int = 10_000, max_rounds: int = 1_000) -> None:
    engine.limits = TableLimits(max_entries, max_rounds)


@every_game
def test_the_end_shows_the_ranking_and_nothing_else(game: str, seed: int) -> None:
    random = Random(seed)
    for entries in range(1, 60, 7):
        config = make_config(game, options=ROUNDS.get(game))
        *_, before, last = walk(config, random, entries)
        if last.entry.event != TableEnded("entries"):
            continue
        ended, ranking = last.after.awaiting, last.after.rules.ranking_at_limit(before.after.game)
        everybody = (tuple(range(config.seat_count)),)
        assert ended == GameOver(everybody if ranking is None else ranking, LIMIT_REASON, is_void=ranking is None)
        assert last.facts == (
            TurnChanged(before.after.view(SPECTATOR).phase, ()),
            GameEnded(ended.ranking, LIMIT_REASON, EVERYONE, is_void=ended.is_void),
        )
        for viewer in viewers(config):
            shown = before.after.view(viewer)
            assert encode_view(last.after.view(viewer)) == fold(encode_view(shown), last.facts, viewer)
            over = shown._replace(seats_to_act=(), ranking=ended.ranking, is_void=ended.is_void)
            assert last.after.view(viewer) == over
            assert viewer == SPECTATOR or last.after.legal_actions(viewer) == NOTHING_LEGAL
        assert (last.after.scores, last.after.deadline) == (before.after.scores, 0)
        assert (last.after.is_over, last.public, last.reports) == (True, True, 1)


@every_game
def test_the_log_and_the_replay_of_an_ended_table_give_the_same_result(game: str, seed: int) -> None:
    config = make_config(game, options=ROUNDS.get(game))
    played = list(walk(config, Random(seed), 30))
    entries = [transition.entry for transition in played]
    assert list(transitions_of(config, entries)) == played
    summary, over = verify_replay(write_replay(config, entries)), played[-1].after.awaiting
    assert isinstance(over, GameOver)
    assert (summary.ranking, summary.totals) == (over.ranking, played[-1].after.scores)
    report = folded_table(config, entries).reports[-1]
    assert isinstance(report, ResultReport)
    assert encode_result(report).result.is_void == over.is_void


def test_an_entry_that_the_end_forbids_is_not_folded() -> None:
    config = make_config()
    with pytest.raises(ValueError, match="no seat is to act"):
        transition_of(config, new_table(config), Entry(1, START, 0, TableEnded("entries")))
    *_, last = walk(config, Random(1), 5)
    with pytest.raises(ValueError, match="follows the end of the table"):
        advance(config, last.after, START, TableEnded("rounds"))


def test_a_falsified_end_of_a_replay_is_found() -> None:
    config = make_config("one_oh_one")
    lines = write_replay(config, [transition.entry for transition in walk(config, Random(1), 5)]).splitlines()
    end, result = json.loads(lines[-2]), json.loads(lines[-1])
    assert (end["event"], result["result"]["void"]) == ({"type": "end", "limit": "entries"}, True)
    rounds = json.dumps(end | {"event": {"type": "end", "limit": "rounds"}})
    assert verify_replay("\n".join([*lines[:-2], rounds, lines[-1]])).entries == end["seq"]
    cards = json.dumps(end | {"event": {"type": "end", "limit": "cards"}})
    valid = json.dumps({"result": {name: value for name, value in result["result"].items() if name != "void"}})
    first = json.dumps(end | {"seq": 1})
    for falsified, number in (
        ([*lines[:-2], cards, lines[-1]], len(lines) - 1),
        ([*lines[:-1], valid], len(lines)),
        ([lines[0], first, lines[-1]], 2),
        ([*lines[:-1], lines[-2], lines[-1]], len(lines)),
        ([*lines[:-2], lines[-1]], len(lines) - 1),
    ):
        with pytest.raises(ReplayFault) as caught:
            verify_replay("\n".join(falsified))
        assert caught.value.line == number


async def test_the_append_that_reaches_the_limit_ends_the_table(engine: EngineHarness) -> None:
    limit(engine, max_entries=6)
    table = await open_table(engine, make_config(seat_count=3))
    stream = await live_stream(table, SPECTATOR)
    await play_on(table, Random(1), max_actions=4)
    assert not table.state.is_over
    assert await act_once(table, Random(1)) == 6
    assert [entry.event for entry in engine.store.tables["t1"].entries[6:]] == [TableEnded("entries")]
    assert engine.store.tables["t1"].status == "finished"
    *_, last = [event_of(message) for message in await until_end(stream)]
    assert [fact.game_ended.is_void for fact in last.update.facts if fact.HasField("game_ended")] == [True]
    assert last.update.revealed_seed == table.config.seed.hex()
    assert engine.count("croupier_tables_ended_total", limit="entries") == 1
    with pytest.raises(IllegalNow) as refusal:
        await table.append_once(SeatActed(0, PLAYS[0]), "late")
    assert refusal.value.reason_name == "TABLE_FINISHED"
    await engine.outbox.deliver()
    assert engine.scoring.received == [("t1", "result")]


async def test_a_table_beyond_the_limit_ends_with_its_next_entry(engine: EngineHarness) -> None:
    await play_on(await open_table(engine, make_config(seat_count=4)), Random(1), max_actions=30)
    limit(engine, max_entries=6)
    table = await reload_table(engine, "t1")
    assert not table.state.is_over
    await act_once(table, Random(1))
    assert table.state.is_over
    assert table.state.sequence == 33


async def test_the_last_round_counts_and_the_next_one_does_not(engine: EngineHarness) -> None:
    limit(engine, max_rounds=1)
    table = await open_table(engine, make_config("thulla", options={"best_of": 3, "scoring": "cards"}))
    await play_on(table, Random(1))
    last = table.entries[-1]
    assert last.event == TableEnded("rounds")
    assert (len(table.reports), table.state.view(SPECTATOR).round_number) == (2, 2)
    assert isinstance(table.state.awaiting, GameOver)
    assert table.state.awaiting.ranking == table.state.rules.ranking_at_limit(table.state.game)
    assert not table.state.awaiting.is_void


@pytest.mark.parametrize("seats", [people(2), bots(2)], ids=["time-outs", "bots"])
async def test_the_engines_own_action_may_end_the_table(engine: EngineHarness, seats: Seats) -> None:
    limit(engine, max_entries=3)
    table = await open_table(engine, make_config(seats=seats))
    for _ in range(2):
        engine.clock.advance(FULL_MILLISECONDS)
        await settled()
    assert table.state.is_over
    assert table.entries[-1].event == TableEnded("entries")


async def test_engines_with_other_limits_agree_on_the_end(engine: EngineHarness) -> None:
    other = engine.another_engine()
    limit(other, max_entries=4)
    table = await open_table(engine, make_config(seat_count=3))
    await play_on(table, Random(1), max_actions=2)
    await act_once(await reload_table(other, "t1"), Random(1))
    stream = table.subscribe(SPECTATOR, None)
    with pytest.raises(IllegalNow) as refusal:
        await table.append_once(SeatActed(*choice(table.state, Random(1))), "another")
    assert refusal.value.reason_name == "TABLE_FINISHED"
    *_, last = [event_of(message) for message in await until_end(stream)]
    assert engine_pb2.ActedBy.Name(last.update.acted_by) == "ACTED_BY_UNSPECIFIED"
    assert any(fact.HasField("game_ended") for fact in last.update.facts)


async def desert(engine: EngineHarness, table: Table) -> None:
    """Let time pass until all people are away, and the table waits for the last of them."""
    while not decide.is_abandoned(table.config, table.state):
        assert not table.state.is_over
        engine.clock.advance(max(0, table.state.deadline - engine.clock()))
        await settled()


async def deserted_table(engine: EngineHarness, seats: Seats, game: str = "one_ten") -> Table:
    table = await open_table(engine, make_config(game, seats=seats))
    await desert(engine, table)
    return table


@pytest.mark.parametrize("seats", [people(4), people(2), (*people(1), *bots(3))], ids=["four", "two", "with bots"])
async def test_a_table_without_people_stands_still_and_ends_with_a_void_result(
    engine: EngineHarness, seats: Seats
) -> None:
    table = await deserted_table(engine, seats)
    stream, before = await live_stream(table, SPECTATOR), table.state
    assert before.deadline == before.clock.last_away_at + CLOCK.abandoned_milliseconds
    for remaining in (60_000, 3_000, 1):
        engine.clock.advance(before.deadline - engine.clock() - remaining)
        await settled()
        assert table.state == before
    engine.clock.advance(1)
    await settled()
    assert [entry.event for entry in engine.store.tables["t1"].entries[before.sequence :]] == [ABANDONED_END]
    everybody = (tuple(range(len(seats))),)
    assert table.state.awaiting == GameOver(everybody, ABANDONED, is_void=True)
    assert (engine.store.tables["t1"].status, table.state.deadline) == ("finished", 0)
    assert engine.count("croupier_tables_ended_total", limit="abandoned") == 1
    *_, last = [event_of(message) for message in await until_end(stream)]
    (ended,) = [fact.game_ended for fact in last.update.facts if fact.HasField("game_ended")]
    assert (ended.reason, ended.is_void) == (ABANDONED, True)
    result = table.reports[-1]
    assert isinstance(result, ResultReport)
    assert result.ended.is_void
    of_people = [conduct for conduct, who in zip(result.conduct, seats, strict=True) if not who.bot]
    assert all(conduct.finished_by_engine and conduct.timeouts for conduct in of_people)
    await engine.outbox.deliver()
    assert engine.scoring.received[-1] == ("t1", "result")
    replay = write_replay(table.config, table.entries)
    assert '"event":{"type":"end","limit":"abandoned"}' in replay
    assert verify_replay(replay).ranking == everybody


async def test_a_round_that_was_scored_does_not_rank_an_abandoned_table(engine: EngineHarness) -> None:
    table = await open_table(engine, make_config("one_ten", seats=people(2)))
    while not any(not isinstance(report, ResultReport) for report in table.reports):
        await act_once(table, Random(1))
    await desert(engine, table)
    assert table.state.rules.ranking_at_limit(table.state.game) is not None
    engine.clock.advance(CLOCK.abandoned_milliseconds)
    await settled()
    assert isinstance(table.state.awaiting, GameOver)
    assert (table.state.awaiting.ranking, table.state.awaiting.is_void) == (((0, 1),), True)


async def test_a_player_who_acts_in_time_brings_the_table_back(engine: EngineHarness) -> None:
    table = await deserted_table(engine, people(3), "thulla")
    engine.clock.advance(table.state.deadline - engine.clock() - 1)
    await settled()
    (seat,) = table.state.seats_to_act
    await act_once(table, Random(1))
    assert not table.state.clock.absences[seat]
    while table.state.seats_to_act != (seat,):
        # The engine plays on for the other two.
        sequence = table.state.sequence
        engine.clock.advance(AWAY_MILLISECONDS)
        await settled()
        assert (table.entries[-1].sequence, table.entries[-1].acted_by) == (sequence + 1, ActedBy.TIMEOUT)
    assert table.state.deadline > engine.clock() + AWAY_MILLISECONDS


async def test_engines_agree_on_the_end(engine: EngineHarness) -> None:
    table = await deserted_table(engine, people(2))
    others = [await reload_table(engine.another_engine(), "t1") for _ in range(2)]
    engine.clock.advance(CLOCK.abandoned_milliseconds + STANDBY_MILLISECONDS)
    await settled()
    events = [entry.event for entry in engine.store.tables["t1"].entries]
    assert events.count(ABANDONED_END) == 1
    assert {each.state.awaiting for each in (table, *others)} == {table.state.awaiting}
    assert {each.entries[-1] for each in (table, *others)} == {table.entries[-1]}
