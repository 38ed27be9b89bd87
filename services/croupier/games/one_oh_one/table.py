"""What is fixed for a game of 101: the options and what follows from them."""

from dataclasses import dataclass

from croupier.games.cards import STANDARD_DECK, Card, strength_of
from croupier.games.interface import Option, OptionValues

LOSING_SCORE = 101


def options() -> tuple[Option, ...]:
    """The options of the game, the same for every number of seats (101-OPT-1)."""
    either = (True, False)
    return (
        Option("deck", 36, (36, 52, 104), "number of cards: 36 from the sixes up, 52, or two packs of 52"),
        Option("exact_101_reset", False, either, "a score of exactly 101 becomes 0"),
        Option("first_move_any", True, either, "the first card of a round is free, not the one that was dealt last"),
        Option("lose_at", "reach", ("reach", "exceed"), "the game is lost with 101 points, or only with more"),
        Option("elimination", False, either, "who loses drops out and the others play on"),
        Option("queen_covers_six", True, either, "every queen covers a six, not only that of its suit"),
        Option("finish_on_six", False, either, "a six may be the last card"),
        Option("last_card_effects", True, either, "a last card still makes the next player take cards"),
        Option("recycle", "flip", ("flip", "shuffle"), "how played cards become a new stock: turned over or shuffled"),
        Option("may_draw_instead", False, either, "who could play may draw all the same"),
        Option("floor_zero", False, either, "no score falls below 0"),
        Option("max_rounds", 0, range(1001), "rounds after which the game is over at the latest, 0 for no limit"),
    )


@dataclass(frozen=True, slots=True)
class Table:
    """The resolved options of a game, and its deck."""

    seats: int
    deck: tuple[Card, ...]
    exact_101_reset: bool
    first_move_any: bool
    losing_score: int
    elimination: bool
    queen_covers_six: bool
    finish_on_six: bool
    last_card_effects: bool
    recycle_shuffled: bool
    may_draw_instead: bool
    floor_zero: bool
    max_rounds: int

    @classmethod
    def of(cls, seats: int, options: OptionValues) -> "Table":
        """The table for resolved options."""
        return cls(
            seats=seats,
            deck=DECKS[int(options["deck"])],
            exact_101_reset=bool(options["exact_101_reset"]),
            first_move_any=bool(options["first_move_any"]),
            losing_score=LOSING_SCORE + (options["lose_at"] == "exceed"),
            elimination=bool(options["elimination"]),
            queen_covers_six=bool(options["queen_covers_six"]),
            finish_on_six=bool(options["finish_on_six"]),
            last_card_effects=bool(options["last_card_effects"]),
            recycle_shuffled=options["recycle"] == "shuffle",
            may_draw_instead=bool(options["may_draw_instead"]),
            floor_zero=bool(options["floor_zero"]),
            max_rounds=int(options["max_rounds"]),
        )


DECKS = {
    36: tuple(value for value in STANDARD_DECK if strength_of(value) >= 6),
    52: STANDARD_DECK,
    104: tuple(sorted(STANDARD_DECK * 2)),
}
"""The cards of each deck, ascending."""
