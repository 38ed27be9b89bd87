"""The tricks of 110: the order of the cards, following, reneging and being forced out."""

import pytest

from croupier.games.actions import PLAYS, Bid, Pass, Play
from croupier.games.cards import CARD_OF_NOTATION, NOTATION
from croupier.games.facts import SPECTATOR, TrickTaken
from croupier.games.one_ten.trumps import TRUMPS
from tests.games.positions_one_ten import (
    ROUND,
    ROUND_HANDS,
    acts,
    acts_with_facts,
    dealt,
    keeps,
    ordered,
    pile,
    playable,
    position,
    refusal,
    swaps,
)


def legal(trump: str, trick: str, held: str, **options: str) -> str:
    """What may be played from a hand to a trick."""
    laid = list(enumerate(trick.split(), start=1))
    hands = [held, *[""] * max(len(laid), 1)]
    return playable(position(hands, trump, bidder=1, trick=laid, to_act=0, **options))  # type: ignore[arg-type]


def play(trump: str, trick: str, held: str, card: str, **options: str) -> str:
    """The rule that refuses a card."""
    laid = list(enumerate(trick.split(), start=1))
    hands = [held, *[""] * max(len(laid), 1)]
    state = position(hands, trump, bidder=1, trick=laid, to_act=0, **options)  # type: ignore[arg-type]
    return refusal(state, 0, PLAYS[CARD_OF_NOTATION[card]])


# The cards


@pytest.mark.parametrize("trump", "CDHS")
def test_110_RANK_1_trumps_are_the_suit_the_joker_and_the_ace_of_hearts(trump: str) -> None:
    trumps = TRUMPS["CDHS".index(trump)]
    named = {NOTATION[value] for value in range(53) if trumps.trumps >> value & 1}
    assert named == {rank + trump for rank in "23456789TJQKA"} | {"JK", "AH"}


TRUMP_ORDERS = {
    "C": "5C JC JK AH AC KC QC 2C 3C 4C 6C 7C 8C 9C TC",
    "D": "5D JD JK AH AD KD QD TD 9D 8D 7D 6D 4D 3D 2D",
    "H": "5H JH JK AH KH QH TH 9H 8H 7H 6H 4H 3H 2H",
    "S": "5S JS JK AH AS KS QS 2S 3S 4S 6S 7S 8S 9S TS",
}
PLAIN_ORDERS = {
    "C": "KC QC JC AC 2C 3C 4C 5C 6C 7C 8C 9C TC",
    "D": "KD QD JD TD 9D 8D 7D 6D 5D 4D 3D 2D AD",
    "H": "KH QH JH TH 9H 8H 7H 6H 5H 4H 3H 2H",
    "S": "KS QS JS AS 2S 3S 4S 5S 6S 7S 8S 9S TS",
}


@pytest.mark.parametrize("trump", "CDHS")
@pytest.mark.parametrize("led", "CDHS")
def test_110_RANK_2_110_RANK_3_110_RANK_4_110_RANK_5_110_D15_the_orders_of_cards(trump: str, led: str) -> None:
    power = TRUMPS["CDHS".index(trump)].power["CDHS".index(led)]
    in_order = [NOTATION[value] for value in sorted(range(53), key=lambda value: -power[value]) if power[value]]
    plain = "" if led == trump else PLAIN_ORDERS[led]
    assert in_order == f"{TRUMP_ORDERS[trump]} {plain}".split()


@pytest.mark.parametrize(
    ("trick", "winner"), [("5S 5S 2S", 0), ("KC KC 2C", 0), ("2C KC KC", 1), ("2S AH AH", 1), ("9D KC KC", 0)]
)
def test_110_RANK_6_of_two_equal_cards_the_earlier_is_higher(trick: str, winner: int) -> None:
    texts = trick.split()
    state = position([f"{text} 9H" for text in texts], "S", decks=2)
    assert acts(state, " ".join(f"{seat}:{text}" for seat, text in enumerate(texts))).winners == (winner,)


# How tricks go


def test_110_TRICK_1_the_bid_winner_leads() -> None:
    state = acts(dealt(ROUND_HANDS, dealer=1, hand_size="5"), "2=15 0=20 1=pass 2=pass")
    state = keeps(swaps(swaps(state, 1), 2), 0, ROUND_HANDS[0], "S")
    assert (state.phase, state.to_act) == ("tricks", (0,))
    for action in (Bid(15), Pass(), Play(CARD_OF_NOTATION["5S"], 3)):
        assert refusal(state, 0, action) == "110-TRICK-3"


@pytest.mark.parametrize(("led", "suit"), [("7S", "S"), ("JK", "S"), ("AH", "S"), ("KH", "H"), ("5C", "C")])
def test_110_TRICK_2_a_trump_asks_for_trumps_a_plain_card_for_its_suit(led: str, suit: str) -> None:
    assert TRUMPS[3].led[CARD_OF_NOTATION[led]] == "CDHS".index(suit)


