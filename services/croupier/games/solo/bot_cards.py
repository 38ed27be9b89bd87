"""Which card a computer player of Solo plays: win cheaply, waste little on a friend's trick, lead what is sure."""

from collections.abc import Sequence
from typing import NamedTuple

from croupier.games.actions import CallPartner
from croupier.games.cards import Card, Suit, mask_of, suit_of
from croupier.games.facts import PileCard, Seat
from croupier.games.interface import Observation
from croupier.games.solo.deck import DECK, FOLLOWING, PLAIN, POWER, TRUMPS, taking
from croupier.games.solo.state import SEATS

FIFTH_TRICK = 4
"""How many cards are in hand in the last trick in which the called card can save the hand."""
TIME_TO_FIND = 6
"""With so many cards in hand the partner should be found."""


class Sight(NamedTuple):
    """What counts for the next card: bit sets of the own hand and of all cards that lie elsewhere, and who is a friend.

    While the partner is hidden, `called` holds the called card as far as the seat knows it and `called_suit` its suit.
    """

    seat: Seat
    trump: Suit
    hand: int
    unseen: int
    trick: tuple[PileCard, ...]
    declares: bool
    friends: frozenset[Seat]
    called: int
    called_suit: int

    @classmethod
    def of(cls, observation: Observation) -> "Sight":
        """The sight of a seat that is to play."""
        view, seat = observation.view, observation.seat
        hand = mask_of(view.seats[seat].cards)
        piles = {pile.name: pile.cards for pile in view.piles}
        played = mask_of([laid.card for cards in piles.values() for laid in cards])
        contract = view.contract
        side = {contract.declarer, contract.partner} - {None}
        declares, hidden = seat in side, contract.partner is None and contract.name in ("froke", "iss")
        others = set() if hidden else set(range(SEATS)) - side
        friends = frozenset(other for other in (side if declares else others) if other is not None and other != seat)
        called = next((call.action.card for call in view.calls if isinstance(call.action, CallPartner)), None)
        owed = 0 if called is None or played >> called & 1 or contract.name == "wedding" else 1 << called
        suit = PLAIN[suit_of(called or 0)] if owed else 0
        trick = piles.get("trick", ())
        return cls(seat, contract.trump or 0, hand, _ALL & ~hand & ~played, trick, declares, friends, owed, suit)

    def is_master(self, card: Card) -> bool:
        """Whether no card that lies elsewhere beats this one when it is led, but for ruffs."""
        return not self.unseen & ABOVE[self.trump][card]

    def is_sure(self, card: Card) -> bool:
        """Whether the card wins for certain when it is led."""
        trumps = TRUMPS[self.trump]
        return self.is_master(card) and bool(trumps >> card & 1 or not self.unseen & trumps)

    def cheapest(self, cards: Sequence[Card]) -> Card:
        """The card that is missed least: plain before trump, low before high."""
        return min(cards, key=lambda card: _COST[self.trump][card])


def choose_card(sight: Sight, playable: Sequence[Card]) -> Card:
    """One of the playable cards."""
    held = [card for card in playable if sight.called >> card & 1]
    if held and sight.hand.bit_count() == FIFTH_TRICK:
        return held[0]
    return _follow(sight, playable) if sight.trick else _lead(sight, playable)


def _lead(sight: Sight, playable: Sequence[Card]) -> Card:
    """Draw trumps for the declaring side, cash what is sure, look for the partner, else lead low."""
    trumps = TRUMPS[sight.trump]
    own = [card for card in playable if trumps >> card & 1]
    masters = [card for card in playable if sight.is_master(card)]
    towards = [card for card in playable if sight.called_suit >> card & 1] if sight.declares else []
    if towards and sight.hand.bit_count() <= TIME_TO_FIND:
        return max(towards)
    if sight.declares and own and sight.unseen & trumps:
        high = [card for card in own if sight.is_master(card)]
        if high or len(own) > 3:
            return high[0] if high else sight.cheapest(own)
    if plain := [card for card in masters if not trumps >> card & 1]:
        return min(plain, key=lambda card: (sight.hand & PLAIN[suit_of(card)]).bit_count())
    if towards:
        return max(towards)
    if masters and not sight.unseen & trumps:
        return masters[0]
    return sight.cheapest(playable)


def _follow(sight: Sight, playable: Sequence[Card]) -> Card:
    """Leave a friend's trick alone, win as the last as cheaply as can be, else with what is sure to win."""
    power = POWER[sight.trump][sight.trick[0].card]
    leader = sight.trick[taking(sight.trump, sight.trick)].seat
    best = max(power[laid.card] for laid in sight.trick)
    last = len(sight.trick) == SEATS - 1
    if leader in sight.friends and (last or not _beatable(sight)):
        return sight.cheapest(playable)
    winning = [card for card in playable if power[card] > best]
    if not winning:
        return sight.cheapest(playable)
    if last:
        return min(winning, key=lambda card: power[card])
    sure = [card for card in winning if sight.is_master(card)]
    if sure:
        return min(sure, key=lambda card: power[card])
    return sight.cheapest(playable) if leader in sight.friends else _try(sight, winning, playable)


def _beatable(sight: Sight) -> bool:
    """Whether a card of the suit led that lies elsewhere beats the trick so far."""
    best = max(sight.trick, key=lambda laid: POWER[sight.trump][sight.trick[0].card][laid.card]).card
    return bool(sight.unseen & ABOVE[sight.trump][best])


def _try(sight: Sight, winning: Sequence[Card], playable: Sequence[Card]) -> Card:
    """A ruff or a trump that wins so far is worth a try; a plain card that is not sure is kept."""
    trumps = [card for card in winning if TRUMPS[sight.trump] >> card & 1]
    return sight.cheapest(trumps) if trumps else sight.cheapest(playable)


def _above(trump: Suit, card: Card) -> int:
    power = POWER[trump][card]
    return mask_of(other for other in DECK if FOLLOWING[trump][card] >> other & 1 and power[other] > power[card])


ABOVE = tuple(tuple(_above(trump, card) if card in DECK else 0 for card in range(52)) for trump in range(4))
"""By trump suit and card: the cards that beat it when it is led, as bit sets, ruffs aside."""
_COST = tuple(tuple(POWER[trump][card][card] for card in range(52)) for trump in range(4))
_ALL = mask_of(DECK)
