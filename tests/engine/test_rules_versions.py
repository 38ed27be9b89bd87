"""A table is played to its end, and replayed, by the rules that it began with."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from types import MappingProxyType

import pytest

from croupier.engine.control_servicer import EngineControlServicer
from croupier.engine.log import Proposed, TimeCredited, Voted
from croupier.engine.replay import verify_replay, write_replay
from croupier.engine.table import new_table, steps_of
from croupier.engine.tables import Tables
from croupier.games import catalogue
from croupier.games.catalogue import GAMES, UnknownRules, rules_of
from croupier.games.interface import Game, OptionValues
from croupier.games.thulla import Thulla, ThullaState
from croupier.runtime.errors import AlreadyExists, Unavailable
from croupier_api.v1 import engine_pb2
from tests.engine.fakes import Bench
from tests.engine.play import CLOCK, act_once, make_config, people, play_on
from tests.engine.recorded_logs import FOLDER, digest, path_of, read, write

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
    assert {Proposed, Voted, TimeCredited} < kinds
    assert len(kinds) == 6


def test_a_recorded_log_is_never_written_over() -> None:
    path = path_of("thulla", 1)
    before = path.read_bytes()
    with pytest.raises(FileExistsError):
        write(path, *read(path)[:2])
    assert path.read_bytes() == before


# Engines of two versions


class SecondThulla(Thulla):
    """The same game, but cards left over count always."""

    rules_version = 2  # type: ignore[misc]

    def new(self, seats: int, options: OptionValues) -> ThullaState:
        return super().new(seats, {**options, "scoring": "cards", "best_of": 1})


Change = Callable[[], None]


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> Change:
    """What makes this engine one with a second version of Thulla, which keeps the first for old tables."""

    def change() -> None:
        monkeypatch.setattr(catalogue, "RULES", MappingProxyType({**catalogue.RULES, ("thulla", 2): SecondThulla()}))
        games: dict[str, Game] = {**GAMES, "thulla": SecondThulla()}
        for module in ("tables", "control_servicer"):
            monkeypatch.setattr(f"croupier.engine.{module}.GAMES", games)

    return change


@pytest.fixture
def older(monkeypatch: pytest.MonkeyPatch) -> Change:
    """What makes it one that knows the first version only, again."""

    def change() -> None:
        monkeypatch.undo()

    return change


def tables_of(engine: Bench) -> Tables:
    return Tables(engine.services, bytes, 10)


async def opened(tables: Tables, table_id: str) -> int:
    """Open a table; gives the version of its rules."""
    await tables.prepare(table_id, "thulla", 3, {"scoring": "none"}, CLOCK)
    await tables.open(table_id, people(3), [b""] * 3)
    return (await tables.get(table_id)).config.rules_version


async def test_old_tables_go_on_by_their_rules_and_new_ones_get_the_new(
    engine: Bench, newer: Change, seed: int
) -> None:
    before = tables_of(engine)
    assert await opened(before, "old") == 1
    random = Random(seed)
    for _ in range(5):
        await act_once(await before.get("old"), random)
    newer()
    tables = tables_of(engine.another_engine())
    assert await opened(tables, "new") == 2
    described = await EngineControlServicer(tables).DescribeGames(engine_pb2.DescribeGamesRequest(), None)
    assert {game.game: game.rules_version for game in described.games}["thulla"] == 2
    kinds = []
    for table_id in ("old", "new"):
        table = await tables.get(table_id)
        await play_on(table, random)
        kinds.append(type(rules_of("thulla", table.config.rules_version)))
        replay = write_replay(table.config, table.entries)
        assert f'"rules_version":{table.config.rules_version}' in replay
        assert verify_replay(replay).totals == table.state.game.scores
        again = await tables_of(engine.another_engine()).get(table_id)
        assert again.state == table.state
    assert kinds == [Thulla, SecondThulla]


async def test_an_engine_that_does_not_know_a_tables_rules_sends_everybody_on(
    engine: Bench, newer: Change, older: Change
) -> None:
    newer()
    tables = tables_of(engine)
    await opened(tables, "open")
    await tables.prepare("prepared", "thulla", 3, {}, CLOCK)
    older()
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


async def test_a_table_that_an_older_engine_prepared_keeps_its_rules(engine: Bench, newer: Change) -> None:
    config = await tables_of(engine).prepare("t1", "thulla", 3, {"scoring": "none"}, CLOCK)
    newer()
    tables = tables_of(engine.another_engine())
    assert await tables.prepare("t1", "thulla", 3, {"scoring": "none"}, CLOCK) == config
    with pytest.raises(AlreadyExists):
        await tables.prepare("t1", "thulla", 4, {"scoring": "none"}, CLOCK)
    await tables.open("t1", people(3), [b""] * 3)
    assert (await tables.get("t1")).config.rules_version == 1


def test_rules_that_nobody_knows_are_refused_by_name() -> None:
    with pytest.raises(UnknownRules, match="thulla with rules version 9"):
        new_table(replace(make_config(), rules_version=9))
