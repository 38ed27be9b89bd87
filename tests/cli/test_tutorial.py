"""The tutorial of a new game: its files make a package that obeys all laws, and whose tables the judge knows."""

import re
from pathlib import Path

import pytest

from croupier.cli.commands.new_game import new_game
from tests.cli.new_package import croupier, install

PAGE = Path(__file__).parents[2] / "docs" / "adding-a-game.md"
BLOCK = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
GAME = "hearts"
MAX_GAME_LINES = 90
"""Of code, without blank lines and docstrings of one line."""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of the tutorial, installed."""
    folder = tmp_path_factory.mktemp("tutorial") / GAME
    new_game(GAME, folder.parent)
    for name, text in BLOCK.findall(PAGE.read_text()):
        if name == "pyproject.toml":
            with (folder / name).open("a") as project:
                project.write(text)
        else:
            (folder / f"croupier_{GAME}" / name).write_text(text)
    install(folder, GAME)
    return folder


def test_the_game_obeys_all_laws(package: Path, seed: int) -> None:
    report = croupier(package, "games", GAME, "--check", "--seed", str(seed))
    assert "The rules were compared with a second implementation." in report


def test_its_tables_are_judged(package: Path) -> None:
    line = croupier(package, "demo", "--game", GAME, "--option", "target=26", "--quiet", "--seed", "1")
    assert "no violation" in line
    assert "not judged" not in line


@pytest.mark.slow
def test_a_load_test_is_fit_to_ship(package: Path, tmp_path: Path) -> None:
    options = ("--tables=2", "--run-time=10", "--think=0", "--grace=60", "--seed=1", f"--results={tmp_path}")
    croupier(package, "load", "--headless", "--only-summary", "--tags=smoke", f"--mix={GAME}", *options)


def test_the_rules_are_short(package: Path) -> None:
    lines = (package / f"croupier_{GAME}" / "game.py").read_text().splitlines()
    code = [line for line in lines if line.strip() and not re.fullmatch(r'\s*""".*"""', line)]
    assert len(code) <= MAX_GAME_LINES
