"""A table of 110 at one moment, and what the table or a seat makes of it."""

from typing import Any, NamedTuple

from croupier.games.cards import Card, Suit
from croupier.games.facts import Called, Fact, PileCard, Seat, View, Viewer
from croupier.games.interface import (
    NOTHING_LEGAL,
    Awaiting,
    CardsShuffled,
    Event,
    GameOver,
    IllegalAction,
    Legal,
    ProposalAgreed,
    SeatActed,
    SeatsToAct,
    ShuffleNeeded,
)
from croupier.games.one_ten import bidding, deal, kitty, tricks, view
from croupier.games.one_ten.table import Table
from croupier.games.one_ten.trumps import TRUMPS, UNNAMED, Trumps

Result = tuple["OneTenState", tuple[Fact, ...]]


NOBODY: Seat = -1
"""Stands for the high bidder while no bid stands."""


class Progress(NamedTuple):
    """What changes between rounds only; `dealer` is None before the first deal, `ranking` is empty until the end."""

    round_number: int
    dealer: Seat | None
    totals: tuple[int, ...]
    ranking: tuple[tuple[Seat, ...], ...] = ()
    reason: str = ""


class Auction(NamedTuple):
    """The bidding: the high bidder (or NOBODY), the standing bid (0 for none), and a bit set of who has passed."""

    calls: tuple[Called, ...] = ()
    bidder: Seat = NOBODY
    amount: int = 0
    passed: int = 0


class Exchange(NamedTuple):
    """What lies beside the hands, the put-away cards and each seat's discards ascending; and the trump suit.

    The kitty lies here until the bid winner takes it up. `remembered` are the cards that he put away once they are
    stock again (110-VIS-2); they lie elsewhere.
    """

    kitty: tuple[Card, ...] = ()
    stock: tuple[Card, ...] = ()
    put_away: tuple[Card, ...] = ()
    discards: tuple[tuple[Card, ...], ...] = ()
    trump: Suit = UNNAMED
    remembered: tuple[Card, ...] = ()


class OneTenState(NamedTuple):
    """A frozen table; hands are bit sets (see hands.py), `to_act` the seats that still have to act, ascending.

    `taken` holds the cards of all finished tricks of the round in order, `winners` who took each of them.
    """

    table: Table
    progress: Progress
    phase: str
    to_act: tuple[Seat, ...]
    hands: tuple[int, ...]
    auction: Auction = Auction()
    exchange: Exchange = Exchange()
    trick: tuple[PileCard, ...] = ()
    taken: tuple[PileCard, ...] = ()
    winners: tuple[Seat, ...] = ()

    @classmethod
    def before(cls, table: Table) -> "OneTenState":
        """The table before the first deal."""
        nobody = (0,) * table.seats
        return cls(
            table, Progress(0, None, nobody), "deal", (), nobody, exchange=Exchange(discards=((),) * table.seats)
        )

    @property
    def awaiting(self) -> Awaiting:
        """All seats that still have to act, a shuffle, or nothing any more."""
        if self.to_act:
            return SeatsToAct(self.to_act)
        match self.phase:
            case "deal":
                return deal.needed(self)
            case "reshuffle":
                return ShuffleNeeded(self.exchange.put_away, (), self.progress.round_number, 2)
            case _:
                return GameOver(self.progress.ranking, self.progress.reason)

    @property
    def scores(self) -> tuple[int, ...]:
        """Totals by seat."""
        return self.progress.totals

    @property
    def trumps(self) -> Trumps:
        """What the trump suit makes of the cards."""
        return TRUMPS[self.exchange.trump]

    def legal_actions(self, seat: Seat) -> Legal:
        """All that the seat may do now; keeping and swapping are described as choices."""
        if seat not in self.to_act:
            return NOTHING_LEGAL
        match self.phase:
            case "tricks":
                return tricks.legal(self, seat)
            case "bidding":
                return bidding.legal(self, seat)
            case _:
                return kitty.legal(self, seat)

    def apply(self, event: Event) -> Result:
        """The next state and what became known; raises IllegalAction for what the rules refuse."""
        if not isinstance(event, SeatActed):
            return self._shuffled(event)
        seat, action = event
        if seat not in self.to_act:
            raise self._not_to_act(seat)
        match self.phase:
            case "tricks":
                return tricks.act(self, seat, action)
            case "bidding":
                return bidding.act(self, seat, action)
            case _:
                return kitty.act(self, seat, action)

    def view(self, viewer: Viewer) -> View:
        """All that a seat, or SPECTATOR, may know (110-VIS-1 to -6)."""
        return view.view(self, viewer)

    def event_record(self, event: CardsShuffled | ProposalAgreed) -> dict[str, Any]:
        """The event as 110-DEAL-1 or 110-SWAP-6 writes it; raises IllegalAction for one that is not due or valid."""
        return kitty.record(self, event) if self.phase == "reshuffle" else deal.record(self, event)

    def _shuffled(self, event: CardsShuffled | ProposalAgreed) -> Result:
        return kitty.reshuffle(self, event) if self.phase == "reshuffle" else deal.deal(self, event)

    def _not_to_act(self, seat: Seat) -> IllegalAction:
        """Why the seat may do nothing now."""
        match self.phase:
            case "bidding":
                return IllegalAction("110-BID-1", f"seat {seat} is not to speak: wait for your turn")
            case "kitty":
                return IllegalAction("110-SWAP-1", f"seat {seat} is not to act: each seat keeps or swaps once")
            case "reshuffle":
                return IllegalAction("110-SWAP-6", "the stock is being filled up: wait until all have drawn")
            case "tricks":
                return IllegalAction("110-TRICK-3", f"it is not the turn of seat {seat}")
            case "over":
                return IllegalAction("110-END-1", "the game is over")
            case _:
                return IllegalAction("110-DEAL-5", "the cards are being shuffled: wait for them")
