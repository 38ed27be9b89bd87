"""Lines that a person types, in every accepted form."""

from typing import Any

import pytest

from croupier.cli.terminal.person_input import (
    REACTIONS,
    Command,
    InputFault,
    Propose,
    React,
    Rules,
    Sheet,
    Statistics,
    Vote,
    in_notation,
    is_irrevocable,
    read_input,
)
from croupier.cli.terminal.words import Words
from croupier_api.v1 import actions_pb2 as pb
from croupier_api.v1.cards_pb2 import SUIT_CLUBS, SUIT_HEARTS, SUIT_SPADES, SUIT_UNSPECIFIED, Card, CardFace, Suit
from croupier_api.v1.games_pb2 import WORD_KIND_CALL, WORD_KIND_CARD, WORD_KIND_CONTRACT
from croupier_client.cards import card_from_text

NOTHING = pb.LegalActions()


def cards(notation: str) -> list[Card.ValueType]:
    return [card_from_text(text, FACES) for text in notation.split()]


def play(card: str, suit: Suit.ValueType = SUIT_UNSPECIFIED) -> pb.Action:
    return pb.Action(play=pb.PlayAction(card=card_from_text(card), suit=suit))


def bid(amount: int) -> pb.Action:
    return pb.Action(bid=pb.BidAction(amount=amount))


def keep(kept: str, trump: Suit.ValueType) -> pb.Action:
    return pb.Action(keep_cards=pb.KeepCardsAction(cards=cards(kept), trump=trump))


PASS = pb.Action(pass_turn=pb.PassAction())
STAND_PAT = pb.Action(stand_pat=pb.StandPatAction())
DRAW = pb.Action(draw=pb.DrawAction())
FACES = [
    CardFace(number=64 + at, notation=text, suit="red", label=f"red {text[1]}") for at, text in enumerate(("R6", "R7"))
]
PLAYS = pb.LegalActions(actions=[play("5H"), play("8H", SUIT_CLUBS), play("8H", SUIT_SPADES), DRAW])
BIDS = pb.LegalActions(actions=[PASS, bid(6), bid(60), bid(65)])
TRUMPS = pb.LegalActions(
    actions=[
        pb.Action(name_trump=pb.NameTrumpAction(trump=SUIT_HEARTS, all_tricks=False)),
        pb.Action(name_trump=pb.NameTrumpAction(trump=SUIT_HEARTS, all_tricks=True)),
    ]
)
KEEP = pb.ActionChoice(
    action=pb.Action(keep_cards=pb.KeepCardsAction()),
    cards=pb.CardChoice(cards=cards("6C 5H 5H AS JK"), min_cards=2, max_cards=3),
    suits=[SUIT_HEARTS, SUIT_SPADES],
)
SWAP = pb.ActionChoice(
    action=pb.Action(swap_cards=pb.SwapCardsAction()),
    cards=pb.CardChoice(cards=cards("6C AS"), min_cards=1, max_cards=2),
)
KEEPS = pb.LegalActions(choices=[KEEP])
BOTH = pb.LegalActions(actions=[PASS, STAND_PAT], choices=[KEEP, SWAP])
DESCRIPTION = Words(
    (),
    symbols=True,
    words={
        (WORD_KIND_CARD, "8H"): "the Old",
        (WORD_KIND_CARD, "JK"): "the Fool",
        (WORD_KIND_CONTRACT, "solo_clubs"): "solo in clubs",
    },
)
CONTRACTS = pb.LegalActions(
    actions=[pb.Action(bid=pb.BidAction(contract="solo")), pb.Action(bid=pb.BidAction(contract="solo_clubs"))]
)


