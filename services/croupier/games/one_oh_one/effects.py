"""Tables by card: its effects, the cards that fit on it, and its points.

On the page these are "Effects of cards" and "Points of cards".
"""

from croupier.games.cards import CARD_OF_NOTATION, STANDARD_DECK, mask_of, strength_of, suit_of

QUEEN_OF_HEARTS = CARD_OF_NOTATION["QH"]
KING_OF_SPADES = CARD_OF_NOTATION["KS"]
IS_SIX = tuple(strength_of(value) == 6 for value in STANDARD_DECK)
IS_QUEEN = tuple(strength_of(value) == 12 for value in STANDARD_DECK)
QUEENS = mask_of(value for value in STANDARD_DECK if IS_QUEEN[value])

SUITED = tuple(mask_of(value for value in STANDARD_DECK if suit_of(value) == suit) for suit in range(4))
"""From a suit to its cards, which are what covers a six of it (101-SIX-2)."""
SUITED_OR_QUEEN = tuple(suited | QUEENS for suited in SUITED)
"""From a suit to what may be played when it is ordered (101-QUEEN-3), or covers its six (101-SIX-3)."""


FITS = tuple(
    SUITED_OR_QUEEN[suit_of(top)] | mask_of(value for value in STANDARD_DECK if strength_of(value) == strength_of(top))
    for top in STANDARD_DECK
)
"""From the top card to what may be played on it (101-PLAY-1)."""


PENALTIES = tuple(5 if value == KING_OF_SPADES else {7: 2, 14: 0}.get(strength_of(value)) for value in STANDARD_DECK)
"""From a card to how many cards the next player takes before they miss their turn, None if they miss none."""
_WORDS = {None: "", 0: "ace", 2: "seven", 5: "king_of_spades"}
PENALTY_WORDS = tuple(_WORDS[imposed] for imposed in PENALTIES)
"""From a card to the word of its penalty, "" for all others."""

_COURT_POINTS = {11: 2, 12: 3, 13: 4, 14: 11}
POINTS = tuple(_COURT_POINTS.get(strength_of(value), strength_of(value)) for value in STANDARD_DECK)
"""From a card left in a hand to its points (101-POINTS-1)."""
QUEEN_POINTS = {value: 40 if value == QUEEN_OF_HEARTS else 20 for value in STANDARD_DECK if IS_QUEEN[value]}
"""From a queen to her penalty in a hand of queens, which she takes off as the last card (101-POINTS-3 to -5)."""
