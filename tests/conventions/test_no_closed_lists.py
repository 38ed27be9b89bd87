"""No code knows a game but the game itself and its judge: every other game is installed by its package.

Ids of croupier's own games, and names of their piles, are in no text of the code outside of these two; docstrings and
comments may have them as examples.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from croupier.games.registry import OWN_GAMES

ROOT = Path(__file__).parents[2]
FOLDERS = ("services/croupier", "clients/python/croupier_client", "loadtest/croupier_loadtest", "benchmarks", "k8s")
OF_GAMES = ("services/croupier/games", "loadtest/croupier_loadtest/judge/rules")
ONE_GAME = "measures one game, so that its figures can be compared with earlier ones"
DEFAULT = "the game of a command without an option"
EXCEPTIONS = {
    "services/croupier/cli/commands/play.py": DEFAULT,
    "services/croupier/cli/commands/player_options.py": DEFAULT,
    "loadtest/croupier_loadtest/demo/command.py": DEFAULT,
    "benchmarks/league.py": DEFAULT,
    "services/croupier/scoring/migrations/versions/0006_outcomes.py": "changes rows that were written before it",
    "benchmarks/attacks.py": ONE_GAME,
    "benchmarks/loads.py": ONE_GAME,
    "benchmarks/own_tables.py": ONE_GAME,
    "benchmarks/page.py": ONE_GAME,
    "benchmarks/scale.py": ONE_GAME,
}
"""The reasons of files that name a game, by path."""
FIELD = "pile"
"""A field of the contract, and the name of a pile."""
PILES = frozenset(pile.name for game in OWN_GAMES.values() for pile in game.piles) - {FIELD}


def sources(*folders: str) -> Iterator[Path]:
    """Yield the sources of folders, except for those of games and of generated code."""
    for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(OF_GAMES) and not path.stem.endswith(("_pb2", "_pb2_grpc")):
            yield path


def texts(source: str) -> Iterator[str]:
    """Yield the texts of a source that are no docstrings."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def games_named(source: str) -> set[str]:
    """Return the ids of own games that are words of a source's texts."""
    return {word for text in texts(source) for word in re.findall(r"\w+", text)} & set(OWN_GAMES)


def test_only_games_and_judges_name_games() -> None:
    naming = {path.relative_to(ROOT).as_posix() for path in sources(*FOLDERS) if games_named(path.read_text())}
    assert sorted(naming - set(EXCEPTIONS)) == []
    assert sorted(set(EXCEPTIONS) - naming) == [], "an exception that is not needed"


def test_the_load_test_knows_no_pile() -> None:
    named = {
        (path.relative_to(ROOT).as_posix(), text)
        for path in sources("loadtest/croupier_loadtest")
        for text in texts(path.read_text())
        if text in PILES
    }
    assert sorted(named) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('GAMES = ("thulla", "whist")', {"thulla"}),
        ('"""Plays solo."""\nmix = "solo=2,whist"', {"solo"}),
        ('class Mix:\n    """Such as "thulla=2"."""\n    game = ""\n    """The game, such as "solo"."""', set()),
        ("# solo\nsoloist = 1", set()),
    ],
)
def test_a_game_is_found_in_texts_and_not_in_docstrings(source: str, found: set[str]) -> None:
    assert games_named(source) == found
