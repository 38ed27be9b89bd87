"""Each game has a page, a second implementation, worked positions, perft numbers, playthroughs and bots.

Each rule of a page has a test that carries its id, in its name or as the id of a case.
"""

import re
from pathlib import Path

import pytest

from croupier.engine.api.game_texts import FOLDER as TEXTS
from croupier.games.interface import Game, resolve_options
from croupier.games.registry import OWN_GAMES
from croupier.runtime.translations import ENGLISH, LANGUAGES
from croupier_loadtest.judge.rules.registry import OWN_JUDGES
from tests.games.judge_table import judge_table
from tests.games.record import FOLDER, playthroughs
from tests.games.test_bots import DECISIONS
from tests.games.test_perft import CASES as PERFT

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "services" / "croupier" / "games"
TESTS = ROOT / "tests" / "games"
MIN_POSITIONS = 10
MIN_PERFTS = 3

RULE = re.compile(r"\b[A-Z0-9]+-(?:[A-Z]+-\d+|D\d+[a-z]?)\b")
DEFINITION = re.compile(rf"\*\*({RULE.pattern})\*\*")

every_game = pytest.mark.parametrize("game", OWN_GAMES.values(), ids=lambda game: game.id)


def page(game: Game) -> str:
    """Return the text of a game's rules page."""
    return page_path(game).read_text()


def page_path(game: Game, language: str = ENGLISH) -> Path:
    return PACKAGES / game.id / TEXTS / f"rules.{language}.md"


def test_every_page_and_catalogue_belongs_to_a_game() -> None:
    pages = {page_path(game, language) for game in OWN_GAMES.values() for language in LANGUAGES}
    assert set(PACKAGES.glob("**/*.md")) <= pages
    translated = [language for language in LANGUAGES if language != ENGLISH]
    places = {Path(), *map(Path, OWN_GAMES)}
    catalogues = {PACKAGES / place / TEXTS / f"words.{language}.po" for place in places for language in translated}
    assert set(PACKAGES.glob("**/*.po")) <= catalogues


@every_game
def test_the_page_has_every_option_with_its_default(game: Game) -> None:
    text = page(game)
    for option in game.options(game.seats.stop - 1):
        row = next((line for line in text.splitlines() if line.startswith(f"| `{option.name}`")), None)
        assert row is not None, f"no table row of {page_path(game)} begins with `{option.name}`"
        assert str(option.default).lower() in row.lower()


@every_game
def test_the_page_has_every_preset_with_its_options(game: Game) -> None:
    for preset in game.presets:
        assert f"`{preset.name}`" in page(game)
        for name, value in preset.options.items():
            assert f"`{name}` {value}" in page(game)


@every_game
def test_worked_positions_perft_numbers_and_playthroughs_are_there(game: Game) -> None:
    worked = {rule for rule in DEFINITION.findall(page(game)) if "-EX-" in rule}
    assert len(worked & covered()) >= MIN_POSITIONS
    assert sum(name.startswith(f"{game.id}-") for name in PERFT) >= MIN_PERFTS
    assert "perft" in page(game).lower()
    wanted = {f"{name}.jsonl" for name, *_ in playthroughs(game)}
    assert {path.name for path in (FOLDER / game.id).iterdir()} == wanted, "one is missing or left over"


@every_game
def test_the_judge_has_its_rules(game: Game) -> None:
    assert OWN_JUDGES[game.id].rules_version == game.rules_version
    seats = game.seats[0]
    state = game.new(seats, resolve_options(game, seats, {}))
    assert isinstance(judge_table(state), type(OWN_JUDGES[game.id](seats, resolve_options(game, seats, {}))))
    earlier = {option.name: option.earlier for option in game.options(seats) if option.earlier is not None}
    assert OWN_JUDGES[game.id].earlier_options == earlier


@every_game
def test_it_has_bots(game: Game) -> None:
    assert {"sensible", "random"} <= set(game.bots)
    assert DECISIONS[game.id]


def covered() -> set[str]:
    """Return the rule ids in the names of tests (with _ for -) and in the ids of their cases."""
    found: set[str] = set()
    for path in TESTS.glob("test_*.py"):
        source = path.read_text()
        names = re.findall(r"def test_(\w+)", source) + re.findall(r'\bid="([^"]+)"', source)
        found.update(rule for name in names for rule in RULE.findall(re.sub(r"[_ ]", "-", name) + "-"))
    return found


@every_game
def test_every_rule_has_a_test(game: Game) -> None:
    defined = DEFINITION.findall(page(game))
    assert defined, f"{page_path(game)} defines no rule: write ids bold where they are defined"
    assert sorted({rule for rule in defined if defined.count(rule) > 1}) == []
    assert sorted(set(defined) - covered()) == []


@every_game
def test_the_code_names_no_rule_that_the_page_does_not_define(game: Game) -> None:
    defined = set(DEFINITION.findall(page(game)))
    prefixes = {rule.partition("-")[0] for rule in defined}
    for path in PACKAGES.rglob("*.py"):
        named = {rule for rule in RULE.findall(path.read_text()) if rule.partition("-")[0] in prefixes}
        assert sorted(named - defined) == [], path
