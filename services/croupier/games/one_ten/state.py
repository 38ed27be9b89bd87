"""The state of a game of 110: frozen data."""

from dataclasses import dataclass
from typing import NamedTuple

from croupier.games.cards import Card, Suit
from croupier.games.facts import Call, PileCard, Ranking, Seat
from croupier.games.hands import PACK
from croupier.games.interface import OptionValues

KITTY_CARDS = 5
TRICK_POINTS = BONUS_POINTS = 5
FIRST_BID, BID_STEP, LONG_GAME_BID = 15, 5, 110
UNNAMED: Suit = 4
"""Stands for the trump suit while none is known; only the joker and the ace of hearts are trumps then."""
_SWAP_LIMITS = {7: 2, 8: 1}
NOBODY: Seat = -1
"""Stands for the high bidder while no bid stands."""


@dataclass(frozen=True, slots=True)
class OneTenOptions:
    """The resolved options of a table, its pack, and the bids that exist."""

    seats: int
    hand_size: int
    tricks: int
    """The tricks of a round, which is the number of cards that the bid winner keeps (110-KEEP-2, 110-TRICK-4)."""
    deck: tuple[Card, ...]
    ladder: range
    match_wins: bool = True
    swap_after_trump: bool = False
    forced_in_any_trick: bool = True
    forced_by_any_card: bool = True
    bonus_counts_for_bid: bool = True
    bonus_forfeit: str = "bid"
    failed_bonus_paid: bool = True
    bid_winner_leads: bool = True
    max_rounds: int = 0

    @classmethod
    def of(cls, seats: int, values: OptionValues) -> "OneTenOptions":
        """Return the options of a table from their values by name."""
        packs = int(values["decks"])
        size = {"5": 5, "10": 10}.get(str(values["hand_size"])) or (10 if has_enough_cards(seats, packs) else 5)
        tricks = 5 if values["keep"] == "five" else size
        highest = {"short": 30, "round_max": TRICK_POINTS * tricks + BONUS_POINTS, "long": LONG_GAME_BID}
        return cls(
            seats=seats,
            hand_size=size,
            tricks=tricks,
            deck=tuple(sorted([*range(PACK)] * packs)),
            ladder=range(FIRST_BID, highest[str(values["bid_ladder"])] + 1, BID_STEP),
            match_wins=values["dealer_match"] == "wins",
            swap_after_trump=values["swap_timing"] == "after_trump",
            forced_in_any_trick=values["force_out"] == "any_trick",
            forced_by_any_card=values["forced_out_by"] == "any",
            bonus_counts_for_bid=bool(values["bonus_counts_for_bid"]),
            bonus_forfeit=str(values["bonus_forfeit"]),
            failed_bonus_paid=values["failed_bonus"] == "paid",
            bid_winner_leads=values["first_lead"] == "bid_winner",
            max_rounds=int(values["max_rounds"]),
        )

    @property
    def swap_limit(self) -> int:
        """The most cards that a seat may swap (110-SWAP-2)."""
        return _SWAP_LIMITS.get(self.seats, 3)

    def clockwise(self, seat: Seat) -> tuple[Seat, ...]:
        """Return all seats, beginning with the one to the left of `seat` and ending with itself."""
        return (*range(seat + 1, self.seats), *range(seat + 1))

    def first_leader(self, bid_winner: Seat) -> Seat:
        """Return the seat that leads the first trick (110-TRICK-1, 110-TRICK-7)."""
        return bid_winner if self.bid_winner_leads else self.clockwise(bid_winner)[0]


class Progress(NamedTuple):
    """The part of the state that changes between rounds only.

    `dealer` is None before the first deal, `ranking` is empty until the end.
    """

    round_number: int
    dealer: Seat | None
    totals: tuple[int, ...]
    ranking: Ranking = ()
    reason: str = ""


class Auction(NamedTuple):
    """The bidding: the high bidder (or NOBODY), the standing bid (0 for none), and a bit set of who has passed."""

    calls: tuple[Call, ...] = ()
    bidder: Seat = NOBODY
    amount: int = 0
    passed: int = 0


class Exchange(NamedTuple):
    """The cards beside the hands, the put-away cards and each seat's discards ascending; and the trump suit.

    The kitty lies here until the bid winner takes it up. `remembered` are the cards that the bid winner put away once
    they are stock again (110-VIS-2); they lie elsewhere.
    """

    kitty: tuple[Card, ...] = ()
    stock: tuple[Card, ...] = ()
    put_away: tuple[Card, ...] = ()
    discards: tuple[tuple[Card, ...], ...] = ()
    trump: Suit = UNNAMED
    remembered: tuple[Card, ...] = ()


class OneTenState(NamedTuple):
    """A table; hands are bit sets (see hands.py), `to_act` holds the seats that still have to act, ascending.

    `taken` holds the cards of all finished tricks of the round in order, `winners` the seat that took each of them.
    """

    options: OneTenOptions
    progress: Progress
    phase: str
    to_act: tuple[Seat, ...]
    hands: tuple[int, ...]
    auction: Auction = Auction()
    exchange: Exchange = Exchange()
    trick: tuple[PileCard, ...] = ()
    taken: tuple[PileCard, ...] = ()
    winners: tuple[Seat, ...] = ()


def has_enough_cards(seats: int, packs: int) -> bool:
    """Return whether ten cards for each seat and the kitty are there (110-DEAL-2)."""
    return 10 * seats + KITTY_CARDS <= PACK * packs


def before_first_deal(options: OneTenOptions, progress: Progress) -> OneTenState:
    """Return a table without cards."""
    seats = options.seats
    return OneTenState(options, progress, "deal", (), (0,) * seats, exchange=Exchange(discards=((),) * seats))
