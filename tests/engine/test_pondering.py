"""Computer players that think at a live table: it goes on meanwhile, and what they decided on must still be so."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from croupier.engine.background import Background
from croupier.engine.live import LiveTable
from croupier.engine.log import ActedBy, SeatConfig
from croupier.engine.steward import RETRY_MILLISECONDS
from croupier.engine.table import advance, new_table
from croupier.engine.thinking import Thought
from croupier.games.actions import Action
from croupier.games.interface import ProposalAgreed, SeatActed
from croupier.runtime.errors import Unavailable
from tests.engine.fakes import START, Bench, Outcome
from tests.engine.play import CLOCK, bots, make_config, open_table, people
from tests.waiting import settled

SEARCHING = SeatConfig("", "Thinker", "search")


class FakeThinkers:
    """Thinkers whose decisions the test makes."""

    def __init__(self) -> None:
        self.asked: list[Thought] = []
        self.decisions: list[asyncio.Future[Action | None]] = []

    async def decide(self, thought: Thought) -> Action | None:
        self.asked.append(thought)
        self.decisions.append(asyncio.get_running_loop().create_future())
        return await self.decisions[-1]

    async def answer(self, which: int, action: Action | None) -> None:
        """Decide what was asked as this one, and let what follows happen."""
        self.decisions[which].set_result(action)
        await settled()

    async def close(self) -> None:
        for decision in self.decisions:
            if not decision.done():
                decision.set_result(None)


@pytest.fixture
def thinkers(engine: Bench) -> FakeThinkers:
    thinkers = FakeThinkers()
    object.__setattr__(engine.services, "thinkers", thinkers)
    return thinkers


async def pondering(engine: Bench, *others: SeatConfig) -> tuple[LiveTable, int]:
    """A table whose first seat to act has begun to think, and that seat."""
    config = make_config("solo")
    (seat,) = advance(config, new_table(config), START, None)[-1].after.seats_to_act
    rest = list(others or people(3))
    table = await open_table(engine, make_config("solo", seats=(*rest[:seat], SEARCHING, *rest[seat:])))
    assert table.state.seats_to_act == (seat,)
    engine.clock.advance(CLOCK.bot_delay_milliseconds)
    await settled()
    return table, seat


def acted(table: LiveTable) -> list[tuple[int, ActedBy]]:
    return [(entry.event.seat, entry.acted_by) for entry in table.entries if isinstance(entry.event, SeatActed)]


@pytest.mark.parametrize("can_think", [True, False])
async def test_a_computer_player_acts_as_it_decided_or_like_the_first_one_of_its_game(
    engine: Bench, thinkers: FakeThinkers, can_think: bool
) -> None:
    table, seat = await pondering(engine)
    (thought,) = thinkers.asked
    game = table.state.game
    assert (thought.game, thought.bot) == ("solo", "search")
    assert thought.seen == (seat, table.config.options, game.view(seat), game.legal_actions(seat))
    assert acted(table) == []
    assert not table.is_idle()
    action = thought.seen.legal.actions[-1]
    await thinkers.answer(0, action if can_think else None)
    assert acted(table) == [(seat, ActedBy.BOT)]
    assert len(thinkers.asked) == 1
    assert table.is_idle()
    assert not can_think or table.entries[1].event == SeatActed(seat, action)


async def test_while_it_thinks_the_engine_does_not_look_at_the_table_again_and_again(
    engine: Bench, thinkers: FakeThinkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, seat = await pondering(engine)
    started: list[object] = []

    def start(_background: Background, work: Coroutine[Any, Any, None]) -> None:
        started.append(work)
        work.close()

    monkeypatch.setattr(Background, "start", start)
    await table.propose((seat + 1) % 4, "restart_same", "p")
    await settled()
    assert started == []


async def test_whatever_others_do_while_it_thinks_it_thinks_no_second_time(
    engine: Bench, thinkers: FakeThinkers
) -> None:
    table, seat = await pondering(engine)
    assert not table.lock.locked()
    first, second, _ = (other for other in range(4) if other != seat)
    engine.store.outcomes.append(Outcome.FAILS_AFTER)
    with pytest.raises(Unavailable):
        await table.propose(first, "restart_same", "p")
    engine.clock.advance(RETRY_MILLISECONDS)
    await settled()
    assert table.state.proposal
    await table.vote(second, table.state.proposal.sequence, False, "v")
    await settled()
    await thinkers.answer(0, thinkers.asked[0].seen.legal.actions[0])
    assert acted(table) == [(seat, ActedBy.BOT)]
    assert len(thinkers.asked) == 1


async def test_it_decides_anew_when_its_view_has_changed(engine: Bench, thinkers: FakeThinkers) -> None:
    table, seat = await pondering(engine, *people(1), *bots(2))
    person = next(at for at, who in enumerate(table.config.seats) if not who.bot)
    await table.propose(person, "restart_new", "p")
    assert any(isinstance(entry.event, ProposalAgreed) for entry in table.entries)
    assert table.state.seats_to_act == (seat,)
    engine.clock.advance(CLOCK.bot_delay_milliseconds)
    await settled()
    assert len(thinkers.asked) == 1
    await thinkers.answer(0, thinkers.asked[0].seen.legal.actions[0])
    assert acted(table) == []
    first, second = thinkers.asked
    assert first.seen.view != second.seen.view
    await thinkers.answer(1, second.seen.legal.actions[0])
    assert acted(table) == [(seat, ActedBy.BOT)]


async def test_what_it_decided_is_decided_again_if_it_could_not_be_stored(
    engine: Bench, thinkers: FakeThinkers
) -> None:
    table, seat = await pondering(engine)
    engine.store.outcomes.append(Outcome.FAILS_BEFORE)
    await thinkers.answer(0, None)
    assert acted(table) == []
    engine.clock.advance(RETRY_MILLISECONDS)
    await settled()
    await thinkers.answer(1, None)
    assert acted(table) == [(seat, ActedBy.BOT)]


async def test_nothing_is_stored_of_what_was_thought_when_the_engine_stops(
    engine: Bench, thinkers: FakeThinkers
) -> None:
    table, _ = await pondering(engine)
    await table.drain()
    await thinkers.close()
    await settled()
    engine.clock.advance(RETRY_MILLISECONDS)
    await settled()
    assert acted(table) == []
    await engine.services.background.close(0.1)
    assert len(thinkers.asked) == 1


async def test_what_is_without_alternative_is_thought_about_like_all_else(
    engine: Bench, thinkers: FakeThinkers
) -> None:
    """Else everybody could tell by the time that a seat had no choice."""
    table = await open_table(engine, make_config("thulla", seats=(SEARCHING,) * 3))
    for _ in range(200):
        if table.state.is_over:
            break
        engine.clock.advance(CLOCK.bot_delay_milliseconds)
        await settled()
        await thinkers.close()
        await settled()
    assert table.state.is_over
    assert len(thinkers.asked) == len(acted(table))
    assert any(thought.is_forced for thought in thinkers.asked)
