"""A game of another package in the image: the command line names it, and its tables are played."""

from collections.abc import Mapping

import pytest

from tests.image.container import Image
from tests.image.test_contents import uncompiled
from tests.programs import missing

pytestmark = pytest.mark.built


@pytest.fixture
def game(games_of_packages: Mapping[str, str]) -> str:
    """Return the first such game."""
    return next(iter(games_of_packages), None) or missing(
        "the image has croupier's own games only: make image GAMES=..."
    )


def test_the_command_line_names_it(image: Image, game: str) -> None:
    code, output = image.run("games")
    assert code == 0, output
    assert f"\n{game} - " in output


def test_its_modules_are_compiled(image: Image, game: str) -> None:
    code, output = image.run_python(
        f"from croupier.games.registry import installed_games; print(type(installed_games()[{game!r}]).__module__)"
    )
    assert code == 0, output
    assert uncompiled(image, output.partition(".")[0]) == []


def test_a_demonstration_plays_it_on_services_of_the_image(image: Image, game: str) -> None:
    code, output = image.run("demo", "--game", game, "--quiet")
    assert code == 0, output
    assert "no violation" in output
