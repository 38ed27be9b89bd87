"""A table is played to its end, and replayed, by the rules version of its start."""

from dataclasses import replace
from random import Random

import pytest

from croupier.engine.api.control_servicer import EngineControlServicer
from croupier.engine.core.access import Need, Visitor
from croupier.engine.core.fold import new_table
from croupier.engine.core.replay_verification import verify_replay
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.table import Table
from croupier.games.interface import OptionValues
from croupier.games.registry import UnknownRules, rules_of
from croupier.games.thulla import Thulla, ThullaState
from croupier.runtime.errors import AlreadyExists, NotFound, Unavailable
from croupier_internal.v1 import engine_control_pb2
from tests.calls import call_of
from tests.engine.fakes import EngineHarness
from tests.engine.folds import write_replay
from tests.engine.play import CLOCK, make_config, people, play_on, replay_of
from tests.engine.toys import rules_known


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
        described = await EngineControlServicer(tables, engine.store).DescribeGames(request, call_of("lobby"))
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


async def test_a_table_with_unknown_rules_is_unavailable(engine: EngineHarness) -> None:
    with rules_known(SecondThulla()):
        tables = engine.tables()
        await opened(tables, "open")
        await tables.prepare("prepared", "thulla", 3, {}, CLOCK)
    old = engine.another_engine().tables()
    for attempt in (
        old.get("open"),
        old.open("open", people(3), [b""] * 3),
        old.open("prepared", people(3), [b""] * 3),
        old.prepare("prepared", "thulla", 3, {}, CLOCK),
    ):
        with pytest.raises(Unavailable) as refusal:
            await attempt
        assert refusal.value.reason_name == "TABLE_TOO_NEW"
    assert engine.store.tables["prepared"].status == "prepared"
    # Its refusal would tell a stranger that the table exists.
    for call in (old.get("open", Visitor("stranger"), Need.VIEW), replay_of(old, "open", "stranger")):
        with pytest.raises(NotFound):
            await call


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
