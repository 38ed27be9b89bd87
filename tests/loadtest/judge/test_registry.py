"""The judges of installed packages, found by their entry points."""

from dataclasses import replace
from importlib.metadata import EntryPoint
from random import Random
from types import SimpleNamespace

import pytest

from croupier.games.thulla.game import Thulla
from croupier_loadtest.judge.rules import registry
from croupier_loadtest.judge.rules.interface import JudgeTable, Standing
from croupier_loadtest.judge.rules.registry import GROUP, OWN_JUDGES, InvalidJudges, judges_of, standing_of, table_of
from croupier_loadtest.judge.rules.thulla import ThullaTable
from croupier_loadtest.judge.verdict import judge
from tests.engine.toys import rules_known
from tests.loadtest.judge.played import PLAIN, played, played_with
from tests.loadtest.judge.viewer_records import stored_record

THULLA = "croupier_loadtest.judge.rules.thulla"


class Later(ThullaTable):
    """A judge of a later version of some rules."""

    rules_version = 2


BOTH = (ThullaTable, Later)
NONE: tuple[type[JudgeTable], ...] = ()


def declared(name: str, value: str, package: str = "some") -> EntryPoint:
    entry = EntryPoint(name, value, GROUP)
    # Only the metadata of an installed package sets it.
    vars(entry)["dist"] = SimpleNamespace(name=package, version="1.0")
    return entry


def test_own_games_have_a_judge_of_their_rules() -> None:
    assert judges_of(()) == {(game, 1): table for game, table in OWN_JUDGES.items()}
    assert table_of("thulla", 1) is ThullaTable
    assert table_of("thulla", 2) is table_of("whist", 1) is None
    assert standing_of("thulla") == Standing()
    assert standing_of("whist") is None


def test_a_package_declares_a_judge_or_one_for_each_version() -> None:
    one = judges_of([declared("whist", f"{THULLA}:ThullaTable")])
    assert one["whist", 1] is ThullaTable
    both = judges_of([declared("whist", f"{__name__}:BOTH")])
    assert (both["whist", 1], both["whist", 2]) == BOTH
    later = judges_of([declared("whist", f"{THULLA}:ThullaTable", "a"), declared("whist", f"{__name__}:Later", "b")])
    assert {rules for rules in later if rules[0] == "whist"} == {("whist", 1), ("whist", 2)}


class Whist(Thulla):
    """A game of a package, which is played as another one."""

    id = "whist"


@pytest.mark.parametrize("version", [1, 2])
def test_a_table_of_a_package_is_played_by_its_judge_of_the_same_version(
    monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    known = judges_of([declared("whist", f"{THULLA}:ThullaTable")])
    monkeypatch.setattr(registry, "judges", lambda: known)
    game = Whist()
    game.rules_version = version
    config = replace(played().config, game=game.id, rules_version=version)
    with rules_known(game):
        verdict = judge(stored_record(played_with(config, Random(1), PLAIN)))
    assert not verdict.violations
    assert (verdict.is_verified, verdict.has_unknown_rules) == (version == 1, version == 2)
    assert verdict.outcome is not None


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([declared("thulla", f"{THULLA}:ThullaTable")], "some 1.0 has a judge of 'thulla', which croupier has: remove"),
        (
            [declared("whist", f"{THULLA}:ThullaTable", package) for package in ("b", "a")],
            "a 1.0 and b 1.0 both have a judge of version 1 of 'whist': remove one",
        ),
        (
            [declared("whist", "no_such_module:Table")],
            "the judge 'whist' of some 1.0 cannot be used: ModuleNotFound",
        ),
        (
            [declared("whist", f"{THULLA}:PACK")],
            "the judge 'whist' of some 1.0 is .*: expected a subclass of JudgeT",
        ),
        ([declared("whist", f"{__name__}:NONE")], "the judge 'whist' of some 1.0 is .*: expected a subclass of JudgeT"),
    ],
    ids=["an own game", "two packages", "no module", "no class", "no version"],
)
def test_judges_that_cannot_be_used_together_are_refused(entries: list[EntryPoint], message: str) -> None:
    with pytest.raises(InvalidJudges, match=message):
        judges_of(entries)
