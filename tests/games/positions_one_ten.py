"""Rounds of 110 with given cards."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from croupier.games.cards import SUITS, Card, card, cards
from croupier.games.facts import PileCard, Seat
from croupier.games.hands import hand_of
from croupier.games.interface import CardsShuffled, OptionValue
from croupier.games.one_ten import state as states
from croupier.games.one_ten.game import OneTen
from croupier.games.one_ten.state import OneTenState
from tests.games import dispatch, positions

ONE_TEN = OneTen()
new = partial(positions.new, "one_ten")
"""Return a table before its first deal."""
ROUND_HANDS = "5S JS KC QD 2H | 2S 3S 4C TD QH | KD KH 9D 2D 5C"
"""The round of the scoring examples on the rules page."""
ROUND = "0:5S 1:2S 2:9D 0:JS 1:3S 2:2D 0:KC 1:4C 2:5C 0:QD 1:TD 2:KD 2:KH 0:2H 1:QH"


def shuffled(options: states.OneTenOptions, dealer: Seat, hands: str, kitty: str, stock: str = "") -> tuple[Card, ...]:
    """Return the order of the pack that deals these hands, kitty and top of the stock; "" is any card."""
    left = list(options.deck)
    for value in cards(" ".join((hands.replace("|", " "), kitty, stock))):
        left.remove(value)
    full = [_filled(text, options.hand_size, left) for text in hands.split("|")]
    turns = [full[(dealer + 1 + turn) % options.seats] for turn in range(options.seats)]
    dealt = [hand[at] for at in range(options.hand_size) for hand in turns]
    return (*dealt, *_filled(kitty, 5, left), *cards(stock), *left)


def _filled(text: str, count: int, left: list[Card]) -> list[Card]:
    held = list(cards(text))
    return held + [left.pop(0) for _ in range(count - len(held))]


def dealt(hands: str, kitty: str = "", stock: str = "", dealer: Seat = 0, **options: OptionValue) -> OneTenState:
    """Return the first round after its deal, with hands such as "5S JS | 2D |"; other cards are filled in."""
    state: OneTenState = new(hands.count("|") + 1, **options)
    return dispatch.apply(state, CardsShuffled(shuffled(state.options, dealer, hands, kitty, stock), (dealer,)))[0]


def position(
    hands: str,
    trump: str = "S",
    bidder: Seat = 0,
    bid: int = 15,
    scores: Sequence[int] = (),
    trick: Sequence[tuple[Seat, str]] = (),
    to_act: Seat | None = None,
    dealer: Seat = 0,
    tricks: int | None = None,
    **options: OptionValue,
) -> OneTenState:
    """Return a round in its tricks, with these hands and cards in the trick; there are as many tricks as cards.

    The seat to act is the one that leads the first trick. Another one, or fewer tricks, may be given.
    """
    held = [cards(text) for text in hands.split("|")]
    size = max(map(len, held))
    start: OneTenState = new(len(held), **options)
    return start._replace(
        options=replace(start.options, hand_size=size, tricks=tricks or size),
        progress=states.Progress(1, dealer, tuple(scores) or (0,) * len(held)),
        phase="tricks",
        to_act=(start.options.first_leader(bidder) if to_act is None else to_act,),
        hands=tuple(map(hand_of, held)),
        auction=states.Auction((), bidder, bid),
        exchange=start.exchange._replace(trump=SUITS.index(trump)),
        trick=tuple(PileCard(card(text), seat) for seat, text in trick),
    )
