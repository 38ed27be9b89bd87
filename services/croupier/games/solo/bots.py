"""A computer player of Solo that counts its likely tricks to bid, and plays for its side as far as it knows it.

It wins cheaply, wastes little on a friend's trick, and leads sure winners.
"""

from collections.abc import Sequence
from typing import NamedTuple

from croupier.games.actions import (
    PLAYS,
    Action,
    Bid,
    CallNobody,
    CallPartner,
    KeepBid,
    NameTrump,
    Pass,
    Play,
    ThrowDown,
    YieldBid,
)
from croupier.games.cards import Card, Suit, cards_of_mask, mask_of, suit_of
from croupier.games.facts import PileCard, Seat
from croupier.games.interface import Observation, RandomSource
from croupier.games.solo import deck
from croupier.games.solo.deck import ACES, ALL, BLACK_QUEENS, BLUE, CLUBS, FOLLOWING, OLD, PLAIN, POWER, TRUMPS
from croupier.games.solo.state import DO, SEATS

FIFTH_TRICK = 4
"""The cards in hand before the fifth trick, the last one in which the called card can save the hand."""
TIME_TO_FIND = 6
"""The cards in hand when the partner should be found."""
FROKE, SOLO, SOLO_DO = 2.7, 4.6, 7.2
"""The tricks of one's own that a bid needs; a partner adds the ace that is called, and a little."""
DO_WITH_PARTNER = 6.2
"""The tricks of one's own that a do needs with a partner."""
QUEENS_TRICKS = 2
"""The tricks that the declarer of a wedding adds to those of the partner, who names trump."""
CLUBS_BONUS = 0.6
"""The tricks by which clubs may be worse than another trump, because they count double."""
ACE, GUARDED_KING, ACE_AND_KING = 0.9, 0.4, 1.65
"""The worth of plain cards in tricks; a king alone is worth none."""


