"""Example Game obeys the laws of all games, and play reaches all that it can do."""

from croupier_example_game.game import ExampleGame

from croupier.conformance import check_game


def test_the_game_obeys_all_laws() -> None:
    report = check_game(ExampleGame())
    assert report.holds, "\n".join(report.lines())
