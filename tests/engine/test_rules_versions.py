"""A table is played to its end, and replayed, by the rules that it began with."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import get_args

import pytest

from croupier.engine.control_servicer import EngineControlServicer
from croupier.engine.live import LiveTable
from croupier.engine.log import LoggedEvent
from croupier.engine.replay import verify_replay, write_replay
from croupier.engine.table import new_table, steps_of
from croupier.engine.tables import Tables
from croupier.games import catalogue
from croupier.games.catalogue import GAMES, UnknownRules, rules_of
from croupier.games.interface import OptionValues
from croupier.games.thulla import Thulla, ThullaState
from croupier.runtime.errors import AlreadyExists, Unavailable
from croupier_api.v1 import engine_pb2
from tests.engine.fakes import Bench
from tests.engine.play import CLOCK, make_config, people, play_on
from tests.engine.recorded_logs import FOLDER, digest, path_of, read

# Logs of every version


def test_every_version_that_tables_may_have_begun_with_has_a_recorded_log() -> None:
    """A new version of a game's rules needs one: run `python -m tests.engine.recorded_logs`, and commit its file.

    The class of the rules as they were goes to `_EARLIER` in croupier/games/catalogue.py. A file that is there is never
    changed: what it tells is what tables in databases tell. Where this fails, the rules have changed without a new
    version.
    """
    assert {path.stem for path in FOLDER.iterdir()} == {f"{game}-{version}" for game, version in catalogue.RULES}


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.stem)
def test_a_recorded_log_folds_to_what_it_folded_to_when_it_was_written(path: Path) -> None:
    config, entries, expected = read(path)
    assert path == path_of(config.game, config.rules_version)
    assert digest(config, entries) == expected
    assert [made.after.deadline for made in steps_of(config, entries)] == [entry.deadline for entry in entries]
    assert verify_replay(write_replay(config, entries)).game == config.game


def test_recorded_logs_hold_every_kind_of_entry() -> None:
    kinds = {type(entry.event) for path in FOLDER.iterdir() for entry in read(path)[1]}
    assert kinds == {*get_args(LoggedEvent)}


# Engines of two versions


class SecondThulla(Thulla):
    """The same game, but cards left over count always."""

    rules_version = 2  # type: ignore[misc]

    def new(self, seats: int, options: OptionValues) -> ThullaState:
        return super().new(seats, {**options, "scoring": "cards", "best_of": 1})


@contextmanager
def second_version() -> Iterator[None]:
    """This engine is one with a second version of Thulla, which keeps the first for old tables."""
    games = {**GAMES, "thulla": SecondThulla()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue, "RULES", MappingProxyType({**catalogue.RULES, ("thulla", 2): SecondThulla()}))
        for module in ("tables", "control_servicer"):
            patch.setattr(f"croupier.engine.{module}.GAMES", games)
        yield


def tables_of(engine: Bench) -> Tables:
    return Tables(engine.services, bytes, 10)


async def opened(tables: Tables, table_id: str) -> LiveTable:
    """A table of three."""
    await tables.prepare(table_id, "thulla", 3, {"scoring": "none"}, CLOCK)
    await tables.open(table_id, people(3), [b""] * 3)
    return await tables.get(table_id)


async def test_old_tables_go_on_by_their_rules_and_new_ones_get_the_new(engine: Bench, seed: int) -> None:
    random = Random(seed)
    before = tables_of(engine)
    await play_on(await opened(before, "old"), random, most=5)
    config = await before.prepare("prepared", "thulla", 3, {"scoring": "none"}, CLOCK)
    with second_version():
        tables = tables_of(engine.another_engine())
        described = await EngineControlServicer(tables).DescribeGames(engine_pb2.DescribeGamesRequest(), None)
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
            assert verify_replay(replay).totals == table.state.game.scores
            again = await tables_of(engine.another_engine()).get(table.config.table_id)
            assert again.state == table.state


async def test_an_engine_that_does_not_know_a_tables_rules_sends_everybody_on(engine: Bench) -> None:
    with second_version():
        tables = tables_of(engine)
        await opened(tables, "open")
        await tables.prepare("prepared", "thulla", 3, {}, CLOCK)
    old = tables_of(engine.another_engine())
    for attempt in (
        old.get("open"),
        old.open("open", people(3), [b""] * 3),
        old.open("prepared", people(3), [b""] * 3),
        old.prepare("prepared", "thulla", 3, {}, CLOCK),
    ):
        with pytest.raises(Unavailable) as refusal:
            await attempt
        assert refusal.value.reason == "UNKNOWN_RULES"
    assert engine.store.tables["prepared"].status == "prepared"


def test_rules_that_nobody_knows_are_refused_by_name() -> None:
    with pytest.raises(UnknownRules, match="thulla with rules version 9"):
        new_table(replace(make_config(), rules_version=9))
