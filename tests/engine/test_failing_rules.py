"""Rules of other packages that raise errors: who follows such a table is told, and all other tables play on."""

from collections.abc import Iterator
from random import Random
from types import MappingProxyType

import pytest

from croupier.engine.core.guarded_rules import RETRY_SECONDS, TIMED, RulesUnusable
from croupier.engine.core.log import ActedBy
from croupier.engine.core.replay_verification import ReplayFault, verify_replay
from croupier.engine.tables.failing_rules import MAX_FAILURES
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.subscription import Subscription
from croupier.engine.tables.table import Table
from croupier.games.actions import Action, Pass
from croupier.games.facts import SPECTATOR, Fact, Ranking, Seat, View, Viewer
from croupier.games.interface import CardsShuffled, IllegalAction, Legal, Observation, Option, RandomSource, SeatActed
from croupier.games.registry import registry
from croupier.games.thulla.game import Thulla
from croupier.games.thulla.state import ThullaState
from croupier.runtime.errors import MalformedRequest, ServiceError
from croupier.runtime.table_access import OPEN, TableAccess
from tests.engine.fakes import EngineHarness
from tests.engine.folds import write_replay
from tests.engine.play import CLOCK, act_once, live_stream, people, play_on, replay_of, until_end, within_timeout
from tests.engine.test_delayed_fan_out import DELAYED
from tests.engine.test_housekeeping import housekeeper_of
from tests.engine.timing import pass_time
from tests.engine.toys import installed_as, rules_known
from tests.waiting import settled

SECRET = "the hand is AS KS"
RETRY_MILLISECONDS = RETRY_SECONDS * 1000


class Hearts(Thulla):
    """A game of another package, in which the methods that `failing` names raise an error."""

    id = "hearts"

    def __init__(self) -> None:
        self.failing: set[str] = set()
        self.bots = MappingProxyType({"sensible": self._decide})

    def _fail(self, method: str) -> None:
        if method in self.failing:
            raise LookupError(SECRET)

    def _decide(self, observation: Observation, randrange: RandomSource) -> Action:
        self._fail("bot")
        return Pass() if "illegal bot" in self.failing else Thulla.bots["sensible"](observation, randrange)

    def act(self, state: ThullaState, seat: Seat, action: Action, /) -> tuple[ThullaState, tuple[Fact, ...]]:
        self._fail("act")
        if "accepted before" in self.failing:
            raise IllegalAction("THU-PLAY-1", SECRET)
        return super().act(state, seat, action)

    def shuffle(self, state: ThullaState, shuffled: CardsShuffled, /) -> tuple[ThullaState, tuple[Fact, ...]]:
        self._fail("shuffle")
        return super().shuffle(state, shuffled)

    def legal_actions(self, state: ThullaState, seat: Seat, /) -> Legal:
        self._fail("legal_actions")
        return super().legal_actions(state, seat)

    def view(self, state: ThullaState, viewer: Viewer, /) -> View:
        self._fail("view")
        if "refused view" in self.failing:
            raise IllegalAction("THU-PLAY-1", SECRET)
        return super().view(state, viewer)

    def options(self, seats: int) -> tuple[Option, ...]:
        """Fail for an impossible number of seats."""
        return {possible: super(Hearts, self).options(possible) for possible in self.seats}[seats]

    def outcomes(self, ranking: Ranking, reason: str) -> tuple[str, ...]:
        self._fail("outcomes")
        return super().outcomes(ranking, reason)


class WideHearts(Hearts):
    """A later version, for more seats."""

    rules_version = 2
    seats = range(2, 8)


@pytest.fixture
def hearts() -> Iterator[Hearts]:
    """Let a game of another package be installed."""
    game, installed = Hearts(), registry()
    known = installed._replace(
        games={**installed.games, game.id: game},
        rules={**installed.rules, (game.id, 1): game},
        packages={**installed.packages, game.id: "croupier-hearts 1.2.0"},
    )
    with installed_as(known):
        yield game


async def opened(tables: Tables, table_id: str = "t1", game: str = "hearts", access: TableAccess = OPEN) -> Table:
    await tables.prepare(table_id, game, 3, {"scoring": "none"}, CLOCK)
    await tables.open(table_id, people(3), [b""] * 3, access)
    return await tables.get(table_id)


