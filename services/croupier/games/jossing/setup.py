"""The options of Jøssing, and the state before the first deal."""

from croupier.games.interface import Option, OptionValues
from croupier.games.jossing.state import JossingOptions, JossingState, Section


def options(seats: int) -> tuple[Option, ...]:
    """Return the options for a number of seats (JOS-OPT-1)."""
    leaders = ("left_of_dealer", "highest_bidder")
    return (
        Option("game_type", "up", ("up", "up_and_down"), "whether sections only grow, or shrink again"),
        Option("scoring", "classic", ("classic", "modern"), "the points of a bid that is hit exactly"),
        Option("decks", 1, (1, 2), "packs shuffled together"),
        Option("identical_cards", "first", ("first", "last"), "which of two identical winning cards wins"),
        Option("leader", "left_of_dealer", leaders, "the leader of the first trick of a section"),
        Option("first_dealer", 0, range(seats), "the seat that deals the first section"),
        Option("hook", default=False, allowed=(False, True), meaning="the bids may not add up to the tricks"),
    )


def resolved(seats: int, values: OptionValues) -> JossingOptions:
    """Return the options of a table from their values by name."""
    return JossingOptions(
        seats=seats,
        up_and_down=values["game_type"] == "up_and_down",
        modern=values["scoring"] == "modern",
        decks=int(values["decks"]),
        last_copy_wins=values["identical_cards"] == "last",
        highest_bidder_leads=values["leader"] == "highest_bidder",
        first_dealer=int(values["first_dealer"]),
        hook=bool(values["hook"]),
    )


def before_first_deal(options: JossingOptions) -> JossingState:
    """Return the state before the first deal."""
    none = (0,) * options.seats
    return JossingState(options, Section(0, 0, 0, 0), none, none, won=none)
