"""What games share: actions in JSON, choices, the notation of own cards, hands of two packs, and standings."""

import pytest

from croupier.games.actions import (
    UNCHOSEN,
    Action,
    Bid,
    CallNobody,
    CallPartner,
    Declare,
    Draw,
    KeepBid,
    KeepCards,
    Lay,
    MatchBid,
    NameTrump,
    Pass,
    Play,
    StandPat,
    SwapCards,
    ThrowDown,
    YieldBid,
    decode_action,
    encode_action,
)
from croupier.games.cards import JOKER, STANDARD_NAMES, Card, CardFace, card_names, cards
from croupier.games.choices import ActionChoice, AmountChoice, CardChoice, Parts, complete, fits
from croupier.games.hands import PACK, cards_in, hand_of, holds, taken_out, with_cards, without
from croupier.games.standings import clamped, ranked, relative_to_others
from tests.games.toy import NAMES

ENCODED: tuple[tuple[Action, dict[str, object]], ...] = (
    (Bid(-20), {"type": "bid", "amount": -20}),
    (Bid("vip"), {"type": "bid", "bid": "vip"}),
    (Pass(), {"type": "pass"}),
    (MatchBid(), {"type": "match"}),
    (YieldBid(), {"type": "yield"}),
    (KeepCards((), 2), {"type": "keep", "cards": [], "trump": "H"}),
    (KeepCards((3, 52), 0), {"type": "keep", "cards": ["5C", "JK"], "trump": "C"}),
    (KeepBid(), {"type": "keep"}),
    (SwapCards((5, 5)), {"type": "swap", "cards": ["7C", "7C"]}),
    (StandPat(), {"type": "swap", "cards": []}),
    (Draw(), {"type": "draw"}),
    (Draw("waste"), {"type": "draw", "pile": "waste"}),
    (Play(0), {"type": "play", "card": "2C"}),
    (Play(63), {"type": "play", "card": "R1"}),
    (Play(10, 3), {"type": "play", "card": "QC", "suit": "S"}),
    (CallPartner(None), {"type": "call", "card": "unknown"}),
    (CallPartner(12), {"type": "call", "card": "AC"}),
    (CallNobody(), {"type": "call", "card": "nobody"}),
    (NameTrump(0, all_tricks=False), {"type": "name_trump", "trump": "C", "do": False}),
    (NameTrump(3, all_tricks=True), {"type": "name_trump", "trump": "S", "do": True}),
    (ThrowDown(), {"type": "throw_down"}),
    (Lay((63,)), {"type": "lay", "cards": ["R1"]}),
    (
        Lay((86, 63), "row", "melds", 0),
        {"type": "lay", "cards": ["B12", "R1"], "meld": "row", "pile": "melds", "owner": 0},
    ),
    (Declare("last_card"), {"type": "declare", "word": "last_card"}),
    (Declare("bet", 0, 0, (64,)), {"type": "declare", "word": "bet", "seat": 0, "amount": 0, "cards": ["R2"]}),
)


@pytest.mark.parametrize(("action", "encoded"), ENCODED, ids=str)
def test_actions_are_encoded_in_the_notation_of_the_rules_pages_and_decoded_again(
    action: Action, encoded: dict[str, object]
) -> None:
    assert list(encode_action(action, NAMES).items()) == list(encoded.items())
    assert decode_action(encoded, NAMES) == action


@pytest.mark.parametrize("card", [-1, 53, 62, 63, 254, 1 << 70])
def test_a_card_that_the_game_does_not_have_has_no_notation(card: Card) -> None:
    with pytest.raises(ValueError, match="invalid card number"):
        encode_action(Play(card), STANDARD_NAMES)


@pytest.mark.parametrize(
    ("card", "notation"),
    [(62, "R2"), (255, "R2"), (0, "R2"), (63, "R2")] + [(64, text) for text in ("", "R1", "5H", "R 2", "R2345", "R\n")],
)
def test_an_own_card_whose_number_or_notation_is_taken_or_impossible_is_refused(card: Card, notation: str) -> None:
    with pytest.raises(ValueError, match="invalid card number" if notation == "R2" else "invalid notation"):
        card_names((CardFace(63, "R1", "red", "1", "Red one"), CardFace(card, notation, "red", "2", "Red two")))


