"""The options of 110, and the state before the first deal."""

from croupier.games.hands import PACK
from croupier.games.interface import InvalidOption, Option, OptionValues
from croupier.games.one_ten.state import (
    BONUS_POINTS,
    KITTY_CARDS,
    TRICK_POINTS,
    Exchange,
    OneTenOptions,
    OneTenState,
    Progress,
)

FIRST_BID, BID_STEP, LONG_GAME_BID = 15, 5, 110


def options() -> tuple[Option, ...]:
    """Return the options (110-OPT-1)."""
    return (
        Option("hand_size", "auto", ("auto", "5", "10"), "cards in a hand, which is tricks in a round"),
        Option("decks", 1, (1, 2), "packs of 53 cards shuffled together"),
        Option("bid_ladder", "short", ("short", "round_max", "long"), "the amounts that may be bid"),
        Option("dealer_match", "wins", ("wins", "holds"), "whether a match by the dealer ends the bidding"),
        Option("swap_timing", "during", ("during", "after_trump"), "whether the others swap knowing the trump"),
        Option("force_out", "any_trick", ("any_trick", "trump_led"), "when a higher reneging card forces others out"),
        Option("bonus_counts_for_bid", True, (True, False), "whether the top trump bonus helps to make the bid"),
        Option("bonus_forfeit", "bid", ("bid", "score"), "whether a bid or a score from 85 up forfeits the bonus"),
        Option("max_rounds", 0, range(1001), "rounds after which the game ends at the latest, 0 for no limit"),
    )


def check(seats: int, options: OptionValues) -> None:
    """Raise InvalidOption if the cards do not suffice for ten in each hand; two packs always do (110-OPT-1)."""
    if options["hand_size"] == "10" and not _suffice(seats, int(options["decks"])):
        raise InvalidOption(
            "hand_size",
            f"invalid hand_size '10' with {seats} seats and one pack: expected auto, 5, or decks 2",
        )


def _suffice(seats: int, packs: int) -> bool:
    """Return whether ten cards for each seat and the kitty are there (110-DEAL-2)."""
    return 10 * seats + KITTY_CARDS <= PACK * packs


def resolved(seats: int, values: OptionValues) -> OneTenOptions:
    """Return the options of a table from their values by name."""
    packs = int(values["decks"])
    size = {"5": 5, "10": 10}.get(str(values["hand_size"])) or (10 if _suffice(seats, packs) else 5)
    highest = {"short": 30, "round_max": TRICK_POINTS * size + BONUS_POINTS, "long": LONG_GAME_BID}
    return OneTenOptions(
        seats=seats,
        hand_size=size,
        deck=tuple(sorted([*range(PACK)] * packs)),
        ladder=range(FIRST_BID, highest[str(values["bid_ladder"])] + 1, BID_STEP),
        match_wins=values["dealer_match"] == "wins",
        swap_after_trump=values["swap_timing"] == "after_trump",
        forced_in_any_trick=values["force_out"] == "any_trick",
        bonus_counts_for_bid=bool(values["bonus_counts_for_bid"]),
        bonus_forfeit=str(values["bonus_forfeit"]),
        max_rounds=int(values["max_rounds"]),
    )


def before_first_deal(options: OneTenOptions) -> OneTenState:
    """Return the state before the first deal."""
    none = (0,) * options.seats
    exchange = Exchange(discards=((),) * options.seats)
    return OneTenState(options, Progress(0, None, none), "deal", (), none, exchange=exchange)
