"""The words of Thulla with their English texts, and its piles."""

from types import MappingProxyType

from croupier.games.words import PileDisplay, PileKind, PileRole, WordKind, Words

WORDS: Words = MappingProxyType(
    {
        WordKind.TERM: {"round": "game"},
        WordKind.OPTION: {
            "first_dealer": "First dealer",
            "deal": "Hands",
            "start": "First lead",
            "opening_trick": "First trick",
            "pickup": "A cut trick goes to",
            "last_card": "Safe without cards",
            "scoring": "Scoring",
            "best_of": "Games in a match",
            "stall_limit": "Stall limit",
        },
        WordKind.OPTION_CHOICE: {
            "deal.equal": "of equal size, low cards are put aside",
            "deal.uneven": "all cards are dealt",
            "start.ace_of_spades": "ace of spades",
            "start.random": "drawn by lot",
            "start.dealer": "dealer",
            "start.left_of_dealer": "left of the dealer",
            "opening_trick.normal": "can be cut",
            "opening_trick.spared": "cannot be cut",
            "pickup.highest": "the highest card",
            "pickup.cutter": "the player who cuts",
            "last_card.safe_at_once": "at once",
            "last_card.safe_after_trick": "after the trick",
            "scoring.none": "games won",
            "scoring.cards": "penalty: cards left at the end",
            "scoring.cards_each_out": "penalty: cards left whenever a player is out",
            "scoring.points": "penalty: points of the cards left at the end",
        },
        WordKind.OPTION_GROUP: {"deal": "Deal", "play": "Play", "scoring": "Scoring", "end": "End of the game"},
        WordKind.UNIT: {"seat": "seat, counted from 0", "games": "games", "tricks": "tricks"},
        WordKind.PRESET: {"match": "match"},
        WordKind.PILE: {"trick": "trick", "waste": "waste", "removed": "put aside"},
        WordKind.MARK: {
            "pickup": "picks up a cut trick",
            "points": "points so far",
            "stall": "tricks without progress",
            "starter": "first lead",
            "wins": "games won",
            "order": "finishing order",
            "reason": "end of the game",
        },
        WordKind.VALUE: {
            "cutter": "the player who cuts",
            "one_holder": "one player is left with cards",
            "no_holder": "no player is left with cards",
            "stall": "too many tricks without progress",
        },
        WordKind.PHRASE: {
            "best_of": "best of {games}",
            "stall": "called off after too many tricks without progress",
            "gold": "gold",
            "silver": "silver",
            "bronze": "bronze",
            "safe": "safe",
            "loser": "loser",
            "cards_left": "cards left: {count}",
        },
        WordKind.CARD_MOVE: {"cut": "Thulla! {seat} cuts with {cards}"},
        WordKind.REASON: {
            "one_holder": "one player is left with cards",
            "no_holder": "no player is left with cards",
            "stall": "too many tricks without progress",
        },
        WordKind.COUNT: {
            "gold": "gold medals",
            "silver": "silver medals",
            "bronze": "bronze medals",
            "loser": "games lost",
        },
        WordKind.RULE: {
            "THU-D9": "Play a card: there is no other action.",
            "THU-PLAY-1": "It is not your turn.",
            "THU-PLAY-2": "Play a card of your own hand.",
            "THU-PLAY-3": "Follow suit if you can.",
            "THU-START-2": "The first card of the game is the ace of spades.",
        },
    }
)

PILES = (
    PileKind("trick", PileRole.TRICK, PileDisplay.ALL),
    PileKind("waste", PileRole.TAKEN, PileDisplay.COUNT),
    PileKind("removed", PileRole.REMOVED, PileDisplay.ALL),
)