KEEP = ActionChoice(KeepCards((), UNCHOSEN), CardChoice((1, 2, 2), 1, 2), (0, 3))
BET = ActionChoice(Declare("bet"), CardChoice((1, 2), 0, 1), amount=AmountChoice(60, 70, 5), seats=(1, 2))
BID = ActionChoice(Bid(UNCHOSEN), amount=AmountChoice(0, 2))
ORDER = ActionChoice(Play(10), suits=(1, 2))
LAY = ActionChoice(Lay((), "row", "melds", 1), CardChoice((1, 2), 1, 2))


@pytest.mark.parametrize(
    ("choice", "parts", "completed"),
    [
        (KEEP, Parts((2, 2), suit=3), KeepCards((2, 2), 3)),
        (KEEP, Parts((1,), suit=0), KeepCards((1,), 0)),
        (BET, Parts((), amount=65, seat=2), Declare("bet", 2, 65)),
        (BET, Parts((1,), amount=60, seat=1), Declare("bet", 1, 60, (1,))),
        (BID, Parts(amount=0), Bid(0)),
        (ORDER, Parts(suit=2), Play(10, 2)),
        (LAY, Parts((2, 1)), Lay((2, 1), "row", "melds", 1)),
    ],
)
def test_a_choice_is_completed_by_its_parts(choice: ActionChoice, parts: Parts, completed: Action) -> None:
    assert complete(choice, parts) == completed
    assert fits(choice, completed)


@pytest.mark.parametrize(
    ("choice", "parts"),
    [
        *((KEEP, Parts(cards, suit=0)) for cards in ((), (1, 2, 2), (1, 1), (3,))),
        *((KEEP, Parts((1,), suit=suit)) for suit in (None, 1, -1)),
        *((BET, Parts(amount=amount, seat=1)) for amount in (None, 55, 61, 75)),
        *((BET, Parts(amount=60, seat=seat)) for seat in (None, 0, 3)),
        (KEEP, Parts((1,), suit=0, amount=1)),
        (LAY, Parts((1,), seat=1)),
        (BID, Parts((1,), amount=1)),
        (BID, Parts(amount=1, suit=1)),
        (ActionChoice(Pass(), suits=(1,)), Parts(suit=1)),
        (ActionChoice(Pass(), CardChoice((1,), 1, 1)), Parts((1,))),
    ],
)
def test_parts_that_cannot_be_chosen_are_refused(choice: ActionChoice, parts: Parts) -> None:
    with pytest.raises(ValueError, match="invalid"):
        complete(choice, parts)


@pytest.mark.parametrize(
    ("choice", "action"),
    [
        (KEEP, SwapCards((1,))),
        (KEEP, KeepCards((1, 1), 0)),
        (KEEP, KeepCards((1,), UNCHOSEN)),
        (BET, Declare("boast", 1, 60)),
        (BET, Declare("bet", None, 60)),
        (BID, Bid("vip")),
        (ORDER, Play(11, 1)),
        (ORDER, Play(10)),
        (LAY, Lay((1,), "row", "melds", 2)),
    ],
)
def test_an_action_of_another_choice_does_not_fit(choice: ActionChoice, action: Action) -> None:
    assert not fits(choice, action)


def test_the_smallest_merit_comes_first_and_equal_ones_share() -> None:
    merits = {0: 5, 1: -3, 2: 5, 3: 0}
    assert ranked(range(4), lambda seat: merits[seat]) == ((1,), (3,), (0, 2))


def test_gains_are_compared_with_the_mean_of_the_others() -> None:
    assert relative_to_others([3, 3, 3], 10) == [0.5, 0.5, 0.5]
    assert relative_to_others([6, 0, 2], 10) == pytest.approx([1.0, 0.1, 0.4])
    assert relative_to_others([100, 0], 10) == [1.0, 0.0]
    assert [clamped(value) for value in (-0.1, 0.25, 1.1)] == [0.0, 0.25, 1.0]


def test_a_hand_of_two_packs_holds_cards_twice() -> None:
    twice = cards("KH KH 4C JK")
    hand = hand_of(twice)
    assert cards_in(hand) == tuple(sorted(twice))
    assert with_cards(hand_of(cards("KH")), cards("4C KH JK")) == hand
    assert without(hand, twice[0]) == hand_of(cards("KH 4C JK"))
    assert without(without(hand, twice[0]), twice[0]) == hand_of(cards("4C JK"))
    assert taken_out(hand, cards("KH KH")) == hand_of(cards("4C JK"))
    assert taken_out(hand, cards("4C 4C")) is None
    assert [holds(hand, value) for value in (JOKER, -1, PACK, twice[0])] == [True, False, False, True]
