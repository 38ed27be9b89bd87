"""The state of a game of Thulla: frozen data."""

from dataclasses import dataclass
from typing import NamedTuple

from croupier.games.cards import STANDARD_DECK, Card, cards
from croupier.games.facts import Ranking, Seat
from croupier.games.interface import OptionValues

REMOVAL_ORDER = cards("2C 2D 2H 2S 3C 3D 3H 3S")
"""The cards that leave the deck first, until it divides evenly (THU-DECK-2)."""


@dataclass(frozen=True, slots=True)
class ThullaOptions:
    """The resolved options of a table, and what follows from them."""

    seats: int
    start: str = "ace_of_spades"
    first_dealer: Seat = 0
    best_of: int = 1
    scoring: str = "none"
    cutter_picks_up: bool = False
    safe_at_once: bool = True
    stall_limit: int = 52
    opening_spared: bool = False
    deal_uneven: bool = False

    @classmethod
    def of(cls, seats: int, values: OptionValues) -> "ThullaOptions":
        """Return the options of a table from their values by name."""
        return cls(
            seats=seats,
            start=str(values["start"]),
            first_dealer=int(values["first_dealer"]),
            best_of=int(values["best_of"]),
            scoring=str(values["scoring"]),
            cutter_picks_up=values["pickup"] == "cutter",
            safe_at_once=values["last_card"] == "safe_at_once",
            stall_limit=int(values["stall_limit"]),
            opening_spared=values["opening_trick"] == "spared",
            deal_uneven=values["deal"] == "uneven",
        )

    @property
    def removed(self) -> tuple[Card, ...]:
        """The cards that play no part (THU-DECK-2, THU-DECK-4)."""
        return () if self.deal_uneven else REMOVAL_ORDER[: len(STANDARD_DECK) % self.seats]

    @property
    def deck(self) -> tuple[Card, ...]:
        """The cards in play, ascending."""
        removed = self.removed
        return tuple(value for value in STANDARD_DECK if value not in removed)

    @property
    def draw_bounds(self) -> tuple[int, ...]:
        """The bounds of the numbers drawn with a shuffle: the starter, if it is random (THU-START-3)."""
        return (self.seats,) if self.start == "random" else ()

    def dealer(self, round_number: int) -> Seat:
        """Return the dealer of a round, counted from 1 (THU-DEAL-1)."""
        return (self.first_dealer + round_number - 1) % self.seats


class PlayedCard(NamedTuple):
    """A card of the trick or the waste and the seat that played it; of one suit, the highest card is the greatest."""

    card: Card
    seat: Seat


class Progress(NamedTuple):
    """The part of the state that changes between rounds only.

    `orders` are the finishing orders of the rounds so far, `reason` is why the last one ended.
    """

    round_number: int
    starter: Seat
    totals: tuple[int, ...]
    orders: Ranking = ()
    reason: str = ""
    over: bool = False


class ThullaState(NamedTuple):
    """A table; hands are bit sets, `queue` holds the seats that still have to play to the trick, next one first.

    `out` holds the seats that are out in their order, `stalled` is the stall counter, `points` is the cost of each
    going-out of this round (THU-SCORE-3), `forced` is whether the ace of spades must be played now (THU-START-2).
    `known` are the cards of each hand that were picked up and not played since, as bit sets.
    """

    options: ThullaOptions
    progress: Progress
    hands: tuple[int, ...]
    trick: tuple[PlayedCard, ...] = ()
    queue: tuple[Seat, ...] = ()
    waste: tuple[PlayedCard, ...] = ()
    out: tuple[Seat, ...] = ()
    stalled: int = 0
    points: tuple[int, ...] = ()
    forced: bool = False
    known: tuple[int, ...] = ()

    @property
    def phase(self) -> str:
        """ "deal", "play" or "over"."""
        return "play" if self.queue else "over" if self.progress.over else "deal"

    @property
    def cannot_be_cut(self) -> bool:
        """Whether the trick is the first of a game that spares it: only that one begins with no card in the waste."""
        return self.options.opening_spared and not self.waste  # THU-OPEN-1
