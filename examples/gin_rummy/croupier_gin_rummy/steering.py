"""Steering of random play to positions of Gin Rummy that it hardly ever reaches, for tests."""

from collections.abc import Sequence

from croupier.games.cards import Card, cards_of_mask, mask_of
from croupier.games.facts import Fact, HandRevealed
from croupier.games.interface import CardsShuffled, Event, Observation, RandomSource, SeatActed
from croupier.games.sampling import sample
from croupier_gin_rummy import turns
from croupier_gin_rummy.bots import sensible
from croupier_gin_rummy.melds import MELDS, least_deadwood
from croupier_gin_rummy.state import HAND_SIZE, SEATS, GinState
from croupier_gin_rummy.view import view


def is_of_a_knock(fact: Fact) -> bool:
    """Return whether a fact opens a hand, as a knock does (GIN-KNOCK-5)."""
    return isinstance(fact, HandRevealed)


def strong_hands(state: GinState, event: Event, randrange: RandomSource) -> Event:
    """Return strong hands and mostly sensible actions, so that there are knocks, gin and lay-offs."""
    match event:
        case CardsShuffled(cards, drawn) if randrange(5) < 3:
            return CardsShuffled(_strong_deal(cards, randrange), drawn)
        case SeatActed(seat) if randrange(4):
            seen = Observation(seat, {}, view(state, seat), turns.legal_actions(state, seat))
            return SeatActed(seat, sensible(seen, randrange))
    return event


def _strong_deal(cards: Sequence[Card], randrange: RandomSource) -> tuple[Card, ...]:
    """Return an order of the cards by which both hands have melds, often with an upcard that suits one of them."""
    left, hands = list(cards), list[list[Card]]()
    for _ in range(SEATS):
        hands.append(_melded(left, randrange))
        left = [card for card in left if card not in hands[-1]]
    for hand in hands:
        for _ in range(randrange(3)):
            mine, theirs = randrange(HAND_SIZE), randrange(len(left))
            hand[mine], left[theirs] = left[theirs], hand[mine]
    fitting = [card for card in left for hand in hands if not least_deadwood(mask_of([*hand, card]))]
    if fitting and randrange(2):
        left.remove(fitting[0])
        left.insert(0, fitting[0])
    return (*(card for pair in zip(*hands, strict=True) for card in pair), *left)


def _melded(left: Sequence[Card], randrange: RandomSource) -> list[Card]:
    """Return ten of these cards, most of them in melds."""
    hand = list[Card]()
    for meld in sample(MELDS, len(MELDS), randrange):
        cards = cards_of_mask(meld.mask)
        if len(hand) + len(cards) <= HAND_SIZE and all(card in left and card not in hand for card in cards):
            hand += cards
    others = [card for card in left if card not in hand]
    return [*hand, *sample(others, HAND_SIZE - len(hand), randrange)]
