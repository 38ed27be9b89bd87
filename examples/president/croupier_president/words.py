"""The words of President with their English texts, and its piles."""

from types import MappingProxyType

from croupier.games.words import PileDisplay, PileKind, PileRole, WordKind, Words

_TITLES = {
    "president": "president",
    "vice_president": "vice-president",
    "citizen": "citizen",
    "vice_scum": "vice-scum",
    "scum": "scum",
}
WORDS: Words = MappingProxyType(
    {
        WordKind.OPTION: {
            "exchange": "Exchange",
            "later_lead": "Lead of a later round",
            "passing": "A pass",
            "scoring": "Points",
            "rounds": "Rounds",
            "target": "Points that end the game",
        },
        WordKind.OPTION_CHOICE: {
            "exchange.double": "two cards, and one of the vices",
            "exchange.single": "one card",
            "exchange.none": "none",
            "later_lead.president": "president",
            "later_lead.scum": "scum",
            "passing.open": "counts until the next cards",
            "passing.final": "counts for the whole trick",
            "scoring.places": "for each player placed behind",
            "scoring.titles": "for president and vice-president only",
        },
        WordKind.OPTION_GROUP: {
            "exchange": "Exchange of cards",
            "play": "Play",
            "scoring": "Scoring",
            "end": "End of the game",
        },
        WordKind.UNIT: {"rounds": "rounds", "points": "points"},
        WordKind.PHASE: {"exchange": "exchange of cards"},
        WordKind.PILE: {"trick": "trick", "waste": "waste"},
        WordKind.MARK: {
            "given": "cards given away",
            "passed": "trick",
            "title": "title",
            "order": "finishing order",
        },
        WordKind.VALUE: {**_TITLES, "passed": "passed"},
        WordKind.PHRASE: {**_TITLES, "elected": "president: {seat}", "cards_left": "cards left: {count}"},
        WordKind.REASON: {
            "rounds": "all rounds have been played",
            "target": "a player has enough points",
        },
        WordKind.COUNT: {
            "president": "rounds as president",
            "vice_president": "rounds as vice-president",
            "vice_scum": "rounds as vice-scum",
            "scum": "rounds as scum",
        },
        WordKind.RULE: {
            "PRES-PLAYERS-2": "This game has no proposals.",
            "PRES-DEAL-3": "Wait until the cards are dealt.",
            "PRES-EXCH-2": "Give your best cards.",
            "PRES-EXCH-3": "Hand over cards of your hand, as many as your title asks for.",
            "PRES-EXCH-4": "Wait: others exchange cards.",
            "PRES-EXCH-5": "Hand cards over.",
            "PRES-TURN-1": "It is not your turn.",
            "PRES-LEAD-2": "Lead the three of clubs, alone or with other threes.",
            "PRES-LAY-1": "Lay cards, or pass.",
            "PRES-LAY-2": "Lay cards of your own hand.",
            "PRES-LAY-3": "Lay cards of one rank.",
            "PRES-BEAT-1": "Lay as many cards as were led, or pass.",
            "PRES-BEAT-2": "Lay cards of a higher rank, or pass.",
            "PRES-PASS-1": "You lead: lay cards.",
            "PRES-END-4": "The game is over.",
        },
    }
)

PILES = (
    PileKind("trick", PileRole.TRICK, PileDisplay.ALL),
    PileKind("waste", PileRole.TAKEN, PileDisplay.COUNT),
)
