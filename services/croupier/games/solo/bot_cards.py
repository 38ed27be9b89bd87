"""The card play of a computer player of Solo: win cheaply, waste little on a friend's trick, lead sure winners."""

from collections.abc import Sequence
from typing import NamedTuple

from croupier.games.actions import CallPartner
from croupier.games.cards import Card, Suit, mask_of, suit_of
from croupier.games.facts import PileCard, Seat
from croupier.games.interface import Observation
from croupier.games.solo.deck import DECK, FOLLOWING, PLAIN, POWER, TRUMPS, taking
from croupier.games.solo.state import SEATS

FIFTH_TRICK = 4
"""The cards in hand before the fifth trick, the last one in which the called card can save the hand."""
TIME_TO_FIND = 6
"""The cards in hand when the partner should be found."""


class Position(NamedTuple):
    """A seat that is to play: bit sets of its own hand and of all cards that lie elsewhere, and its friends.

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
    def of(cls, observation: Observation) -> "Position":
        """Return the position of a seat that is to play."""
        view, seat = observation.view, observation.seat
        hand, seen = mask_of(view.seats[seat].cards), mask_of(view.cards_seen(seat))
        contract = view.contract
        side = {contract.declarer, contract.partner} - {None}
        declares, hidden = seat in side, contract.partner is None and contract.name in ("froke", "iss")
        others = set() if hidden else set(range(SEATS)) - side
        friends = frozenset(other for other in (side if declares else others) if other is not None and other != seat)
        called = next((call.action.card for call in view.calls if isinstance(call.action, CallPartner)), None)
        owed = 0 if called is None or (seen & ~hand) >> called & 1 or contract.name == "wedding" else 1 << called
        suit = PLAIN[suit_of(called or 0)] if owed else 0
        trick, unseen = view.pile("trick"), _ALL & ~seen
        return cls(seat, contract.trump or 0, hand, unseen, trick, declares, friends, owed, suit)

    def is_master(self, card: Card) -> bool:
        """Return whether no card that lies elsewhere beats this one when it is led, but for ruffs."""
        return not self.unseen & ABOVE[self.trump][card]

    def is_sure(self, card: Card) -> bool:
        """Return whether the card wins for certain when it is led."""
        trumps = TRUMPS[self.trump]
        return self.is_master(card) and bool(trumps >> card & 1 or not self.unseen & trumps)

    def cheapest(self, cards: Sequence[Card]) -> Card:
        """Return the card that is missed least: plain before trump, low before high."""
        return min(cards, key=lambda card: _COST[self.trump][card])


def choose_card(position: Position, playable: Sequence[Card]) -> Card:
    """Return one of the playable cards."""
    held = [card for card in playable if position.called >> card & 1]
    if held and position.hand.bit_count() == FIFTH_TRICK:
        return held[0]
    return _follow(position, playable) if position.trick else _lead(position, playable)


def _lead(position: Position, playable: Sequence[Card]) -> Card:
    """Draw trumps for the declaring side, cash what is sure, look for the partner, else lead low."""
    trumps = TRUMPS[position.trump]
    own = [card for card in playable if trumps >> card & 1]
    masters = [card for card in playable if position.is_master(card)]
    towards = [card for card in playable if position.called_suit >> card & 1] if position.declares else []
    if towards and position.hand.bit_count() <= TIME_TO_FIND:
        return max(towards)
    if position.declares and own and position.unseen & trumps:
        high = [card for card in own if position.is_master(card)]
        if high or len(own) > 3:
            return high[0] if high else position.cheapest(own)
    if plain := [card for card in masters if not trumps >> card & 1]:
        return min(plain, key=lambda card: (position.hand & PLAIN[suit_of(card)]).bit_count())
    if towards:
        return max(towards)
    if masters and not position.unseen & trumps:
        return masters[0]
    return position.cheapest(playable)


def _follow(position: Position, playable: Sequence[Card]) -> Card:
    """Leave a friend's trick alone, win as the last as cheaply as can be, else with what is sure to win."""
    power = POWER[position.trump][position.trick[0].card]
    leader = position.trick[taking(position.trump, position.trick)].seat
    best = max(power[laid.card] for laid in position.trick)
    last = len(position.trick) == SEATS - 1
    if leader in position.friends and (last or not _beatable(position)):
        return position.cheapest(playable)
    winning = [card for card in playable if power[card] > best]
    if not winning:
        return position.cheapest(playable)
    if last:
        return min(winning, key=lambda card: power[card])
    sure = [card for card in winning if position.is_master(card)]
    if sure:
        return min(sure, key=lambda card: power[card])
    # A ruff or a trump may win so far; a plain card that is not sure is kept.
    trumps = [card for card in winning if TRUMPS[position.trump] >> card & 1]
    return position.cheapest(trumps if trumps and leader not in position.friends else playable)


def _beatable(position: Position) -> bool:
    """Return whether a card of the suit led that lies elsewhere beats the trick so far."""
    best = max(position.trick, key=lambda laid: POWER[position.trump][position.trick[0].card][laid.card]).card
    return bool(position.unseen & ABOVE[position.trump][best])


def _above(trump: Suit, card: Card) -> int:
    power = POWER[trump][card]
    return mask_of(other for other in DECK if FOLLOWING[trump][card] >> other & 1 and power[other] > power[card])


ABOVE = tuple(tuple(_above(trump, card) if card in DECK else 0 for card in range(52)) for trump in range(4))
"""By trump suit and card: the cards that beat it when it is led, as bit sets, ruffs aside."""
_COST = tuple(tuple(POWER[trump][card][card] for card in range(52)) for trump in range(4))
_ALL = mask_of(DECK)
