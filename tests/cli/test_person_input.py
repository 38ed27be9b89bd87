"""What a person types, in every way that it can be meant."""

import pytest

from croupier.cli.person_input import REACTIONS, Help, InputFault, Propose, Quit, React, ShowSheet, Vote, read_input
from croupier.cli.words import Words
from croupier_api.v1 import table_pb2 as pb
from croupier_api.v1.cards_pb2 import (
    CARD_5H,
    CARD_6C,
    CARD_8H,
    CARD_AS,
    CARD_JK,
    SUIT_CLUBS,
    SUIT_HEARTS,
    SUIT_SPADES,
    Card,
    Suit,
)

NOTHING = pb.LegalActions()


def play(card: Card.ValueType, suit: Suit.ValueType = 0) -> pb.Action:  # type: ignore[assignment]
    return pb.Action(play=pb.PlayAction(card=card, suit=suit))


def bid(amount: int) -> pb.Action:
    return pb.Action(bid=pb.BidAction(amount=amount))


PASS = pb.Action()
getattr(PASS, "pass").SetInParent()
DRAW = pb.Action(draw=pb.DrawAction())
PLAYS = pb.LegalActions(actions=[play(CARD_5H), play(CARD_8H, SUIT_CLUBS), play(CARD_8H, SUIT_SPADES), DRAW])
BIDS = pb.LegalActions(actions=[PASS, bid(6), bid(60), bid(65)])
TRUMPS = pb.LegalActions(
    actions=[
        pb.Action(name_trump=pb.NameTrumpAction(trump=SUIT_HEARTS, do=False)),
        pb.Action(name_trump=pb.NameTrumpAction(trump=SUIT_HEARTS, do=True)),
    ]
)
KEEP = pb.CardChoice(
    verb=pb.CARD_CHOICE_VERB_KEEP,
    cards=[CARD_6C, CARD_5H, CARD_5H, CARD_AS, CARD_JK],
    min_cards=2,
    max_cards=3,
    suits=[SUIT_HEARTS, SUIT_SPADES],
)
SWAP = pb.CardChoice(verb=pb.CARD_CHOICE_VERB_SWAP, cards=[CARD_6C, CARD_AS], min_cards=0, max_cards=2)
KEEPS = pb.LegalActions(choices=[KEEP])
BOTH = pb.LegalActions(actions=[PASS], choices=[KEEP, SWAP])
NAMED = Words((), symbols=True, terms={"8H": "the Old", "JK": "the Fool", "solo_clubs": "solo in clubs"})
CONTRACTS = pb.LegalActions(
    actions=[pb.Action(bid=pb.BidAction(contract="solo")), pb.Action(bid=pb.BidAction(contract="solo_clubs"))]
)


@pytest.mark.parametrize(
    ("typed", "legal", "wish"),
    [
        ("1", PLAYS, play(CARD_5H)),
        ("4", PLAYS, DRAW),
        ("5h", PLAYS, play(CARD_5H)),
        (" play 5H ", PLAYS, play(CARD_5H)),
        ("8h s", PLAYS, play(CARD_8H, SUIT_SPADES)),
        ("8H, clubs", PLAYS, play(CARD_8H, SUIT_CLUBS)),
        ("dr", PLAYS, DRAW),
        ("60", BIDS, bid(60)),
        ("bid 6", BIDS, bid(6)),
        ("pass", BIDS, PASS),
        ("hearts trump", TRUMPS, TRUMPS.actions[0]),
        ("all tricks", TRUMPS, TRUMPS.actions[1]),
        ("5h 5h jk h", KEEPS, pb.Action(keep=pb.KeepAction(cards=[CARD_5H, CARD_5H, CARD_JK], trump=SUIT_HEARTS))),
        ("keep as 6c spades", BOTH, pb.Action(keep=pb.KeepAction(cards=[CARD_AS, CARD_6C], trump=SUIT_SPADES))),
        ("swap", BOTH, pb.Action(swap=pb.SwapAction())),
        ("swap AS", BOTH, pb.Action(swap=pb.SwapAction(cards=[CARD_AS]))),
        ("swap none", BOTH, pb.Action(swap=pb.SwapAction())),
        ("keep all but 5h 6c as H", KEEPS, pb.Action(keep=pb.KeepAction(cards=[CARD_5H, CARD_JK], trump=SUIT_HEARTS))),
        ("pass", BOTH, PASS),
        ("propose", NOTHING, Propose("")),
        ("propose same cards", NOTHING, Propose("same_cards")),
        ("/propose same_cards", PLAYS, Propose("same_cards")),
        ("Agree", PLAYS, Vote(agree=True)),
        ("refuse", NOTHING, Vote(agree=False)),
        ("/sheet", NOTHING, ShowSheet()),
        ("/help", NOTHING, Help()),
        ("/quit", NOTHING, Quit()),
        *((f"/react {name}", NOTHING, React(name)) for name in REACTIONS),
        ("the old clubs", PLAYS, play(CARD_8H, SUIT_CLUBS)),
        ("play old s", PLAYS, play(CARD_8H, SUIT_SPADES)),
        ("8H spades", PLAYS, play(CARD_8H, SUIT_SPADES)),
        ("solo", CONTRACTS, CONTRACTS.actions[0]),
        ("solo_clubs", CONTRACTS, CONTRACTS.actions[1]),
        ("solo in clubs", CONTRACTS, CONTRACTS.actions[1]),
        ("fool as H", KEEPS, pb.Action(keep=pb.KeepAction(cards=[CARD_JK, CARD_AS], trump=SUIT_HEARTS))),
    ],
)
def test_what_is_meant_is_understood(typed: str, legal: pb.LegalActions, wish: object) -> None:
    assert read_input(typed, legal, NAMED) == wish


@pytest.mark.parametrize(
    ("typed", "legal", "said"),
    [
        ("5h", NOTHING, "not your turn"),
        ("", PLAYS, "write what you do"),
        ("9", PLAYS, "9 is not possible now"),
        ("0", PLAYS, "0 is not possible now"),
        ("as", PLAYS, "as is not possible now: choose one of the numbered"),
        ("8h", PLAYS, "could be play 8H, clubs ordered or play 8H, spades ordered"),
        ("h", TRUMPS, "could be name hearts trump or name hearts trump and all tricks"),
        ("5h 6c", KEEPS, "keep 2 to 3 cards, and end with the suit: one of hearts, spades"),
        ("5h 6c clubs", KEEPS, "clubs cannot be named now"),
        ("5h hearts", KEEPS, "keep 2 to 3 cards, not 1"),
        ("6c 6c hearts", KEEPS, "6C is not there to choose, or not so often"),
        ("6c xx hearts", KEEPS, "'xx' is no card"),
        ("6c", BOTH, "begin with keep or swap"),
        ("/react smile", NOTHING, "/react needs one of thumbs_up"),
        ("/leave", NOTHING, "there is no /leave"),
    ],
)
def test_what_cannot_be_is_explained(typed: str, legal: pb.LegalActions, said: str) -> None:
    with pytest.raises(InputFault, match=said):
        read_input(typed, legal)


def test_questions_are_put_in_the_words_of_the_game() -> None:
    with pytest.raises(InputFault, match="could be play 8♥ \\(the Old\\), clubs ordered or"):
        read_input("old", PLAYS, NAMED)
