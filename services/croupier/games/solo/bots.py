"""A computer player of Solo that counts its likely tricks to bid, and plays for its side as far as it knows it."""

from croupier.games.actions import PLAYS, Action, Bid, CallPartner, KeepBid, NameTrump, Pass, Play, ThrowDown, YieldBid
from croupier.games.cards import Suit, mask_of, suit_of
from croupier.games.interface import Observation, RandomSource
from croupier.games.solo.bot_cards import Position, choose_card
from croupier.games.solo.deck import BLUE, CLUBS, OLD, PLAIN, TRUMPS, of_rank

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
            # The ace of one's shortest suit can be drawn soonest and then ruffed.
            calls = [action for action in actions if isinstance(action, CallPartner)]
            return min(calls, key=lambda call: (hand & PLAIN[suit_of(call.card or 0)]).bit_count())
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
    low = count - high - bool(trumps & seven) - (trumps & _QUEENS).bit_count()
    found += 0.55 * high + 0.25 * low + 0.35 * (count - 3)
    return found + sum(_plain_tricks(hand & PLAIN[suit], suit, count) for suit in range(4) if suit != trump)


def _plain_tricks(held: int, suit: Suit, trumps: int) -> float:
    if not held:
        return 0.3 * min(trumps, 2)
    length = held.bit_count()
    ace, king = held >> _ACES[suit] & 1, held >> _KINGS[suit] & 1
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
_SEVENS, _ACES, _KINGS = of_rank("7"), of_rank("A"), of_rank("K")
_HIGH = mask_of((*_ACES, *_KINGS))
_QUEENS = mask_of((OLD, BLUE))
