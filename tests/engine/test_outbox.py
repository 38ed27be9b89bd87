"""The outbox: reports reach scoring at least once and in order, despite failures of scoring and engines."""

import asyncio
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any

import pytest

from croupier.engine.api.outbox import CLAIM_MILLISECONDS
from croupier.engine.api.scoring_channel import encode_result
from croupier.engine.api.table_codec import encode_game
from croupier.engine.core.log import ActedBy, AwaySet
from croupier.engine.core.reports import ResultReport, RoundReport, SeatConduct, reports_of_transition
from croupier.games.interface import OptionValue, SeatActed
from croupier.games.registry import OWN_GAMES
from tests.engine.fakes import EngineHarness
from tests.engine.folds import folded_table
from tests.engine.play import every_game, make_config, open_table, play_on, walk, whole_log, within_timeout
from tests.engine.timing import HeldCall, pass_time
from tests.waiting import settled

MATCH: dict[str, OptionValue] = {"best_of": 3, "scoring": "cards"}
ALL_REPORTS: list[int | str] = [1, 2, 3, "result"]


async def finished(engine: EngineHarness, seed: int, *table_ids: str) -> None:
    for table_id in table_ids:
        await play_on(await open_table(engine, make_config("thulla", options=MATCH, table_id=table_id)), Random(seed))


def all_reports(*table_ids: str) -> list[tuple[str, int | str]]:
    return [(table_id, report) for table_id in table_ids for report in ALL_REPORTS]


@every_game
def test_the_reports_of_a_log_are_its_rounds_and_then_the_result_with_the_conduct_of_each_seat(
    game: str, seed: int
) -> None:
    config, random = make_config(game), Random(seed)
    # In a game of few actions perhaps no time runs out, and nobody leaves.
    logs = (whole_log(config, random) for _ in count())
    log = next(
        log
        for log in logs
        if any(entry.acted_by is ActedBy.TIMEOUT for entry in log)
        and any(isinstance(entry.event, AwaySet) for entry in log)
    )
    conduct = [SeatConduct(0, finished_by_engine=False, left=False)] * config.seat_count
    for entry in log:
        match entry.event:
            case SeatActed(seat):
                is_late, before = entry.acted_by is ActedBy.TIMEOUT, conduct[seat]
                conduct[seat] = SeatConduct(before.timeouts + is_late, is_late, left=is_late and before.left)
            case AwaySet(seat, is_away):
                conduct[seat] = SeatConduct(conduct[seat].timeouts, is_away, left=is_away)
    *rounds, result = folded_table(config, log).reports
    scores = [report.score for report in rounds if isinstance(report, RoundReport)]
    assert [score.round_number for score in scores] == list(range(1, len(rounds) + 1))
    assert isinstance(result, ResultReport)
    assert (result.finished_at, result.totals) == (log[-1].at, scores[-1].totals)
    assert result.conduct == tuple(conduct)
    request = encode_result(result)
    message, standing = request.result, encode_game(OWN_GAMES[game]).standing
    assert (tuple(message.outcomes), request.standing) == (result.outcomes, standing)
    assert len(result.outcomes) == (0 if result.ended.is_void else config.seat_count)
    assert set(result.outcomes) <= set(standing.outcomes)
    assert [SeatConduct(seat.timeouts, seat.finished_by_engine, seat.left) for seat in message.conduct] == list(
        result.conduct
    )


def test_the_report_of_a_void_result_has_no_outcomes(seed: int) -> None:
    config = make_config("thulla")
    *_, last = walk(config, Random(seed), 8)
    (report,) = reports_of_transition(config, last)
    assert isinstance(report, ResultReport)
    assert (report.ended.is_void, report.outcomes) == (True, ())


async def test_reports_wait_while_scoring_is_down(engine: EngineHarness, seed: int) -> None:
    engine.scoring.down = True
    reporting = asyncio.create_task(engine.outbox.run())
    await finished(engine, seed, "t1")
    await within_timeout(engine.scoring.tried.wait())
    assert engine.count("croupier_reports_waiting") == 1
    engine.scoring.down = False
    await pass_time(engine.clock, 10_000)
    reporting.cancel()
    assert engine.scoring.received == all_reports("t1")
    assert engine.store.tables["t1"].reports_done == engine.store.tables["t1"].reports_due == 4
    assert engine.count("croupier_reports_waiting") == 0
    # The channel to scoring has logged it.
    assert engine.logger.lines == []


