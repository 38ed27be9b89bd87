"""Facts, their audiences, and the view that they add up to: one vocabulary for all games.

A fact is a value with an audience. The viewer's client folds the facts that it receives into its view without knowing
any rule; the law is that this fold equals the view that the rules return.
"""

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from croupier.games.actions import Action
from croupier.games.cards import NOTATION, Card, Suit
from croupier.games.values import Phrases, Value

Seat: TypeAlias = int
Viewer: TypeAlias = int
"""A seat, or SPECTATOR."""
Ranking: TypeAlias = tuple[tuple[Seat, ...], ...]
"""Groups of seats, best first; tied seats share a group."""
Audience: TypeAlias = int
"""A bit set of viewers: bit v stands for viewer v; negative numbers as two's complement, so EVERYONE is -1."""

SPECTATOR: Viewer = 30
MAX_SEATS = 8
"""No game has more seats: by these are the facts that are made once."""
ALL_SEATS: Viewer = -1
"""All seats together, whom a replay may show; no audience has this viewer, see `known_together`."""
EVERYONE: Audience = -1
NO_TRUMP: Suit = -1
"""Stands for the trump suit of a round that has none."""


def only(seat: Seat) -> Audience:
    """Return the audience that is one seat."""
    return 1 << seat


def all_but(seat: Seat) -> Audience:
    """Return the audience of all others, spectators too."""
    return ~(1 << seat)


class MoveReason(IntEnum):
    """Why cards move; the numbers are those of the contract."""

    DEAL = 1
    REMOVE = 2
    PLAY = 3
    PICK_UP = 4
    DISCARD = 5
    DRAW = 6
    PENALTY = 7
    SWAP = 8
    KEEP = 9
    RECYCLE = 10
    WIN = 11
    LAY = 12


class OwnedPile(NamedTuple):
    """The pile of this name that a seat owns; piles with one name and different owners are different piles."""

    name: str
    owner: Seat


Place: TypeAlias = int | str | OwnedPile | None
"""A seat's hand (an int), a pile of the whole table by its name, a seat's own pile, or the box that the deck comes from
and that cards out of the game go to (None)."""


class RoundStarted(NamedTuple):
    """A round began: hands, piles, calls, contract, tricks taken, marks, card order and seats out start anew."""

    round_number: int
    dealer: Seat | None
    audience: Audience = EVERYONE


class CardsMoved(NamedTuple):
    """Cards went from one place to another; `cards` is empty when the audience may only know how many.

    Where they are named, both places are open to the audience, but for a hand that it does not see: a pile that turns
    into a hidden one goes through the box. Going from pile to pile, cards keep the seat that they came from.
    `face_down` is whether the pile that they went to lies face down from now on; its owner may still know its cards.
    `word` is one of the kind CARD_MOVE for a move that players have a word for, such as a cut.
    """

    source: Place
    target: Place
    cards: tuple[Card, ...]
    card_count: int
    reason: MoveReason
    audience: Audience = EVERYONE
    face_down: bool = False
    word: str = ""


def moves_to_hand(
    source: Place, seat: Seat, cards: tuple[Card, ...], reason: MoveReason, word: str = ""
) -> tuple[CardsMoved, CardsMoved]:
    """Return the facts of cards that go to a hand: for its seat with the cards, for all others with their number."""
    count = len(cards)
    return (
        CardsMoved(source, seat, cards, count, reason, only(seat), word=word),
        CardsMoved(source, seat, (), count, reason, all_but(seat), word=word),
    )


def hands_dealt(hands: Iterable[Iterable[Card]]) -> list["Fact"]:
    """Return the facts of hands by seat that are dealt; there is none for a seat without cards."""
    dealt = [(seat, tuple(sorted(hand))) for seat, hand in enumerate(hands)]
    return [move for seat, hand in dealt if hand for move in moves_to_hand(None, seat, hand, MoveReason.DEAL)]


def plays_to(pile: str, word: str = "") -> tuple[tuple[CardsMoved, ...], ...]:
    """Return by seat and standard card the fact that it is played to a pile; made once, since every play needs one."""
    return tuple(
        tuple(CardsMoved(seat, pile, (card,), 1, MoveReason.PLAY, word=word) for card in range(len(NOTATION)))
        for seat in range(MAX_SEATS)
    )


class Call(NamedTuple):
    """A call in an auction: a bid, a pass or another announcement; the action is None while it is secret."""

    seat: Seat
    action: Action | None


class Called(NamedTuple):
    """A seat made a call. It replaces a secret call of the same seat, and is appended otherwise.

    Calls stay in view until the next round begins, as those of an auction do.
    """

    call: Call
    audience: Audience = EVERYONE


class Contract(NamedTuple):
    """The contract of a round as far as it is known; None for what is unknown or not there.

    `trump` is NO_TRUMP if the round has none.
    """

    declarer: Seat | None = None
    partner: Seat | None = None
    name: str | None = None
    amount: int | None = None
    trump: Suit | None = None


class ContractChanged(NamedTuple):
    """More is known of the contract; None leaves a field as it was."""

    changes: Contract
    audience: Audience = EVERYONE


class TrickTaken(NamedTuple):
    """A seat took a trick."""

    seat: Seat
    audience: Audience = EVERYONE


class SeatOut(NamedTuple):
    """A seat takes no further part; `place` counts from 1, None where going out decides none."""

    seat: Seat
    place: int | None = None
    audience: Audience = EVERYONE


