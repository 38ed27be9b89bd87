"""Reports reach scoring at least once and in order, whatever happens to scoring or to the engine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from random import Random

import pytest

from croupier.engine.reports import LONGEST_WAIT_SECONDS, ResultReport, RoundReport, reports_of
from croupier.games.interface import OptionValue
from tests.engine.fakes import Bench
from tests.engine.play import every_game, make_config, open_table, play_on, soon, whole_log
from tests.waiting import settled

MATCH: dict[str, OptionValue] = {"best_of": 3, "scoring": "cards"}
WHOLE = [1, 2, 3, "result"]


@asynccontextmanager
async def reporting(engine: Bench) -> AsyncIterator[None]:
    task = asyncio.create_task(engine.services.reporter.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(engine: Bench, expected: int) -> None:
    """Let time pass until scoring has got so many reports."""

    async def passing() -> None:
        while len(engine.scoring.got) < expected:
            engine.clock.advance(100)
            await settled()

    await soon(passing())


async def finished(engine: Bench, table_id: str, seed: int) -> None:
    await play_on(await open_table(engine, make_config("thulla", options=MATCH, table_id=table_id)), Random(seed))


def got(engine: Bench, table_id: str) -> list[int | str]:
    return [what for of, what in engine.scoring.got if of == table_id]


@every_game
def test_the_reports_of_a_log_are_its_rounds_in_order_and_then_the_result(game: str, seed: int) -> None:
    config = make_config(game)
    log = whole_log(config, Random(seed))
    *rounds, result = reports_of(config, log)
    assert isinstance(result, ResultReport)
    assert result.finished_at == log[-1].at
    numbers = [report.round.round_number for report in rounds if isinstance(report, RoundReport)]
    assert numbers == list(range(1, len(rounds) + 1))
    last = rounds[-1]
    assert isinstance(last, RoundReport)
    assert last.round.totals == result.totals


async def test_each_round_is_reported_when_it_is_scored_and_the_result_at_the_end(engine: Bench, seed: int) -> None:
    async with reporting(engine):
        await finished(engine, "t1", seed)
        await until(engine, 4)
    assert got(engine, "t1") == WHOLE
    assert engine.store.tables["t1"].reports_done == engine.store.tables["t1"].reports_due == 4
    assert engine.count("croupier_reports_waiting") == 0


async def test_reports_wait_while_scoring_is_away_and_tables_go_on(engine: Bench, seed: int) -> None:
    engine.scoring.down = True
    async with reporting(engine):
        await finished(engine, "t1", seed)
        await soon(engine.scoring.tried.wait())
        assert engine.count("croupier_reports_waiting") == 1
        engine.scoring.down = False
        await until(engine, 4)
    assert got(engine, "t1") == WHOLE
    assert "reports wait for scoring" in engine.logger.events("warning")


async def test_after_a_restart_only_what_is_missing_is_reported(engine: Bench, seed: int) -> None:
    await finished(engine, "t1", seed)
    await finished(engine, "t2", seed)
    await engine.store.set_reports_done("t1", 2)
    await engine.store.set_reports_done("t2", 4)
    restarted = engine.another_engine()
    async with reporting(restarted):
        await until(restarted, 2)
    assert restarted.scoring.got == [("t1", 3), ("t1", "result")]


async def test_a_store_that_cannot_be_read_at_first_is_asked_again(engine: Bench, seed: int) -> None:
    await finished(engine, "t1", seed)
    restarted = engine.another_engine()
    engine.store.reads_fail = True
    async with reporting(restarted):
        await settled()
        engine.store.reads_fail = False
        await until(restarted, 4)
    assert got(restarted, "t1") == WHOLE


async def test_a_report_that_scoring_will_never_take_holds_up_nobody(engine: Bench, seed: int) -> None:
    engine.scoring.rejected_tables.add("t1")
    async with reporting(engine):
        await finished(engine, "t1", seed)
        await finished(engine, "t2", seed)
        await until(engine, 4)
    assert engine.scoring.got == [("t2", what) for what in WHOLE]
    assert engine.store.tables["t1"].reports_done == 4
    assert engine.logger.events("error") == ["scoring rejected a report"] * 4


async def test_a_report_that_fails_again_and_again_holds_up_no_other_table(engine: Bench, seed: int) -> None:
    engine.scoring.broken_tables.add("t1")
    async with reporting(engine):
        await finished(engine, "t1", seed)
        await soon(engine.scoring.tried.wait())
        await finished(engine, "t2", seed)
        await finished(engine, "t3", seed)
        await until(engine, 8)
        assert {table_id for table_id, _ in engine.scoring.got} == {"t2", "t3"}
        engine.scoring.broken_tables.clear()
        engine.clock.advance(round(LONGEST_WAIT_SECONDS * 1000))
        await until(engine, 12)
    assert got(engine, "t1") == WHOLE


async def test_reports_that_an_engine_left_undone_are_found_by_another(engine: Bench, seed: int) -> None:
    dying = engine.another_engine()
    await finished(dying, "t1", seed)
    await finished(dying, "t2", seed)
    await engine.store.set_reports_done("t2", 4)
    other = engine.another_engine()
    async with reporting(engine), reporting(other):
        await until(engine, 4)
    assert engine.scoring.got == [("t1", what) for what in WHOLE]


@pytest.mark.parametrize("broken", ["game", "rules_version", "log"])
async def test_a_table_whose_reports_cannot_be_told_keeps_no_other_from_it(
    engine: Bench, seed: int, broken: str
) -> None:
    dying = engine.another_engine()
    for table_id in ("t1", "t2"):
        await finished(dying, table_id, seed)
    kept = engine.store.tables["t1"]
    if broken == "log":
        kept.entries[1] = kept.entries[0]
    elif broken == "game":
        kept.config = replace(kept.config, game="gone")
    else:
        kept.config = replace(kept.config, rules_version=99)
    async with reporting(engine):
        await until(engine, 4)
    assert engine.scoring.got == [("t2", what) for what in WHOLE]
    assert engine.logger.events("error") == ["reports cannot be told"]


async def test_with_very_many_that_wait_for_scoring_an_engine_looks_for_no_more(
    engine: Bench, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.engine.reports.MOST_DUE", 1)
    await finished(engine, "t1", seed)
    await finished(engine.another_engine(), "t2", seed)
    await engine.services.reporter.look()
    await engine.services.reporter.hand_over()
    assert got(engine, "t2") == []
    await engine.services.reporter.look()
    await engine.services.reporter.hand_over()
    assert got(engine, "t2") == WHOLE


async def test_reports_are_handed_over_once_more_rather_than_lost(
    engine: Bench, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    await finished(engine, "t1", seed)

    async def fails(table_id: str, count: int) -> None:
        raise ConnectionError

    with monkeypatch.context() as patch:
        patch.setattr(engine.store, "set_reports_done", fails)
        with pytest.raises(ConnectionError):
            await engine.services.reporter.hand_over()
    await engine.services.reporter.hand_over()
    assert got(engine, "t1") == WHOLE * 2