async def test_due_reports_of_a_dead_engine_are_sent_by_another(engine: EngineHarness, seed: int) -> None:
    await finished(engine, seed, "t1", "t2", "t3")
    await engine.store.set_reports_done("t1", 2)
    await engine.store.set_reports_done("t2", 4)
    engine.store.reads_fail = True
    reporting = asyncio.create_task(engine.another_engine().outbox.run())
    await settled()
    engine.store.reads_fail = False
    await pass_time(engine.clock, 10_000)
    reporting.cancel()
    assert engine.scoring.received == [("t1", 3), ("t1", "result"), *all_reports("t3")]


async def test_claimed_reports_are_reserved_for_a_time(engine: EngineHarness, seed: int) -> None:
    await finished(engine.another_engine(), seed, "t1")
    finders = [engine.another_engine().outbox for _ in range(3)]
    for reporter, passed in zip(finders, (0, CLAIM_MILLISECONDS, 1), strict=True):
        engine.clock.advance(passed)
        await reporter.claim_due()
    assert [reporter.pending for reporter in finders] == [1, 0, 1]


async def test_a_table_that_is_loaded_again_during_its_delivery_has_all_its_reports_sent(
    engine: EngineHarness, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = await open_table(engine.another_engine(), make_config("thulla", options=MATCH))
    await play_on(table, Random(seed))
    engine.outbox.report("t1", table.reports[:2])
    delivered = HeldCall(engine.store, "set_reports_done", monkeypatch)
    delivering = asyncio.create_task(engine.outbox.deliver())
    await delivered.until_read()
    engine.outbox.report("t1", table.reports)
    delivered.release()
    await within_timeout(delivering)
    assert engine.scoring.received == all_reports("t1")


async def test_a_rejected_report_does_not_delay_other_tables(engine: EngineHarness, seed: int) -> None:
    engine.scoring.rejected_tables.add("rejected")
    engine.scoring.broken_tables.add("broken")
    reporting = asyncio.create_task(engine.outbox.run())
    await finished(engine, seed, "rejected", "broken")
    await within_timeout(engine.scoring.tried.wait())
    await finished(engine, seed, "t1", "t2")
    await pass_time(engine.clock, 10_000)
    assert sorted(engine.scoring.received, key=str) == sorted(all_reports("t1", "t2"), key=str)
    engine.scoring.broken_tables.clear()
    await pass_time(engine.clock, 10_000)
    reporting.cancel()
    assert engine.scoring.received[8:] == all_reports("broken")
    assert engine.store.tables["rejected"].reports_done == 4
    assert engine.logger.events("error") == ["scoring rejected a report"] * 4


@pytest.mark.parametrize("broken", [{"game": "gone"}, {"rules_version": 99}, {"options": {}}, None], ids=str)
async def test_a_table_whose_reports_fail_does_not_delay_others(
    engine: EngineHarness, seed: int, broken: dict[str, Any] | None
) -> None:
    """Without `broken` the log itself is unreadable."""
    await finished(engine.another_engine(), seed, "t1", "t2")
    if broken is None:
        engine.store.unreadable = {"t1"}
    else:
        kept = engine.store.tables["t1"]
        kept.config = replace(kept.config, **broken)
    reporting = asyncio.create_task(engine.outbox.run())
    await pass_time(engine.clock, 10_000)
    reporting.cancel()
    assert engine.scoring.received == all_reports("t2")
    is_known = broken is not None and "options" in broken
    assert engine.logger.events("error") == ["the rules of a game failed" if is_known else "reports cannot be derived"]


async def test_an_engine_with_a_full_outbox_claims_no_more_reports(
    engine: EngineHarness, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.engine.api.outbox.MAX_DUE", 1)
    await finished(engine, seed, "t1")
    await finished(engine.another_engine(), seed, "t2")
    for reported in (all_reports("t1"), all_reports("t1", "t2")):
        await engine.outbox.claim_due()
        await engine.outbox.deliver()
        assert engine.scoring.received == reported


async def test_reports_are_repeated_rather_than_lost(
    engine: EngineHarness, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    await finished(engine, seed, "t1")

    async def fails(table_id: str, count: int) -> None:
        raise ConnectionError

    with monkeypatch.context() as patch:
        patch.setattr(engine.store, "set_reports_done", fails)
        with pytest.raises(ConnectionError):
            await engine.outbox.deliver()
    await engine.outbox.deliver()
    assert engine.scoring.received == all_reports("t1", "t1")