async def refused(tables: Tables, table_id: str = "t1") -> ServiceError:
    with pytest.raises(RulesUnusable) as refusal:
        await tables.get(table_id)
    return refusal.value


async def error_of(stream: Subscription) -> str:
    """Return the reason with which a stream ends."""
    with pytest.raises(ServiceError) as refusal:
        await until_end(stream)
    return refusal.value.reason_name


def failures(engine: EngineHarness) -> float:
    return engine.count("croupier_rules_failures_total", game="hearts")


@pytest.mark.parametrize("fault", ["bot", "illegal bot", "act", "view"])
async def test_a_table_is_set_aside_after_the_third_failure_and_tried_again_each_minute(
    engine: EngineHarness, hearts: Hearts, fault: str
) -> None:
    tables = engine.tables()
    table, other = await opened(tables), await opened(tables, "t2", "thulla")
    stream = await live_stream(table, table.state.seats_to_act[0])
    hearts.failing = {fault}
    await pass_time(engine.clock, CLOCK.action_milliseconds + CLOCK.reserve_milliseconds + 5_000)
    assert await within_timeout(error_of(stream)) == "RULES_FAILED"
    assert failures(engine) == MAX_FAILURES
    assert set(tables.in_memory) == {"t2"}
    refusal = await refused(tables)
    assert refusal.metadata == {"game": "hearts", "package": "croupier-hearts 1.2.0"}
    assert refusal.retry_after_seconds == RETRY_SECONDS
    assert "croupier-hearts 1.2.0" in refusal.message
    # The other table plays on, and the log has one traceback, without the text of the error.
    await act_once(other, Random(1))
    events = ["the rules of a game failed", "a table is set aside: it is tried again each minute"]
    assert engine.logger.events("error") == events
    traced = engine.logger.lines[0][2]["exc_info"]
    assert traced.__traceback__ is not None
    assert SECRET not in str(engine.logger.lines) + refusal.message + str(traced)
    housekeeper, _ = housekeeper_of(engine)
    housekeeper = engine.housekeeper(tables, housekeeper.retention)
    for _ in range(2):
        await pass_time(engine.clock, RETRY_MILLISECONDS)
        await housekeeper.sweep()
        await settled()
    assert MAX_FAILURES + 1 <= failures(engine) <= MAX_FAILURES + 4
    assert engine.logger.events("error") == events
    hearts.failing = set()
    await pass_time(engine.clock, 2 * RETRY_MILLISECONDS)
    table = await tables.get("t1")
    await pass_time(engine.clock, 1_000)
    assert table.entries[-1].acted_by is ActedBy.TIMEOUT


async def test_the_player_whose_action_fails_is_told(engine: EngineHarness, hearts: Hearts) -> None:
    tables = engine.tables()
    table = await opened(tables)
    before = table.state
    hearts.failing = {"act"}
    for _ in range(MAX_FAILURES - 1):
        with pytest.raises(RulesUnusable) as refusal:
            await act_once(table, Random(1))
        assert refusal.value.reason_name == "RULES_FAILED"
    assert table.state == before
    hearts.failing = set()
    await act_once(table, Random(1))
    assert set(tables.in_memory) == {"t1"}


async def test_an_action_stays_accepted_whose_result_cannot_be_shown(engine: EngineHarness, hearts: Hearts) -> None:
    tables = engine.tables()
    table = await opened(tables)
    streams = [await live_stream(table, seat) for seat in range(3)]
    hearts.failing = set()
    sequence = table.state.sequence
    (seat,) = table.state.seats_to_act
    action = table.state.legal_actions(seat).actions[0]
    hearts.failing = {"legal_actions"}
    assert await table.append_once(SeatActed(seat, action), "r1") == sequence + 1
    assert {await within_timeout(error_of(stream)) for stream in streams} == {"RULES_FAILED"}
    assert await table.append_once(SeatActed(seat, action), "r1") == sequence + 1
    hearts.failing = set()
    await play_on(table, Random(1))
    assert table.state.is_over


