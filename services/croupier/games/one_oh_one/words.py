"""The words of 101 in English, and its piles."""

from types import MappingProxyType

from croupier.games.words import PileDisplay, PileKind, PileRole, WordKind, Words

WORDS: Words = MappingProxyType(
    {
        WordKind.OPTION: {
            "deck": "Cards",
            "first_move_any": "First move with any card",
            "may_draw_instead": "Drawing instead of playing",
            "queen_covers_six": "Any queen covers a six",
            "finish_on_six": "Six as last card",
            "last_card_effects": "Effect of the last card",
            "recycle": "New stock",
            "queen_penalty": "Hand of queens",
            "floor_zero": "No score below 0",
            "exact_101_reset": "Exactly 101 becomes 0",
            "lose_at": "Losing score",
            "elimination": "Losers drop out",
            "max_rounds": "Round limit",
        },
        WordKind.OPTION_CHOICE: {
            "recycle.flip": "open cards turned over",
            "recycle.shuffle": "open cards shuffled",
            "queen_penalty.instead": "20 or 40 for a queen, instead of 3",
            "queen_penalty.added": "20 or 40 for a queen, added to 3",
            "lose_at.reach": "101 or more",
            "lose_at.exceed": "more than 101",
        },
        WordKind.OPTION_GROUP: {"deal": "Deal", "play": "Play", "scoring": "Scoring", "end": "End of the game"},
        WordKind.UNIT: {"cards": "cards", "rounds": "rounds"},
        WordKind.PHASE: {"reshuffle": "reshuffle"},
        WordKind.PILE: {"pile": "open cards", "stock": "stock"},
        WordKind.MARK: {
            "starter": "starter",
            "ordered_suit": "ordered suit",
            "cover": "six to cover",
            "penalty": "turn missed",
            "to_take": "cards still to take",
            "winner": "winner",
            "last_card": "last card",
            "hand": "cards left",
            "floored": "raised to 0",
            "reset": "exactly 101, now 0",
            "losers": "losers",
        },
        WordKind.VALUE: {"seven": "seven", "ace": "ace", "king_of_spades": "king of spades"},
        WordKind.PHRASE: {
            "finished_with": "finished with {card}",
            "first_out": "first to go out",
            "last_queen": "off for a last queen: {points}",
            "cards_left": "cards left: {count}",
            "only_queens": "nothing but queens",
            "floored": "no score below 0",
            "reset": "101 became 0",
            "lost": "lost the game",
            "dropped_out": "dropped out",
        },
        WordKind.CARD_MOVE: {"cover": "{seat} covers the six with {cards}"},
        WordKind.REASON: {
            "loser": "a player has lost",
            "one_left": "one player is left",
            "max_rounds": "all rounds have been played",
        },
        WordKind.COUNT: {
            "rounds_won": "rounds won",
            "queen_finishes": "rounds won with a queen",
            "caught_with_queens": "caught with nothing but queens",
            "exact_101": "exactly 101",
            "times_lost": "games lost",
        },
        WordKind.RULE: {
            "101-DEAL-1": "Wait until the cards are dealt.",
            "101-LEAD-2": "Lead the card that was dealt to you last.",
            "101-LEAD-3": "Play the first card of the round: you cannot draw.",
            "101-PLAY-1": "Play a card of your hand with the suit or the rank of the top card, or a queen.",
            "101-PLAY-2": "Wait for your turn.",
            "101-DRAW-1": "Play: you hold a card that fits.",
            "101-DRAW-3": "Play: there is no card to draw.",
            "101-QUEEN-2": "Order one of the four suits with a queen, and none with another card.",
            "101-QUEEN-3": "Play the suit that is ordered, or a queen.",
            "101-SIX-2": "Cover your six with a card of its suit, or with a queen if this table allows that.",
            "101-SIX-3": "Cover your six with its suit: at this table a queen covers only a six of her own suit.",
            "101-SIX-4": "Cover your six: you hold a card that does.",
            "101-STOCK-3": "Wait until the cards are shuffled.",
            "101-END-2": "The game is over: a player has lost.",
            "101-END-4": "The game is over: all rounds have been played.",
            "101-ELIM-1": "The game is over: one player is left.",
        },
    }
)

PILES = (
    PileKind("pile", PileRole.WASTE, PileDisplay.TOP),
    PileKind("stock", PileRole.STOCK, PileDisplay.COUNT),
)