def test_110_TRICK_3_every_seat_plays_one_card_clockwise() -> None:
    state = position(ROUND_HANDS, hand_size="5", bidder=1)
    for seat, text in ((1, "TD"), (2, "KD"), (0, "QD")):
        assert state.to_act == (seat,)
        for other in {0, 1, 2} - {seat}:
            assert refusal(state, other, PLAYS[CARD_OF_NOTATION[text]]) == "110-TRICK-3"
        state = acts(state, f"{seat}:{text}")
    assert state.winners == (2,)


def test_110_TRICK_4_110_TRICK_6_who_takes_a_trick_leads_until_all_cards_are_played() -> None:
    state, facts = acts_with_facts(position(ROUND_HANDS, hand_size="5"), ROUND)
    assert [fact.seat for fact in facts if isinstance(fact, TrickTaken)] == [0, 0, 0, 2, 2]
    assert state.hands == (0, 0, 0)
    assert [seat.tricks_taken for seat in state.view(SPECTATOR).seats] == [3, 0, 2]


def test_110_VIS_1_all_that_was_played_stays_to_be_seen_with_its_seat() -> None:
    state = acts(position(ROUND_HANDS, hand_size="5"), ROUND.split(" 1:3S")[0])
    assert pile(state, SPECTATOR, "taken") == (3, "5S 2S 9D")
    view = state.view(1)
    assert [laid.seat for lying in view.piles for laid in lying.cards] == [0, 1, 2, 0]
    assert [seat.card_count for seat in view.seats] == [3, 4, 4]


# Reneging


@pytest.mark.parametrize("trump", "CDHS")
def test_110_REN_1_four_cards_renege(trump: str) -> None:
    trumps, reneging = TRUMPS["CDHS".index(trump)], [f"5{trump}", f"J{trump}", "JK", "AH"]
    assert {NOTATION[value] for value in range(53) if (trumps.trumps & ~trumps.ordinary) >> value & 1} == {*reneging}
    for text in NOTATION:
        forced = {NOTATION[value] for value in range(53) if trumps.forces[CARD_OF_NOTATION[text]] >> value & 1}
        assert forced == {*reneging[reneging.index(text) + 1 :]} if text in reneging else not forced


def test_110_REN_4_110_D14_the_five_never_and_of_several_one_is_chosen() -> None:
    assert legal("S", "JS", "5S 2S") == ordered("5S 2S")
    assert legal("S", "5S", "JS JK AH 2S") == ordered("JS JK AH")
    assert legal("S", "JK", "JS AH 2S") == "AH"
    state = position(["5S 9S", "JS JK 2D"], "S", size=2)
    state = acts(state, "0:5S 1:JK 0:9S")
    assert playable(state) == ordered("JS 2D")


def test_110_REN_5_an_equal_card_forces_nothing_out() -> None:
    assert legal("S", "JS", "JS KC", decks=2) == ordered("JS KC")  # type: ignore[arg-type]
    assert legal("S", "5S JS", "5S KC", decks=2) == ordered("5S KC")  # type: ignore[arg-type]


# What may be played


def test_110_PLAY_1_the_leader_plays_any_card_that_he_holds() -> None:
    assert legal("S", "", "5S 2D KH JK") == ordered("5S 2D KH JK")
    for value in (-1, 53, 106, 10**9, CARD_OF_NOTATION["3D"]):
        assert refusal(position(["5S 2D", "KC 3D"]), 0, Play(value)) == "110-PLAY-1"


def test_110_PLAY_2_only_forced_out_cards_are_legal() -> None:
    for card in ("5S", "2S", "KC"):
        assert play("S", "7C JS", "5S AH 2S KC", card) == "110-PLAY-2"
    assert play("S", "7C JS", "5S AH 2S KC", "AH") == ""


def test_110_PLAY_3_the_suit_or_a_trump() -> None:
    assert play("S", "7D", "2D 3S KC", "KC") == "110-PLAY-3"
    assert legal("S", "7D", "2D 3S AH JK KC") == ordered("2D 3S AH JK")


def test_110_PLAY_4_an_ordinary_trump_obliges() -> None:
    assert play("S", "7S", "2S JS KC", "KC") == "110-PLAY-4"
    assert legal("S", "7S", "2S JS 5S KC") == ordered("2S JS 5S")


def test_110_PLAY_6_when_only_led_trumps_force_out_any_trump_will_do() -> None:
    late = {"force_out": "trump_led"}
    assert legal("S", "JS", "AH 5S KC", **late) == ordered("AH 5S")
    assert play("S", "JS", "AH 5S KC", "KC", **late) == "110-PLAY-6"
    assert legal("S", "7C JS", "AH KC 2D", **late) == ordered("AH KC")
    assert legal("S", "7C JS", "AH 2D", **late) == ordered("AH 2D")
    assert play("S", "7C JS", "AH KC 2D", "2D", **late) == "110-PLAY-3"