async def test_a_stored_entry_that_the_rules_refuse_now_is_a_failure(engine: EngineHarness, hearts: Hearts) -> None:
    """As after a change of the rules under the same version."""
    await act_once(await opened(engine.tables()), Random(1))
    hearts.failing = {"accepted before"}
    tables = engine.tables()
    for _ in range(5):
        assert (await refused(tables)).reason_name == "RULES_FAILED"
    # Its log was not folded any more.
    assert failures(engine) == MAX_FAILURES
    hearts.failing = set()
    await pass_time(engine.clock, RETRY_MILLISECONDS)
    assert (await tables.get("t1")).state.sequence > 1


async def test_a_result_that_the_rules_cannot_count_is_reported_once_they_can(
    engine: EngineHarness, hearts: Hearts
) -> None:
    table = await opened(engine.tables())
    hearts.failing = {"outcomes"}
    await play_on(table, Random(1))
    assert table.state.is_over
    await pass_time(engine.clock, 5_000)
    await engine.outbox.claim_due()
    assert engine.outbox.pending == 0
    assert engine.logger.events("error") == ["the rules of a game failed"]
    hearts.failing = set()
    await pass_time(engine.clock, 15_000)
    await engine.outbox.claim_due()
    await engine.outbox.deliver()
    assert ("t1", "result") in engine.scoring.received


async def test_the_fold_for_spectators_of_a_delayed_table_is_watched_too(engine: EngineHarness, hearts: Hearts) -> None:
    table = await opened(engine.tables(), access=DELAYED)
    hearts.failing = {"shuffle"}
    with pytest.raises(RulesUnusable):
        await table.subscribers.state_for(SPECTATOR)
    assert failures(engine) == 1


async def test_a_replay_that_fails_is_refused(engine: EngineHarness, hearts: Hearts) -> None:
    tables = engine.tables()
    await play_on(await opened(tables), Random(1))
    hearts.failing = {"act"}
    for viewer in (None, SPECTATOR):
        with pytest.raises(RulesUnusable):
            await replay_of(engine.tables(), "t1", "p0", viewer)
    assert failures(engine) == 2


async def test_a_refusal_where_nothing_is_decided_is_a_failure(engine: EngineHarness, hearts: Hearts) -> None:
    table = await opened(engine.tables())
    hearts.failing = {"refused view"}
    with pytest.raises(RulesUnusable):
        table.state.view(SPECTATOR)


async def test_a_file_of_a_replay_whose_rules_fail_has_a_fault_in_its_line(
    engine: EngineHarness, hearts: Hearts
) -> None:
    table = await opened(engine.tables())
    await play_on(table, Random(1))
    text = write_replay(table.config, table.entries)
    assert verify_replay(text).game == "hearts"
    with pytest.raises(ReplayFault, match=r"line 1: invalid header: .*expected 2 to 6 seats"):
        verify_replay(text.replace('"seats":3', '"seats":99', 1))
    hearts.failing = {"act"}
    with pytest.raises(ReplayFault, match=r"line 3: the rules failed, by LookupError\('the hand is AS KS'\)"):
        verify_replay(text)


async def test_rules_are_not_asked_for_the_options_of_seats_that_they_do_not_have(
    engine: EngineHarness, hearts: Hearts
) -> None:
    await engine.tables().prepare("t1", "hearts", 3, {}, CLOCK)
    with rules_known(WideHearts()), pytest.raises(MalformedRequest, match="number of seats"):
        await engine.tables().prepare("t1", "hearts", 7, {}, CLOCK)


async def test_a_view_that_fails_does_not_end_the_housekeeping_of_other_tables(
    engine: EngineHarness, hearts: Hearts
) -> None:
    housekeeper, tables = housekeeper_of(engine)
    await opened(tables)
    await opened(tables, "t2", "thulla")
    hearts.failing = {"view"}
    await housekeeper.maintain()
    assert engine.count("croupier_tables_in_memory", game="thulla", phase="play") == 1
    assert engine.count("croupier_open_tables", game="hearts") == 1


async def test_the_time_of_the_rules_is_measured_by_game(engine: EngineHarness, hearts: Hearts) -> None:
    table = await opened(engine.tables())
    await play_on(table, Random(1), max_actions=TIMED)
    assert engine.count("croupier_rules_seconds_count", game="hearts") > 0
    assert engine.count("croupier_rules_seconds_count", game="thulla") == 0
