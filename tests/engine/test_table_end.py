"""The end of a table at a limit of the operator: an entry that ranks the seats or voids the result."""

import json
from random import Random

import pytest

from croupier.engine.api.scoring_channel import encode_result
from croupier.engine.core.decide import TableLimits
from croupier.engine.core.fold import LIMIT_REASON, advance, new_table, transition_of
from croupier.engine.core.log import Entry, TableEnded
from croupier.engine.core.replay_verification import ReplayFault, verify_replay
from croupier.engine.core.reports import ResultReport
from croupier.games.actions import PLAYS
from croupier.games.facts import EVERYONE, SPECTATOR, GameEnded, TurnChanged
from croupier.games.interface import NOTHING_LEGAL, GameOver, SeatActed
from croupier.runtime.errors import IllegalNow
from croupier_api.v1 import engine_pb2
from tests.engine.fakes import START, EngineHarness
from tests.engine.folds import folded_table, transitions_of, write_replay
from tests.engine.play import (
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
from tests.games.fold import fold
from tests.waiting import settled


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
            assert last.after.view(viewer) == fold(shown, last.facts, viewer)
            assert last.after.view(viewer) == shown._replace(seats_to_act=(), ranking=ended.ranking)
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


async def test_a_game_that_ends_by_itself_is_not_void(engine: EngineHarness) -> None:
    limit(engine, max_rounds=1)
    table = await open_table(engine, make_config("one_oh_one", options={"max_rounds": 1}))
    await play_on(table, Random(1))
    assert isinstance(table.state.awaiting, GameOver)
    assert table.state.awaiting.reason in ("max_rounds", "loser")


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
async def test_the_engines_own_action_may_end_the_table(engine: EngineHarness, seats: tuple[object, ...]) -> None:
    limit(engine, max_entries=3)
    table = await open_table(engine, make_config(seats=seats))  # type: ignore[arg-type]  # both are seats
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
