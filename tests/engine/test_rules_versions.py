"""Rules beyond those that are released: a later version, an unknown one, and a game with a custom deck."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from random import Random
from types import MappingProxyType

import pytest

from croupier.engine.api.action_codec import encode_action
from croupier.engine.api.control_servicer import EngineControlServicer, games_digest
from croupier.engine.api.table_codec import encode_time_control
from croupier.engine.core.access import Need, Visitor
from croupier.engine.core.fold import new_table
from croupier.engine.core.living_games import EngineGames
from croupier.engine.core.log import SeatConfig
from croupier.engine.core.log_codec import decode_entry, encode_body
from croupier.engine.core.replay_verification import ReplayFault, verify_replay
from croupier.engine.storage.sql_store import SqlTableStore
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.table import Table
from croupier.engine.tables.table_checks import Revision
from croupier.games.interface import BLITZ, SLOW, Option, OptionValue, OptionValues, Preset, completed_options
from croupier.games.one_ten.game import OneTen
from croupier.games.one_ten.state import OneTenState
from croupier.games.registry import UnknownRules, rules_of
from croupier.games.thulla.game import Thulla
from croupier.games.thulla.state import ThullaState
from croupier.runtime.errors import AlreadyExists, MalformedRequest, NotFound, ServiceError, Unavailable
from croupier_api.v1 import engine_pb2
from croupier_internal.v1 import engine_control_pb2
from tests.calls import call_of
from tests.engine.fakes import EngineHarness
from tests.engine.folds import write_replay
from tests.engine.play import CLOCK, choice, make_config, people, play_on, replay_of, whole_log
from tests.engine.toys import SEATS, rules_known, toy_known, toy_table
from tests.games.toy import TOY


class SecondThulla(Thulla):
    """The same game, but cards left over count always."""

    rules_version = 2

    def new(self, seats: int, options: OptionValues) -> ThullaState:
        return super().new(seats, {**options, "scoring": "cards", "best_of": 1})


async def opened(tables: Tables, table_id: str) -> Table:
    """Return a table of three."""
    await tables.prepare(table_id, "thulla", 3, {"scoring": "none"}, CLOCK)
    await tables.open(table_id, people(3), [b""] * 3)
    return await tables.get(table_id)


async def test_old_tables_keep_their_rules_and_new_tables_have_the_new_version(
    engine: EngineHarness, seed: int
) -> None:
    random = Random(seed)
    before = engine.tables()
    await play_on(await opened(before, "old"), random, max_actions=5)
    config = await before.prepare("prepared", "thulla", 3, {"scoring": "none"}, CLOCK)
    with rules_known(SecondThulla()):
        tables = engine.another_engine().tables()
        request = engine_control_pb2.DescribeGamesRequest()
        control = EngineControlServicer(tables, engine.store, engine.scoring)
        described = await control.DescribeGames(request, call_of("lobby"))
        assert {game.game: game.rules_version for game in described.games}["thulla"] == 2
        assert await tables.prepare("prepared", "thulla", 3, {"scoring": "none"}, CLOCK) == config
        with pytest.raises(AlreadyExists):
            await tables.prepare("prepared", "thulla", 4, {"scoring": "none"}, CLOCK)
        old, new, prepared = await tables.get("old"), await opened(tables, "new"), await opened(tables, "prepared")
        assert [table.config.rules_version for table in (old, new, prepared)] == [1, 2, 1]
        for table, kind in ((old, Thulla), (new, SecondThulla), (prepared, Thulla)):
            await play_on(table, random)
            assert type(rules_of("thulla", table.config.rules_version)) is kind
            replay = write_replay(table.config, table.entries)
            assert f'"rules_version":{table.config.rules_version}' in replay
            assert verify_replay(replay).totals == table.state.scores
            again = await engine.another_engine().tables().get(table.config.table_id)
            assert again.state == table.state


async def test_a_table_with_unknown_rules_is_refused_and_unavailable_if_another_engine_may_know_them(
    engine: EngineHarness,
) -> None:
    with rules_known(SecondThulla()):
        tables = engine.tables()
        await opened(tables, "open")
        await tables.prepare("prepared", "thulla", 3, {}, CLOCK)
    old = engine.another_engine().tables()
    calls: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: old.get("open"),
        lambda: old.open("open", people(3), [b""] * 3),
        lambda: old.open("prepared", people(3), [b""] * 3),
        lambda: old.prepare("prepared", "thulla", 3, {}, CLOCK),
    )
    newer = EngineGames("newer", {"thulla": [1, 2]}, ["thulla"])
    for others, reason in (([], "RULES_MISSING"), ([newer], "TABLE_TOO_NEW"), ([None], "TABLE_TOO_NEW")):
        engine.liveness_store.others = [*others]
        for call in calls:
            with pytest.raises(ServiceError) as refusal:
                await call()
            assert refusal.value.reason_name == reason
    assert engine.store.tables["prepared"].status == "prepared"
    # Its refusal would tell a stranger that the table exists.
    for attempt in (old.get("open", Visitor("stranger"), Need.VIEW), replay_of(old, "open", "stranger")):
        with pytest.raises(NotFound):
            await attempt


async def test_a_table_with_an_unreadable_log_is_unavailable(engine: EngineHarness) -> None:
    tables = engine.tables()
    await opened(tables, "t1")
    engine.store.unreadable = {"t1"}
    with pytest.raises(Unavailable) as refusal:
        await engine.tables().get("t1")
    assert refusal.value.reason_name == "TABLE_TOO_NEW"
    assert engine.logger.events("error") == ["log cannot be read"]


def test_unknown_rules_are_refused_by_name() -> None:
    with pytest.raises(UnknownRules, match="invalid rules version 9 of thulla: expected 1"):
        new_table(replace(make_config(), rules_version=9))


async def test_a_game_with_a_custom_deck_is_played_to_its_end(engine: EngineHarness, seed: int) -> None:
    random = Random(seed)
    with toy_known():
        tables = engine.tables(1)
        request = engine_control_pb2.PrepareTableRequest(
            table_id="t2", game="toy", seat_count=SEATS, time_control=encode_time_control(CLOCK)
        )
        control = EngineControlServicer(tables, engine.store, engine.scoring)
        prepared = await control.PrepareTable(request, call_of("lobby"))
        assert [list(team.seats) for team in prepared.teams] == [[0, 2], [1, 3]]
        await tables.open("t2", people(SEATS), [b""] * SEATS)
        servicer = engine.servicer(tables)
        table = await tables.get("t2")
        numbers = set[int]()
        while not table.state.is_over:
            seat, action = choice(table.state, random)
            call = call_of(f"p{seat}")
            view = (await servicer.GetView(engine_pb2.GetViewRequest(table_id="t2"), call)).snapshot
            numbers.update(view.view.seats[seat].cards)
            assert [list(team.seats) for team in view.table.teams] == [[0, 2], [1, 3]]
            acting = engine_pb2.SubmitActionRequest(table_id="t2", request_id=f"{table.state.sequence}")
            acting.action.CopyFrom(encode_action(action))
            await servicer.SubmitAction(acting, call)
        assert numbers
        assert numbers <= set(range(64, 88))


def test_the_log_and_the_replay_of_a_custom_deck_can_be_read(seed: int) -> None:
    with toy_known():
        log = whole_log(toy_table(), Random(seed))
        rows = [(each.sequence, each.at, each.deadline, encode_body(each)) for each in log]
        assert [decode_entry("t1", *row) for row in rows] == log
        replay = write_replay(toy_table(), log)
        assert {"B1", "R12"} <= set(json.loads(replay.splitlines()[1])["event"]["deck"])
        assert verify_replay(replay).game == "toy"
        with pytest.raises(ReplayFault, match=r"^line 2: "):
            verify_replay(replay.replace('"B1"', '"B13"'))


async def test_what_this_engine_refuses_another_may_know_during_a_roll_out(engine: EngineHarness) -> None:
    tables = engine.tables()
    await tables.prepare("prepared", "thulla", 3, {}, CLOCK)
    seats = (*people(2), SeatConfig("", "Computer", "newest"))
    calls: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: tables.prepare("t", "newest", 3, {}, CLOCK),
        lambda: tables.check("t", "newest", 3, {}, CLOCK),
        lambda: tables.prepare("t", "thulla", 3, {"newest": True}, CLOCK),
        lambda: tables.prepare("t", "thulla", 99, {}, CLOCK),
        lambda: tables.prepare("prepared", "thulla", 4, {}, CLOCK),
        lambda: tables.open("prepared", seats, [b""] * 3),
        lambda: tables.open("prepared", people(3), [b""] * 3, revision=Revision(1, 1, {"newest": True}, CLOCK)),
    )
    for call in calls:
        engine.liveness_store.others = []
        with pytest.raises((MalformedRequest, AlreadyExists)):
            await call()
        # Engines of earlier versions do not say what they know.
        engine.liveness_store.others = [None]
        with pytest.raises(Unavailable) as refusal:
            await call()
        assert refusal.value.reason_name == "TABLE_TOO_NEW"
    assert engine.store.tables["prepared"].status == "prepared"


async def test_an_engine_describes_its_games_and_whether_others_know_different_ones(engine: EngineHarness) -> None:
    control = EngineControlServicer(engine.tables(), engine.store, engine.scoring)
    request = engine_control_pb2.DescribeGamesRequest(seat_count=3)
    assert not (await control.DescribeGames(request, call_of("lobby"))).is_rolling_out
    engine.liveness_store.others = [None]
    assert (await control.DescribeGames(request, call_of("lobby"))).is_rolling_out


class ThullaWithBots(Thulla):
    """The same game with another name for its bot."""

    bots = MappingProxyType({"newest": next(iter(Thulla.bots.values()))})


class ThullaWithPreset(Thulla):
    """The same game with other times of a preset."""

    presets = (BLITZ, SLOW, Preset("match", 31, 120))


class ThullaWithFewerDealers(Thulla):
    """The same game, in which at three seats one seat never deals first."""

    def options(self, seats: int) -> tuple[Option, ...]:
        dealers = Option("first_dealer", 0, range(seats - (seats == 3)), "the seat that deals the first game")
        return tuple(dealers if option.name == "first_dealer" else option for option in super().options(seats))


class ThullaWithOption(Thulla):
    """The same game with another option, which other rules would ignore."""

    def options(self, seats: int) -> tuple[Option, ...]:
        return (*super().options(seats), Option("newest", False, (False, True), "changes nothing"))


def test_engines_that_know_different_games_have_different_digests() -> None:
    with rules_known(Thulla()):
        digests = {games_digest()}
    assert digests == {games_digest()}
    variants = (SecondThulla(), ThullaWithBots(), ThullaWithPreset(), ThullaWithFewerDealers(), ThullaWithOption())
    for rules in (TOY, *variants):
        with rules_known(rules):
            digests.add(games_digest())
    assert len(digests) == 7


async def test_a_table_with_an_unknown_option_is_unavailable(engine: EngineHarness) -> None:
    with rules_known(ThullaWithOption()):
        tables = engine.tables()
        await opened(tables, "open")
        await tables.prepare("prepared", "thulla", 3, {"newest": True}, CLOCK)
    old = engine.another_engine().tables()
    for attempt in (old.get("open"), old.open("prepared", people(3), [b""] * 3)):
        with pytest.raises(Unavailable, match="invalid option 'newest'") as refusal:
            await attempt
        assert refusal.value.reason_name == "TABLE_TOO_NEW"
    assert engine.store.tables["prepared"].status == "prepared"


class EarlierOneTen(OneTen):
    """The same game before some of its options existed."""

    def options(self, seats: int) -> tuple[Option, ...]:
        return tuple(option for option in super().options(seats) if option.earlier is None)

    def new(self, seats: int, options: OptionValues) -> OneTenState:
        return super().new(seats, completed_options(OneTen(), seats, options))


EARLIER = {"failed_bonus": "lost", "keep": "ten", "forced_out_by": "any", "first_lead": "bid_winner"}
SHORT: dict[str, OptionValue] = {"max_rounds": 1}


async def test_a_table_of_an_engine_without_an_option_keeps_its_rules(
    engine: EngineHarness, store: SqlTableStore, seed: int
) -> None:
    with rules_known(EarlierOneTen()):
        before = engine.tables(store=store)
        config = await before.prepare("open", "one_ten", 3, SHORT, CLOCK)
        assert not {*EARLIER} & {*config.options}
        await before.open("open", people(3), [b""] * 3)
        await play_on(await before.get("open"), Random(seed), max_actions=5)
    table = await engine.another_engine().tables(store=store).get("open")
    assert table.config.options == {**config.options, **EARLIER}
    await play_on(table, Random(seed))
    replay = write_replay(table.config, table.entries)
    assert verify_replay(replay).totals == table.state.scores
    assert '"failed_bonus":"lost"' in replay


async def test_a_repeated_preparation_of_a_table_of_an_engine_without_an_option_returns_it(
    engine: EngineHarness, store: SqlTableStore
) -> None:
    with rules_known(EarlierOneTen()):
        config = await engine.tables(store=store).prepare("t1", "one_ten", 3, SHORT, CLOCK)
    tables = engine.another_engine().tables(store=store)
    for options in (SHORT, SHORT | {"failed_bonus": "lost"}):
        repeated = await tables.prepare("t1", "one_ten", 3, options, CLOCK)
        assert repeated == replace(config, options={**config.options, **EARLIER})
    for other in ({}, SHORT | {"failed_bonus": "paid"}, SHORT | {"keep": "five"}):
        with pytest.raises(AlreadyExists):
            await tables.prepare("t1", "one_ten", 3, other, CLOCK)
    new = await tables.prepare("t2", "one_ten", 3, SHORT, CLOCK)
    assert new.options["failed_bonus"] == "paid"
    assert await tables.prepare("t2", "one_ten", 3, SHORT, CLOCK) == new
