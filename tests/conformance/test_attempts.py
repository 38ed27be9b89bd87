"""What counts as legal, and which actions the kit attempts."""

from random import Random

from croupier.conformance.attempts import attempted_actions, fits
from croupier.games.actions import Lay, Pass
from croupier.games.interface import Legal
from tests.conformance.small_game import HighCard

LEGAL = Legal((Lay((3, 4, 5), "run"), Pass()))


def test_an_action_is_legal_in_any_order_of_its_cards_and_not_with_others() -> None:
    assert fits(LEGAL, Lay((5, 3, 4), "run"))
    assert fits(LEGAL, Pass())
    assert not any(fits(LEGAL, Lay(cards, "run")) for cards in ((3, 4), (3, 4, 6), (3, 3, 4, 5)))
    assert not fits(LEGAL, Lay((5, 3, 4), "set"))


def test_lay_offs_are_attempted() -> None:
    attempted = attempted_actions(HighCard(), LEGAL, (7, 8), Random(1))
    assert any(isinstance(action, Lay) and action.pile and not action.meld for action in attempted)