@pytest.mark.parametrize(
    ("typed", "legal", "expected"),
    [
        ("1", PLAYS, play("5H")),
        ("4", PLAYS, DRAW),
        ("5h", PLAYS, play("5H")),
        (" play 5H ", PLAYS, play("5H")),
        ("8h s", PLAYS, play("8H", SUIT_SPADES)),
        ("8H, clubs", PLAYS, play("8H", SUIT_CLUBS)),
        ("dr", PLAYS, DRAW),
        ("60", BIDS, bid(60)),
        ("bid 6", BIDS, bid(6)),
        ("pass", BIDS, PASS),
        ("hearts trump", TRUMPS, TRUMPS.actions[0]),
        ("all tricks", TRUMPS, TRUMPS.actions[1]),
        ("5h 5h jk h", KEEPS, keep("5H 5H JK", SUIT_HEARTS)),
        ("keep as 6c spades", BOTH, keep("AS 6C", SUIT_SPADES)),
        ("swap", BOTH, STAND_PAT),
        ("swap AS", BOTH, pb.Action(swap_cards=pb.SwapCardsAction(cards=cards("AS")))),
        ("swap none", BOTH, STAND_PAT),
        ("stand pat", BOTH, STAND_PAT),
        ("keep all but 5h 6c as H", KEEPS, keep("5H JK", SUIT_HEARTS)),
        ("pass", BOTH, PASS),
        ("propose", NOTHING, Propose("")),
        ("propose same cards", NOTHING, Propose("same_cards")),
        ("/propose same_cards", PLAYS, Propose("same_cards")),
        ("Agree", PLAYS, Vote(agree=True)),
        ("refuse", NOTHING, Vote(agree=False)),
        ("/sheet", NOTHING, Sheet()),
        ("/help", NOTHING, Command.HELP),
        ("/leave", NOTHING, Command.LEAVE),
        ("/away", NOTHING, Command.AWAY),
        ("/Back", PLAYS, Command.BACK),
        ("/actions", NOTHING, Command.ACTIONS),
        *((f"/react {name}", NOTHING, React(reaction)) for name, reaction in REACTIONS.items()),
        ("the old clubs", PLAYS, play("8H", SUIT_CLUBS)),
        ("play 8♥ (the Old), order ♣", PLAYS, play("8H", SUIT_CLUBS)),
        ("play old s", PLAYS, play("8H", SUIT_SPADES)),
        ("8H spades", PLAYS, play("8H", SUIT_SPADES)),
        ("solo", CONTRACTS, CONTRACTS.actions[0]),
        ("solo_clubs", CONTRACTS, CONTRACTS.actions[1]),
        ("solo in clubs", CONTRACTS, CONTRACTS.actions[1]),
        ("fool as H", KEEPS, keep("JK AS", SUIT_HEARTS)),
        ("/rules", NOTHING, Rules("")),
        ("/rules THU-PLAY-3", NOTHING, Rules("THU-PLAY-3")),
        ("/rules 101-D8a", PLAYS, Rules("101-D8a")),
        ("/sheet 12", NOTHING, Sheet(12)),
        ("/stats", PLAYS, Statistics()),
        ("/sort", NOTHING, Command.SORT),
        *((word, PLAYS, Command.HELP) for word in ("?", "help")),
        # A card or a bid that is not legal is for the engine to refuse.
        *((word, PLAYS, play("AS")) for word in ("as", "play as")),
        ("1", BIDS, bid(1)),
        ("bid 70", BIDS, bid(70)),
        # Cards are written as people write them.
        *((word, PLAYS, play("5H")) for word in ("H5", "5♥", "♥5", "five of hearts", "5 of hearts", "Five Hearts")),
        ("5h 5h jk ♥", KEEPS, keep("5H 5H JK", SUIT_HEARTS)),
        *((word, PLAYS, play("5H")) for word in ("five h", "5 of ♥", "play 5♥", "play five of hearts")),
    ],
)
def test_input_is_understood(typed: str, legal: pb.LegalActions, expected: object) -> None:
    assert read_input(typed, legal, DESCRIPTION) == expected


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("10h ♣J joker jack of clubs", "TH JC JK JC"),
        ("h10 jC queen spades ace of ♠ Q s", "TH JC QS AS Q s"),
        ("keep all but 10s hearts 10 of", "keep all but TS hearts 10 of"),
        ("", ""),
    ],
)
def test_other_words_than_cards_stay_as_they_are(typed: str, expected: str) -> None:
    assert in_notation(typed.split()) == expected.split()


@pytest.mark.parametrize(
    ("typed", "legal", "message"),
    [
        ("5h", NOTHING, "not your turn"),
        ("", PLAYS, "write what you do"),
        ("9", PLAYS, "9 is not possible now"),
        ("0", PLAYS, "0 is not possible now"),
        ("xyzzy", PLAYS, "xyzzy is not possible now: choose one of the actions above"),
        ("bid 9", PLAYS, "bid 9 is not possible now"),
        ("8h", PLAYS, "could be: play 8H, order C \\| play 8H, order S; write more"),
        ("h", TRUMPS, "could be: name trump H \\| name trump H, all tricks; write more"),
        ("5h 6c", KEEPS, "end with the suit: one of H, S"),
        ("5h 6c clubs", KEEPS, "invalid suit C: expected one of H, S"),
        ("5h hearts", KEEPS, "keep: expected cards: 2-3; found 1"),
        ("6c 6c hearts", KEEPS, "invalid card 6C: expected cards of 6C 5H 5H AS JK, each as often as it is there"),
        ("6c xx hearts", KEEPS, "invalid card xx: expected cards of 6C"),
        ("6c", BOTH, "begin with one of keep, swap"),
        ("/react smile", NOTHING, "/react needs one of thumbs_up"),
        ("/depart", NOTHING, "there is no /depart: there are /sheet, .*/rules, /react NAME, /quit"),
        *((text, NOTHING, "there is no /sheet") for text in ("/sheet one", "/sheet 1 2")),
        ("/rules THU-PLAY-3 THU-PLAY-4", NOTHING, "there is no /rules"),
    ],
)
def test_impossible_input_is_explained(typed: str, legal: pb.LegalActions, message: str) -> None:
    with pytest.raises(InputFault, match=message):
        read_input(typed, legal)