class HandRevealed(NamedTuple):
    """A hand was laid open, at any time; it lies so until a card goes there unseen, or it has none left."""

    seat: Seat
    cards: tuple[Card, ...]
    audience: Audience = EVERYONE


class Mark(NamedTuple):
    """A named value that is special to a game, of the table (seat None) or of a seat; the value None removes it."""

    name: str
    seat: Seat | None
    value: Value | None


class MarkChanged(NamedTuple):
    """A mark changed."""

    mark: Mark
    audience: Audience = EVERYONE


class TurnChanged(NamedTuple):
    """Somebody else is to act, or the phase changed."""

    phase: str
    seats_to_act: tuple[Seat, ...]
    audience: Audience = EVERYONE


def turns_of(phase: str) -> tuple[TurnChanged, ...]:
    """Return by seat the fact that it alone is to act in a phase; made once, since every play needs one."""
    return tuple(TurnChanged(phase, (seat,)) for seat in range(MAX_SEATS))


class CardOrderChanged(NamedTuple):
    """The order of cards in a hand changed, for display: first card first; the others follow, ascending."""

    cards: tuple[Card, ...]
    audience: Audience = EVERYONE


class Count(NamedTuple):
    """Something that a seat did in a round and that statistics add up, such as "bids_made"."""

    name: str
    seat: Seat
    amount: int = 1


class RoundScore(NamedTuple):
    """The score of a round: points and running totals by seat, and how each seat's points came about, or ().

    `headline` describes the round, `details` have the same value by value, and `counts` are for statistics.
    """

    round_number: int
    points: tuple[int, ...]
    totals: tuple[int, ...]
    notes: tuple[Phrases, ...] = ()
    headline: Phrases = ()
    details: tuple[Mark, ...] = ()
    counts: tuple[Count, ...] = ()


class RoundEnded(NamedTuple):
    """A round was scored."""

    score: RoundScore
    audience: Audience = EVERYONE


class GameEnded(NamedTuple):
    """The game is over: groups of seats, best first; tied seats share a group. A void result has all in one."""

    ranking: Ranking
    reason: str
    audience: Audience = EVERYONE
    is_void: bool = False


Fact: TypeAlias = (
    RoundStarted
    | CardsMoved
    | Called
    | ContractChanged
    | TrickTaken
    | SeatOut
    | HandRevealed
    | MarkChanged
    | CardOrderChanged
    | TurnChanged
    | RoundEnded
    | GameEnded
)


def known_together(facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts that all seats together receive.

    What is for all but some seats is left out: these seats know more already, by another fact.
    """
    return [fact for fact in facts if fact.audience == EVERYONE or fact.audience > 0]


class SeatView(NamedTuple):
    """All that a viewer may know of a seat; cards are ascending.

    `cards` has a whole hand: the viewer's own, or one that lies open. It is empty for a hidden hand, of which
    `known_cards` has the cards that went there openly and cannot have left it since: they are forgotten when cards
    leave it unseen. `place` counts from 1 and is None unless going out decided it.
    """

    card_count: int = 0
    cards: tuple[Card, ...] = ()
    score: int = 0
    tricks_taken: int = 0
    is_out: bool = False
    place: int | None = None
    known_cards: tuple[Card, ...] = ()


class PileCard(NamedTuple):
    """A card of a pile and the seat whose hand it came from, None if it came from elsewhere."""

    card: Card
    seat: Seat | None


LAID: tuple[tuple[PileCard, ...], ...] = tuple(
    tuple(PileCard(card, seat) for card in range(len(NOTATION))) for seat in range(MAX_SEATS)
)
"""By seat and standard card: the card as it lies when the seat has played it."""


class Pile(NamedTuple):
    """Cards on the table, in the order in which they came to lie; `cards` is empty where only the count is known.

    `owner` is None for a pile of the whole table; `face_down` is that of the latest move to it.
    """

    name: str
    card_count: int
    cards: tuple[PileCard, ...]
    owner: Seat | None = None
    face_down: bool = False


def open_piles(**piles: tuple[PileCard, ...]) -> tuple[Pile, ...]:
    """Return open piles of the whole table, of those with cards, in the order given."""
    return tuple([Pile(name, len(cards), cards) for name, cards in piles.items() if cards])


class View(NamedTuple):
    """All that a viewer may know of the game at one moment.

    `piles` holds those with cards; they and the marks are ordered by name, then by seat, the table's before the seats'.
    """

    round_number: int
    phase: str
    dealer: Seat | None
    seats: tuple[SeatView, ...]
    piles: tuple[Pile, ...] = ()
    calls: tuple[Call, ...] = ()
    contract: Contract = Contract()
    marks: tuple[Mark, ...] = ()
    card_order: tuple[Card, ...] = ()
    seats_to_act: tuple[Seat, ...] = ()
    ranking: Ranking = ()
    is_void: bool = False

    def pile(self, name: str) -> tuple[PileCard, ...]:
        """Return the cards that are seen in a pile of the whole table; empty without such a pile."""
        return next((pile.cards for pile in self.piles if pile.name == name and pile.owner is None), ())

    def cards_seen(self, seat: Seat) -> tuple[Card, ...]:
        """Return the cards that are seen: those in the hand of a seat, and on the table."""
        return (*self.seats[seat].cards, *[laid.card for pile in self.piles for laid in pile.cards])
