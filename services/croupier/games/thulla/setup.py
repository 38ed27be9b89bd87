"""The options of Thulla, and the state before the first deal."""

from croupier.games.interface import Option, OptionValues
from croupier.games.thulla.state import Progress, ThullaOptions, ThullaState


def options(seats: int) -> tuple[Option, ...]:
    """Return the options for a number of seats (THU-OPT-1)."""
    starts = ("ace_of_spades", "random", "dealer", "left_of_dealer")
    return (
        Option("start", "ace_of_spades", starts, "the leader of the first trick"),
        Option("first_dealer", 0, range(seats), "the seat that deals the first game"),
        Option("best_of", 1, (1, 3, 5), "games in a match"),
        Option("scoring", "none", ("none", "cards", "cards_each_out", "points"), "penalty points"),
        Option("pickup", "highest", ("highest", "cutter"), "the player who picks up after a cut"),
        Option("last_card", "safe_at_once", ("safe_at_once", "safe_after_trick"), "when a seat without cards is out"),
        Option("stall_limit", 52, range(1, 1001), "tricks without progress before the game is stopped"),
    )


def resolved(seats: int, values: OptionValues) -> ThullaOptions:
    """Return the options of a table from their values by name."""
    return ThullaOptions(
        seats=seats,
        start=str(values["start"]),
        first_dealer=int(values["first_dealer"]),
        best_of=int(values["best_of"]),
        scoring=str(values["scoring"]),
        cutter_picks_up=values["pickup"] == "cutter",
        safe_at_once=values["last_card"] == "safe_at_once",
        stall_limit=int(values["stall_limit"]),
    )


def before_first_deal(options: ThullaOptions) -> ThullaState:
    """Return the state before the first deal."""
    none = (0,) * options.seats
    return ThullaState(options, Progress(0, 0, none), none, points=none)
