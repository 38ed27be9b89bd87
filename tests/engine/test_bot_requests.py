"""Bot requests of a table: the table stays unlocked, and stale decisions are discarded."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from croupier.engine.bots.worker import BotRequest
from croupier.engine.core.fold import advance, new_table
from croupier.engine.core.log import ActedBy, Proposed, SeatConfig, Voted
from croupier.engine.tables.table import Table
from croupier.engine.tables.turn_scheduler import RETRY_MILLISECONDS
from croupier.engine.tasks import Background
from croupier.games.actions import Action
from croupier.games.interface import ProposalAgreed, SeatActed
from croupier.runtime.errors import Unavailable
from tests.engine.fakes import START, AppendOutcome, EngineHarness
from tests.engine.play import CLOCK, bots, make_config, open_table, people
from tests.waiting import settled

SEARCHING = SeatConfig("", "Thinker", "search")


class FakeBotWorkers:
    """Bot workers whose decisions the test makes."""

    def __init__(self) -> None:
        self.asked: list[BotRequest] = []
        self.decisions: list[asyncio.Future[Action | None]] = []

    async def decide(self, bot_request: BotRequest) -> Action | None:
        self.asked.append(bot_request)
        self.decisions.append(asyncio.get_running_loop().create_future())
        return await self.decisions[-1]

    async def answer(self, which: int, action: Action | None) -> None:
        """Answer a request, and let everything that follows happen."""
        self.decisions[which].set_result(action)
        await settled()

    async def close(self) -> None:
        for decision in self.decisions:
            if not decision.done():
                decision.set_result(None)


@pytest.fixture
def bot_workers(engine: EngineHarness) -> FakeBotWorkers:
    bot_workers = FakeBotWorkers()
    engine.bot_workers = bot_workers
    return bot_workers


async def deciding_table(engine: EngineHarness, *others: SeatConfig) -> tuple[Table, int]:
    """Return a table with a bot request of its first seat to act, and that seat."""
    config = make_config("solo")
    (seat,) = advance(config, new_table(config), START, None)[-1].after.seats_to_act
    rest = list(others or people(3))
    table = await open_table(engine, make_config("solo", seats=(*rest[:seat], SEARCHING, *rest[seat:])))
    assert table.state.seats_to_act == (seat,)
    engine.clock.advance(CLOCK.bot_delay_milliseconds)
    await settled()
    return table, seat


def acted(table: Table) -> list[tuple[int, ActedBy]]:
    return [(entry.event.seat, entry.acted_by) for entry in table.entries if isinstance(entry.event, SeatActed)]


@pytest.mark.parametrize("has_decision", [True, False])
async def test_a_computer_player_acts_by_its_decision_or_the_fallback(
    engine: EngineHarness, bot_workers: FakeBotWorkers, has_decision: bool
) -> None:
    table, seat = await deciding_table(engine)
    (bot_request,) = bot_workers.asked
    state = table.state
    assert (bot_request.game, bot_request.bot) == ("solo", "search")
    assert bot_request.observation == (seat, table.config.options, state.view(seat), state.legal_actions(seat))
    assert acted(table) == []
    assert not table.is_idle()
    action = bot_request.observation.legal.actions[-1]
    await bot_workers.answer(0, action if has_decision else None)
    assert acted(table) == [(seat, ActedBy.BOT)]
    assert len(bot_workers.asked) == 1
    assert table.is_idle()
    assert not has_decision or table.entries[1].event == SeatActed(seat, action)


async def test_the_engine_does_not_poll_a_table_with_a_bot_request(
    engine: EngineHarness, bot_workers: FakeBotWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, seat = await deciding_table(engine)
    started: list[object] = []

    def start(_background: Background, work: Coroutine[Any, Any, None]) -> None:
        started.append(work)
        work.close()

    monkeypatch.setattr(Background, "start", start)
    await table.append_once(Proposed((seat + 1) % 4, "restart_same", 0), "p")
    await settled()
    assert started == []


async def test_actions_of_others_cause_no_second_request(engine: EngineHarness, bot_workers: FakeBotWorkers) -> None:
    table, seat = await deciding_table(engine)
    assert not table.lock.locked()
    first, second, _ = (other for other in range(4) if other != seat)
    engine.store.outcomes.append(AppendOutcome.FAILS_AFTER)
    with pytest.raises(Unavailable):
        await table.append_once(Proposed(first, "restart_same", 0), "p")
    engine.clock.advance(RETRY_MILLISECONDS)
    await settled()
    assert table.state.proposal
    await table.append_once(Voted(second, table.state.proposal.sequence, False), "v")
    await settled()
    await bot_workers.answer(0, bot_workers.asked[0].observation.legal.actions[0])
    assert acted(table) == [(seat, ActedBy.BOT)]
    assert len(bot_workers.asked) == 1


async def test_a_changed_view_causes_a_new_request(engine: EngineHarness, bot_workers: FakeBotWorkers) -> None:
    table, seat = await deciding_table(engine, *people(1), *bots(2))
    person = next(at for at, who in enumerate(table.config.seats) if not who.bot)
    await table.append_once(Proposed(person, "restart_new", 0), "p")
    assert any(isinstance(entry.event, ProposalAgreed) for entry in table.entries)
    assert table.state.seats_to_act == (seat,)
    engine.clock.advance(CLOCK.bot_delay_milliseconds)
    await settled()
    assert len(bot_workers.asked) == 1
    await bot_workers.answer(0, bot_workers.asked[0].observation.legal.actions[0])
    assert acted(table) == []
    first, second = bot_workers.asked
    assert first.observation.view != second.observation.view
    await bot_workers.answer(1, second.observation.legal.actions[0])
    assert acted(table) == [(seat, ActedBy.BOT)]


async def test_a_decision_that_could_not_be_stored_is_made_again(
    engine: EngineHarness, bot_workers: FakeBotWorkers
) -> None:
    table, seat = await deciding_table(engine)
    engine.store.outcomes.append(AppendOutcome.FAILS_BEFORE)
    await bot_workers.answer(0, None)
    assert acted(table) == []
    engine.clock.advance(RETRY_MILLISECONDS)
    await settled()
    await bot_workers.answer(1, None)
    assert acted(table) == [(seat, ActedBy.BOT)]


async def test_a_stopped_engine_stores_no_decision(engine: EngineHarness, bot_workers: FakeBotWorkers) -> None:
    table, _ = await deciding_table(engine)
    await table.drain()
    await bot_workers.close()
    await settled()
    engine.clock.advance(RETRY_MILLISECONDS)
    await settled()
    assert acted(table) == []
    await engine.background.close(0.1)
    assert len(bot_workers.asked) == 1


async def test_a_forced_action_is_requested_like_any_other(engine: EngineHarness, bot_workers: FakeBotWorkers) -> None:
    """Otherwise its time would reveal that a seat had no choice."""
    table = await open_table(engine, make_config("thulla", seats=(SEARCHING,) * 3))
    for _ in range(200):
        if table.state.is_over:
            break
        engine.clock.advance(CLOCK.bot_delay_milliseconds)
        await settled()
        await bot_workers.close()
        await settled()
    assert table.state.is_over
    assert len(bot_workers.asked) == len(acted(table))
    assert any(len(asked.observation.legal.actions) == 1 for asked in bot_workers.asked)
