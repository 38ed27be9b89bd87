"""What counts as legal, and which actions the kit attempts."""

from random import Random

from croupier.conformance.attempts import attempted_actions, fits, near_cards, some_of_each_form
from croupier.games.actions import Draw, Lay, Pass
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


def test_listed_actions_are_attempted_with_a_card_less_one_more_and_another_one() -> None:
    random = Random(1)
    near = {near_cards(Lay((3, 4, 5), "run"), (3, 4, 5, 6), random) for _ in range(100)}
    fewer, others = [(3, 4), (3, 5), (4, 5)], [(3, 4, 6), (3, 5, 6), (4, 5, 6)]
    assert near == {Lay(cards, "run") for cards in (*fewer, *others, (3, 4, 5, 6))}
    assert near & set(attempted_actions(HighCard(), LEGAL, (3, 4, 5, 6), random))


def test_draws_from_each_pile_are_attempted() -> None:
    attempted = attempted_actions(HighCard(), LEGAL, (7, 8), Random(1))
    assert {Draw("trick"), Draw("stock")} <= set(attempted)


def test_actions_of_a_form_have_the_same_parts() -> None:
    runs, lay_offs = [Lay((card,), "run") for card in range(9)], [Lay((card,), "", "melds", 0) for card in range(9)]
    some = some_of_each_form([*runs, *lay_offs, Pass(), Draw(), Draw("stock")], 2, Random(1))
    assert len(some) == 2 + 2 + 3
    assert len({*some} & {*runs}) == len({*some} & {*lay_offs}) == 2