HELD = pb.CardChoice(cards=cards("R6 R7"), min_cards=1, max_cards=2)
OWN_WORDS = Words(
    ("Ada", "Ben"),
    symbols=True,
    words={(WORD_KIND_CARD, "8H"): "the Old", (WORD_KIND_CALL, "last_card"): "Last card!"},
    deck=FACES,
)


def lay(laid: str, owner: int | None = None) -> pb.Action:
    pile = "" if owner is None else "melds"
    return pb.Action(lay=pb.LayAction(cards=cards(laid), meld="row", pile=pile, owner=owner))


def boast(**parts: Any) -> pb.Action:
    return pb.Action(declare_word=pb.DeclareAction(word="boast", **parts))


DRAWS = pb.LegalActions(actions=[pb.Action(draw=pb.DrawAction(pile=pile)) for pile in ("stock", "waste")])
LAYS = pb.LegalActions(
    choices=[
        pb.ActionChoice(action=lay(""), cards=HELD),
        pb.ActionChoice(action=lay("", owner=1), cards=HELD),
        pb.ActionChoice(action=boast(), cards=HELD, amount=pb.AmountChoice(max_amount=4, step=2), seats=[1]),
    ]
)
ANY_BID = pb.ActionChoice(
    action=pb.Action(bid=pb.BidAction()), amount=pb.AmountChoice(min_amount=-5, max_amount=60, step=5)
)
BID_BY_AMOUNT = pb.LegalActions(actions=[PASS], choices=[ANY_BID])


@pytest.mark.parametrize(
    ("typed", "legal", "expected"),
    [
        ("waste", DRAWS, DRAWS.actions[1]),
        ("draw from stock", DRAWS, DRAWS.actions[0]),
        ("1 r6 R7", LAYS, lay("R6 R7")),
        ("2 6", LAYS, lay("R6", owner=1)),
        ("2 all but 6", LAYS, lay("R7", owner=1)),
        ("boast R7 4 2", LAYS, boast(cards=cards("R7"), amount=4, seat=1)),
        ("boast R7 0 2", LAYS, boast(cards=cards("R7"), amount=0, seat=1)),
        ("bid -5", BID_BY_AMOUNT, bid(-5)),
        ("60", BID_BY_AMOUNT, bid(60)),
        ("1", BID_BY_AMOUNT, PASS),
    ],
)
def test_choices_of_unknown_games_are_completed(typed: str, legal: pb.LegalActions, expected: pb.Action) -> None:
    assert read_input(typed, legal, OWN_WORDS) == expected


@pytest.mark.parametrize(
    ("typed", "legal", "message"),
    [
        ("R6", LAYS, "begin with one of 1, 2, boast"),
        ("1", LAYS, "lay: expected cards: 1-2; found 0"),
        (
            "1 5H",
            LAYS,
            "invalid card 5♥: expected cards of R6 \\(red 6\\) R7 \\(red 7\\), each as often as it is there",
        ),
        ("boast R7 1 2", LAYS, "invalid amount '1': expected 0-4"),
        ("boast R7 2 1", LAYS, "invalid seat '1': expected 2"),
        ("bid", BID_BY_AMOUNT, "invalid amount '': expected -5-60"),
        ("bid ten", BID_BY_AMOUNT, "invalid amount 'ten': expected -5-60"),
        ("old", PLAYS, "could be: play 8♥ \\(the Old\\), order ♣ \\|"),
    ],
)
def test_wrong_parts_of_choices_are_reported(typed: str, legal: pb.LegalActions, message: str) -> None:
    with pytest.raises(InputFault, match=message):
        read_input(typed, legal, OWN_WORDS)


@pytest.mark.parametrize("typed", ["last card!", "Last Card!", "last_card"])
def test_a_word_that_is_not_legal_is_left_to_the_engine(typed: str) -> None:
    assert read_input(typed, DRAWS, OWN_WORDS) == pb.Action(declare_word=pb.DeclareAction(word="last_card"))


def test_cards_that_are_given_up_are_confirmed_but_no_words() -> None:
    assert is_irrevocable(keep("5H", SUIT_HEARTS))
    assert not is_irrevocable(boast())
    assert not is_irrevocable(PASS)
