"""Reports reach scoring at least once and in order, whatever happens to scoring or to the engine."""

import asyncio
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from croupier.engine.reports import CLAIM_MILLISECONDS, ResultReport, RoundReport, reports_of
from croupier.games.interface import OptionValue
from tests.engine.fakes import Bench
from tests.engine.play import every_game, make_config, open_table, play_on, soon, whole_log
from tests.engine.timing import pass_time
from tests.waiting import settled

MATCH: dict[str, OptionValue] = {"best_of": 3, "scoring": "cards"}
WHOLE: list[int | str] = [1, 2, 3, "result"]


async def finished(engine: Bench, seed: int, *table_ids: str) -> None:
    for table_id in table_ids:
        await play_on(await open_table(engine, make_config("thulla", options=MATCH, table_id=table_id)), Random(seed))


def whole(*table_ids: str) -> list[tuple[str, int | str]]:
    """All reports of these tables, in order."""
    return [(table_id, what) for table_id in table_ids for what in WHOLE]


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


async def test_reports_wait_while_scoring_is_away_and_tables_go_on(engine: Bench, seed: int) -> None:
    engine.scoring.down = True
    reporting = asyncio.create_task(engine.services.reporter.run())
    await finished(engine, seed, "t1")
    await soon(engine.scoring.tried.wait())
    assert engine.count("croupier_reports_waiting") == 1
    engine.scoring.down = False
    await pass_time(engine.clock, 10_000)
    reporting.cancel()
    assert engine.scoring.got == whole("t1")
    assert engine.store.tables["t1"].reports_done == engine.store.tables["t1"].reports_due == 4
    assert engine.count("croupier_reports_waiting") == 0
    assert "reports wait for scoring" in engine.logger.events("warning")


async def test_what_an_engine_left_undone_is_found_by_another_once_it_can_be_read(engine: Bench, seed: int) -> None:
    await finished(engine, seed, "t1", "t2", "t3")
    await engine.store.set_reports_done("t1", 2)
    await engine.store.set_reports_done("t2", 4)
    engine.store.reads_fail = True
    reporting = asyncio.create_task(engine.another_engine().services.reporter.run())
    await settled()
    engine.store.reads_fail = False
    await pass_time(engine.clock, 10_000)
    reporting.cancel()
    assert engine.scoring.got == [("t1", 3), ("t1", "result"), *whole("t3")]


async def test_what_an_engine_has_found_is_left_alone_by_others_for_a_while(engine: Bench, seed: int) -> None:
    await finished(engine.another_engine(), seed, "t1")
    finders = [engine.another_engine().services.reporter for _ in range(3)]
    for reporter, passed in zip(finders, (0, CLAIM_MILLISECONDS, 1), strict=True):
        engine.clock.advance(passed)
        await reporter.look()
    assert [reporter.pending for reporter in finders] == [1, 0, 1]


async def test_what_scoring_does_not_take_holds_up_no_other_table(engine: Bench, seed: int) -> None:
    engine.scoring.rejected_tables.add("rejected")
    engine.scoring.broken_tables.add("broken")
    reporting = asyncio.create_task(engine.services.reporter.run())
    await finished(engine, seed, "rejected", "broken")
    await soon(engine.scoring.tried.wait())
    await finished(engine, seed, "t1", "t2")
    await pass_time(engine.clock, 10_000)
    assert sorted(engine.scoring.got, key=str) == sorted(whole("t1", "t2"), key=str)
    engine.scoring.broken_tables.clear()
    await pass_time(engine.clock, 10_000)
    reporting.cancel()
    assert engine.scoring.got[8:] == whole("broken")
    assert engine.store.tables["rejected"].reports_done == 4
    assert engine.logger.events("error") == ["scoring rejected a report"] * 4


@pytest.mark.parametrize("broken", [{"game": "gone"}, {"rules_version": 99}, {"options": {}}], ids=str)
async def test_a_table_whose_reports_cannot_be_told_keeps_no_other_from_it(
    engine: Bench, seed: int, broken: dict[str, Any]
) -> None:
    await finished(engine.another_engine(), seed, "t1", "t2")
    kept = engine.store.tables["t1"]
    kept.config = replace(kept.config, **broken)
    reporting = asyncio.create_task(engine.services.reporter.run())
    await pass_time(engine.clock, 10_000)
    reporting.cancel()
    assert engine.scoring.got == whole("t2")
    assert engine.logger.events("error") == ["reports cannot be told"]


async def test_with_very_many_that_wait_for_scoring_an_engine_looks_for_no_more(
    engine: Bench, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.engine.reports.MOST_DUE", 1)
    await finished(engine, seed, "t1")
    await finished(engine.another_engine(), seed, "t2")
    for reported in (whole("t1"), whole("t1", "t2")):
        await engine.services.reporter.look()
        await engine.services.reporter.hand_over()
        assert engine.scoring.got == reported


async def test_reports_are_handed_over_once_more_rather_than_lost(
    engine: Bench, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    await finished(engine, seed, "t1")

    async def fails(table_id: str, count: int) -> None:
        raise ConnectionError

    with monkeypatch.context() as patch:
        patch.setattr(engine.store, "set_reports_done", fails)
        with pytest.raises(ConnectionError):
            await engine.services.reporter.hand_over()
    await engine.services.reporter.hand_over()
    assert engine.scoring.got == whole("t1", "t1")
