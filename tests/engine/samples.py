"""Actions of every kind, with cards of a custom deck among them."""

from croupier.games import actions
from croupier.games.cards import OWN_CARDS, CardFace

DECK = tuple(CardFace(card, f"R{card - 62}", "red", str(card - 62), "") for card in (OWN_CARDS[0], OWN_CARDS[-1]))
"""The first and the last card that a deck may have."""
FIXED: tuple[actions.Action, ...] = (
    *(actions.Pass(), actions.MatchBid(), actions.YieldBid(), actions.KeepBid(), actions.StandPat()),
    actions.ThrowDown(),
)
ACTIONS: tuple[actions.Action, ...] = (
    *(*FIXED, *actions.PLAYS),
    *(actions.Play(card, suit) for card in (0, 51, 52) for suit in range(4)),
    *(actions.Play(63), actions.Play(254, 3)),
    *(actions.Bid(bid) for bid in (0, -20, 110, "vip", "x" * 64)),
    *(actions.KeepCards(cards, trump) for cards, trump in (((), 0), ((3, 2, 1), 2), ((254,), 3))),
    *(actions.SwapCards(cards) for cards in ((5,), (5, 52, 5), (63,))),
    *(actions.Draw(), actions.Draw("waste")),
    *(actions.CallPartner(card) for card in (None, 0, 51, 63)),
    *(actions.NameTrump(trump, do) for trump, do in ((0, False), (3, True))),
    *(actions.Lay((0,)), actions.Lay((63, 1), "run", "melds", 0)),
    *(actions.Declare("last_card"), actions.Declare("bet", 0, 0, (0, 63)), actions.Declare("bet", 7, -5)),
)
