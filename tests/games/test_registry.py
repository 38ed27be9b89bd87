"""The registry of installed games: what packages may declare, and what is refused with the names of the packages."""

from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import MappingProxyType

import pytest

from croupier.games.facts import Seat
from croupier.games.interface import Bot, Option, Requirement
from croupier.games.registry import GROUP, OWN_GAMES, InvalidGames, Registry, bots_of, registry_of, rules_of
from tests.games.toy import TOY, Toy
from tests.installed_packages import write_metadata


class NewToy(Toy):
    """A later version of the toy."""

    rules_version = TOY.rules_version + 1


class OwnId(Toy):
    """A game with the id of one of croupier's own."""

    id = "thulla"


class WithoutBots(Toy):
    """A game without a bot for seats that time out."""

    bots = MappingProxyType[str, Bot]({})


class TeamsOfSome(Toy):
    """A game in whose teams a seat is missing."""

    def teams(self, seats: int) -> tuple[tuple[Seat, ...], ...]:
        return ((0,),)


class FailingTeams(Toy):
    """A game that has teams for two seats only."""

    def teams(self, seats: int) -> tuple[tuple[Seat, ...], ...]:
        return {2: ((0,), (1,))}[seats]


class WithoutOption(Toy):
    """A game with an option that requires one that there is not."""

    def options(self, seats: int) -> tuple[Option, ...]:
        return (Option("stakes", 1, (1, 2), "the stakes", requirements=(Requirement(2, "tempo", "slow"),)),)


class CardTwice(Toy):
    """A game with a card that is twice in its deck."""

    deck = (*TOY.deck, TOY.deck[0])


class WithoutSearch(Toy):
    """A game whose hidden cards cannot be dealt at random."""

    @property
    def is_searchable(self) -> bool:
        return False


VERSIONS = (TOY, NewToy)
NO_GAME = "a text"


@pytest.fixture
def declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Declared":
    monkeypatch.syspath_prepend(tmp_path)
    return Declared(tmp_path)


class Declared:
    """Installed packages, each with one entry point; their names begin with the test's."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def package(self, name: str, target: str) -> None:
        """Install a package whose entry point names an object of this module."""
        write_metadata(self._folder, name, "1.2", {GROUP: {"toy": f"{__name__}:{target}"}})

    def registry(self) -> Registry:
        """Return the registry with these packages alone."""
        return registry_of(entry for entry in entry_points(group=GROUP) if entry.value.startswith(__name__))


def test_games_of_packages_are_known_after_croupiers_own(declared: Declared) -> None:
    declared.package("croupier-toy", "TOY")
    known = declared.registry()
    assert list(known.games) == [*OWN_GAMES, "toy"]
    assert known.packages["toy"] == "croupier-toy 1.2"
    assert known.packages["solo"] == "croupier"
    assert known.rules["toy", TOY.rules_version] is TOY


def test_new_tables_get_the_latest_of_several_versions(declared: Declared) -> None:
    declared.package("croupier-toy", "VERSIONS")
    known = declared.registry()
    assert [version for game, version in known.rules if game == "toy"] == [TOY.rules_version, NewToy.rules_version]
    assert isinstance(known.games["toy"], NewToy)


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        ("NO_GAME", "expected a subclass of croupier.games.interface.Rules"),
        ("nothing", "AttributeError"),
        ("WithoutBots", r"invalid bots \[\]: expected at least one function"),
        ("TeamsOfSome", r"invalid teams of 2 seats \(\(0,\),\): expected each seat in one team, or no teams"),
        ("FailingTeams", "KeyError: 3"),
        ("WithoutOption", "invalid requirement of stakes: there is no option 'tempo'"),
        ("CardTwice", "invalid card number"),
        ("OwnId", "croupier and croupier-toy 1.2 both have a game 'thulla': rename one"),
    ],
)
def test_an_unusable_game_is_refused_with_the_name_of_its_package(declared: Declared, target: str, fault: str) -> None:
    declared.package("croupier-toy", target)
    with pytest.raises(InvalidGames, match=fault) as refusal:
        declared.registry()
    assert "croupier-toy 1.2" in str(refusal.value)


def test_one_game_of_two_packages_is_refused_with_both_names(declared: Declared) -> None:
    declared.package("croupier-toy", "TOY")
    declared.package("other-toys", "NewToy")
    with pytest.raises(InvalidGames, match=r"croupier-toy 1\.2 and other-toys 1\.2 both have a game 'toy'"):
        declared.registry()


def test_an_entry_point_without_a_package_is_named_by_its_value() -> None:
    with pytest.raises(InvalidGames, match=f"'toy' of {__name__}:nothing"):
        registry_of([EntryPoint("toy", f"{__name__}:nothing", GROUP)])


def test_a_game_without_determinize_has_no_searching_player() -> None:
    assert "search" in bots_of(TOY)
    assert list(bots_of(WithoutSearch())) == list(TOY.bots)


def test_rules_of_an_unknown_version_are_refused_with_those_known() -> None:
    with pytest.raises(ValueError, match="invalid rules version 99 of solo: expected 1"):
        rules_of("solo", 99)
