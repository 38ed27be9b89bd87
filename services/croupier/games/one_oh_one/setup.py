"""The options of 101, and the state before the first deal."""

from croupier.games.cards import STANDARD_DECK, strength_of
from croupier.games.interface import Option, OptionValues
from croupier.games.one_oh_one.circle import circle
from croupier.games.one_oh_one.state import LOSING_SCORE, OneOhOneOptions, OneOhOneState, Progress

DECKS = {
    36: tuple(value for value in STANDARD_DECK if strength_of(value) >= 6),
    52: STANDARD_DECK,
    104: tuple(sorted(STANDARD_DECK * 2)),
}
"""The cards of each deck, ascending."""


def options() -> tuple[Option, ...]:
    """Return the options, the same for every number of seats (101-OPT-1)."""
    either = (True, False)
    return (
        Option("deck", 36, (36, 52, 104), "number of cards: 36 from the sixes up, 52, or two packs of 52"),
        Option("exact_101_reset", False, either, "a score of exactly 101 becomes 0"),
        Option("first_move_any", True, either, "the first card of a round is free, not the one that was dealt last"),
        Option("lose_at", "reach", ("reach", "exceed"), "the game is lost with 101 points, or only with more"),
        Option("elimination", False, either, "a loser drops out and the others play on"),
        Option("queen_covers_six", True, either, "every queen covers a six, not only that of its suit"),
        Option("finish_on_six", False, either, "a six may be the last card"),
        Option("last_card_effects", True, either, "a last card still makes the next player take cards"),
        Option("recycle", "flip", ("flip", "shuffle"), "how played cards become a new stock: turned over or shuffled"),
        Option("may_draw_instead", False, either, "a player who could play may draw all the same"),
        Option("floor_zero", False, either, "no score falls below 0"),
        Option("max_rounds", 0, range(1001), "rounds after which the game is over at the latest, 0 for no limit"),
    )


def resolved(seats: int, values: OptionValues) -> OneOhOneOptions:
    """Return the options of a table from their values by name."""
    return OneOhOneOptions(
        seats=seats,
        deck=DECKS[int(values["deck"])],
        exact_101_reset=bool(values["exact_101_reset"]),
        first_move_any=bool(values["first_move_any"]),
        losing_score=LOSING_SCORE + (values["lose_at"] == "exceed"),
        elimination=bool(values["elimination"]),
        queen_covers_six=bool(values["queen_covers_six"]),
        finish_on_six=bool(values["finish_on_six"]),
        last_card_effects=bool(values["last_card_effects"]),
        recycle_shuffled=values["recycle"] == "shuffle",
        may_draw_instead=bool(values["may_draw_instead"]),
        floor_zero=bool(values["floor_zero"]),
        max_rounds=int(values["max_rounds"]),
    )


def before_first_deal(options: OneOhOneOptions) -> OneOhOneState:
    """Return the state before the first deal."""
    none = (0,) * options.seats
    return OneOhOneState(options, Progress(0, 0, none, circle(options.seats, ())), none)
