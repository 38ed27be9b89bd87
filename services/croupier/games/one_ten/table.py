"""What is fixed for a table of 110: the options and what follows from them."""

from dataclasses import dataclass

from croupier.games.cards import Card
from croupier.games.facts import Seat
from croupier.games.hands import PACK
from croupier.games.interface import InvalidOption, Option, OptionValues

KITTY_CARDS = 5
FIRST_BID, BID_STEP, LONGEST_BID = 15, 5, 110
TRICK_POINTS = BONUS_POINTS = 5
_SWAP_LIMITS = {7: 2, 8: 1}


def options() -> tuple[Option, ...]:
    """The options of the game (110-OPT-1)."""
    return (
        Option("hand_size", "auto", ("auto", "5", "10"), "cards in a hand, which is tricks in a round"),
        Option("decks", 1, (1, 2), "packs of 53 cards shuffled together"),
        Option("bid_ladder", "short", ("short", "round_max", "long"), "the amounts that may be bid"),
        Option("dealer_match", "wins", ("wins", "holds"), "whether a match by the dealer ends the bidding"),
        Option("swap_timing", "during", ("during", "after_trump"), "whether the others swap knowing the trump"),
        Option("force_out", "any_trick", ("any_trick", "trump_led"), "when a higher reneging card forces others out"),
        Option("bonus_counts_for_bid", True, (True, False), "whether the top trump bonus helps to make the bid"),
        Option("bonus_forfeit", "bid", ("bid", "score"), "what makes the bid winner forfeit the bonus from 85 up"),
        Option("max_rounds", 0, range(1001), "rounds after which the game ends at the latest, 0 for no limit"),
    )


def check(seats: int, options: OptionValues) -> None:
    """Raises InvalidOption if the cards do not suffice for ten in each hand; two packs always do (110-OPT-1)."""
    if options["hand_size"] == "10" and not _suffice(seats, int(options["decks"])):
        raise InvalidOption(
            "hand_size",
            f"hand_size cannot be 10 with {seats} seats and one pack: auto or 5 is allowed, or two packs with decks 2",
        )


def _suffice(seats: int, packs: int) -> bool:
    """Whether ten cards for each seat and the kitty are there (110-DEAL-2)."""
    return 10 * seats + KITTY_CARDS <= PACK * packs


@dataclass(frozen=True, slots=True)
class Table:
    """The resolved options of a table, its pack, and the bids that exist."""

    seats: int
    hand_size: int
    deck: tuple[Card, ...]
    ladder: range
    match_wins: bool = True
    swap_after_trump: bool = False
    forced_in_any_trick: bool = True
    bonus_counts_for_bid: bool = True
    bonus_forfeit: str = "bid"
    max_rounds: int = 0

    @classmethod
    def of(cls, seats: int, options: OptionValues) -> "Table":
        """The table for resolved options."""
        packs = int(options["decks"])
        size = {"5": 5, "10": 10}.get(str(options["hand_size"])) or (10 if _suffice(seats, packs) else 5)
        highest = {"short": 30, "round_max": TRICK_POINTS * size + BONUS_POINTS, "long": LONGEST_BID}
        return cls(
            seats=seats,
            hand_size=size,
            deck=tuple(sorted([*range(PACK)] * packs)),
            ladder=range(FIRST_BID, highest[str(options["bid_ladder"])] + 1, BID_STEP),
            match_wins=options["dealer_match"] == "wins",
            swap_after_trump=options["swap_timing"] == "after_trump",
            forced_in_any_trick=options["force_out"] == "any_trick",
            bonus_counts_for_bid=bool(options["bonus_counts_for_bid"]),
            bonus_forfeit=str(options["bonus_forfeit"]),
            max_rounds=int(options["max_rounds"]),
        )

    @property
    def swap_limit(self) -> int:
        """How many cards a seat may swap (110-SWAP-2)."""
        return _SWAP_LIMITS.get(self.seats, 3)

    def clockwise(self, seat: Seat) -> tuple[Seat, ...]:
        """All seats, beginning with the one to the left of `seat` and ending with itself."""
        return (*range(seat + 1, self.seats), *range(seat + 1))