class Position(NamedTuple):
    """A seat that is to play: bit sets of its own hand and of all cards that lie elsewhere, and its friends.

    While the called card binds, `called` holds it as far as the seat knows it, and `called_suit` its suit.
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
        call = next((call.action for call in view.calls if isinstance(call.action, CallPartner)), None)
        side = {contract.declarer, contract.partner} - {None}
        declares, hidden = seat in side, call is not None and contract.partner is None
        others = set() if hidden else set(range(SEATS)) - side
        friends = frozenset(other for other in (side if declares else others) if other is not None and other != seat)
        called = call.card if call else None
        is_free = contract.name == "wedding" and observation.options["wedding_card"] == "free"
        owed = 0 if called is None or (seen & ~hand) >> called & 1 or is_free else 1 << called
        suit = PLAIN[suit_of(called or 0)] if owed else 0
        trick, unseen = view.pile("trick"), ALL & ~seen
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
    leader = position.trick[deck.taking(position.trump, position.trick)].seat
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
    return mask_of(other for other in cards_of_mask(FOLLOWING[trump][card]) if power[other] > power[card])


def sensible(observation: Observation, randrange: RandomSource) -> Action:  # noqa: ARG001 - the port's signature
    """Decide by what the seat sees, without randomness. Raises ValueError if nothing is legal."""
    actions = observation.legal.actions
    if not actions:
        raise ValueError(f"seat {observation.seat} has nothing to decide")
    hand = mask_of(observation.view.seats[observation.seat].cards)
    match actions[0]:
        case Pass():
            return _bid(hand, actions)
        case YieldBid():
            return KeepBid() if KeepBid() in actions and tricks(hand, CLUBS) >= FROKE else YieldBid()
        case NameTrump():
            return _name_trump(hand, [action for action in actions if isinstance(action, NameTrump)], observation)
        case CallPartner():
            return _call(hand, actions, observation)
        case Play():
            return _play(Position.of(observation), actions, observation.options["through_factor"] != 1)
        case forced:
            return forced


def tricks(hand: int, trump: Suit) -> float:
    """Return how many tricks a hand may be expected to win with a trump suit, by weights that did well in play."""
    trumps = hand & TRUMPS[trump]
    seven = mask_of((_SEVENS[trump],))
    count = trumps.bit_count()
    found = (trumps >> OLD & 1) + 0.9 * bool(trumps & seven) + 0.75 * (trumps >> BLUE & 1)
    high = (trumps & _HIGH).bit_count()
    low = count - high - bool(trumps & seven) - (trumps & BLACK_QUEENS).bit_count()
    found += 0.55 * high + 0.25 * low + 0.35 * (count - 3)
    return found + sum(_plain_tricks(hand & PLAIN[suit], suit, count) for suit in range(4) if suit != trump)


def _plain_tricks(held: int, suit: Suit, trumps: int) -> float:
    if not held:
        return 0.3 * min(trumps, 2)
    length = held.bit_count()
    ace, king = held >> ACES[suit] & 1, held >> _KINGS[suit] & 1
    found = ACE_AND_KING if ace and king else ACE if ace else GUARDED_KING if king and length > 1 else 0.0
    return found - 0.1 * max(0, length - 3)


def _bid(hand: int, actions: tuple[Action, ...]) -> Action:
    """Return the highest bid that the hand is good for, in clubs where they are best or nothing else outbids."""
    suit = _best_suit(hand, [suit for suit in range(4) if hand & PLAIN[suit]])
    best, clubs = tricks(hand, suit), tricks(hand, CLUBS)
    for plain, in_clubs, needed in _UNDERTAKINGS:
        if suit != CLUBS and best >= needed and Bid(plain) in actions:
            return Bid(plain)
        if clubs >= needed and Bid(in_clubs) in actions:
            return Bid(in_clubs)
    return Pass()


def _best_suit(hand: int, suits: list[Suit]) -> Suit:
    """Return the suit with most tricks, clubs for choice."""
    return max(suits, key=lambda suit: tricks(hand, suit) + CLUBS_BONUS * (suit == CLUBS))


def _name_trump(hand: int, named: list[NameTrump], observation: Observation) -> NameTrump:
    """Return the best suit, with a do for nearly all tricks in hand."""
    suit = _best_suit(hand, [action.trump for action in named])
    queens = QUEENS_TRICKS if observation.view.contract.name == "wedding" else 0
    do = NameTrump(suit, all_tricks=tricks(hand, suit) + queens >= DO_WITH_PARTNER)
    return do if do in named else NameTrump(suit, all_tricks=False)


def _call(hand: int, actions: tuple[Action, ...], observation: Observation) -> Action:
    """Return the ace of one's shortest suit, or nobody with a hand that is good for a solo."""
    view = observation.view
    needed = SOLO_DO if DO in view.marks else SOLO
    if CallNobody() in actions and tricks(hand, view.contract.trump or 0) >= needed:
        return CallNobody()
    # It can be drawn soonest, and the suit can then be ruffed.
    calls = [action for action in actions if isinstance(action, CallPartner)]
    return min(calls, key=lambda call: (hand & PLAIN[suit_of(call.card or 0)]).bit_count())


def _play(position: Position, actions: tuple[Action, ...], through_pays: bool) -> Action:
    """Return a card; or to throw down, unless all cards left are surely winners."""
    cards = [action.card for action in actions if isinstance(action, Play)]
    if ThrowDown() in actions and not (through_pays and all(position.is_sure(card) for card in cards)):
        return ThrowDown()
    return PLAYS[choose_card(position, cards)]


_UNDERTAKINGS = (
    ("solo_do", "solo_do_clubs", SOLO_DO),
    ("solo", "solo_clubs", SOLO),
    ("wedding", "wedding", 0.0),
    ("froke", "iss", FROKE),
)
_SEVENS, _KINGS = deck.of_rank("7"), deck.of_rank("K")
_HIGH = mask_of((*ACES, *_KINGS))
ABOVE = tuple(tuple(_above(trump, card) if ALL >> card & 1 else 0 for card in range(52)) for trump in range(4))
"""By trump suit and card: the cards that beat it when it is led, as bit sets, ruffs aside."""
_COST = tuple(tuple(POWER[trump][card][card] for card in range(52)) for trump in range(4))
