"""The words of Gin Rummy in English, and its piles."""

from types import MappingProxyType

from croupier.games.words import PileDisplay, PileKind, PileRole, WordKind, Words
from croupier_gin_rummy.state import MELD_NAMES

WORDS: Words = MappingProxyType(
    {
        WordKind.TERM: {"round": "hand"},
        WordKind.OPTION: {
            "next_dealer": "Next dealer",
            "knock": "Limit of a knock",
            "big_gin": "Big gin",
            "gin_bonus": "Bonus for gin",
            "undercut_bonus": "Bonus for an undercut",
            "target": "Score to reach",
            "end_bonuses": "Bonuses at the end of the game",
            "max_rounds": "Limit of hands",
        },
        WordKind.OPTION_CHOICE: {
            "next_dealer.loser": "loser of the hand",
            "next_dealer.winner": "winner of the hand",
            "next_dealer.alternate": "by turns",
            "knock.ten": "10",
            "knock.upcard": "points of the upcard",
            "knock.gin": "gin only",
        },
        WordKind.OPTION_GROUP: {"deal": "Deal", "play": "Play", "scoring": "Scoring", "end": "End of the game"},
        WordKind.UNIT: {"points": "points", "hands": "hands"},
        WordKind.PRESET: {"oklahoma": "Oklahoma"},
        WordKind.PHASE: {
            "upcard": "upcard",
            "draw": "draw",
            "discard": "discard",
            "knock": "discard of a knock",
            "lay": "melds of the knocker",
            "lay_off": "melds of the defender",
        },
        WordKind.PILE: {
            "discard": "discard pile",
            "stock": "stock",
            "meld_1": "first meld",
            "meld_2": "second meld",
            "meld_3": "third meld",
        },
        WordKind.MARK: {
            "boxes": "hands won",
            "knock": "knock",
            "knock_limit": "limit of a knock",
            "taken": "taken in this turn",
            "ending": "how the hand ended",
            "knocker": "knocker",
            "deadwood": "deadwood",
            "bonus": "bonus",
            "game_bonus": "bonus for the game",
            "box_bonus": "bonus for hands won",
        },
        WordKind.VALUE: {
            "knock": "knock",
            "gin": "gin",
            "big_gin": "big gin",
            "undercut": "undercut",
            "stock": "stock used up",
        },
        WordKind.PHRASE: {
            "no_knock": "no knock before the stock was used up",
            "knock_by": "a knock by {seat}",
            "went_gin": "gin by {seat}",
            "went_big_gin": "big gin by {seat}",
            "undercut_by": "an undercut by {seat}",
            "deadwood": "deadwood: {points}",
            "bonus": "bonus: {points}",
            "for_game": "for the game: {points}",
            "for_boxes": "for hands won: {points}",
        },
        WordKind.CALL: {"knock": "knock", "big_gin": "big gin", "done": "done"},
        WordKind.MELD: {"set": "set", "run": "run"},
        WordKind.REASON: {
            "target": "a player has reached the score",
            "max_rounds": "all hands have been played",
        },
        WordKind.COUNT: {
            "rounds_won": "hands won",
            "knocks": "knocks",
            "gins": "gins",
            "undercuts": "undercuts",
        },
        WordKind.RULE: {
            "GIN-DEAL-1": "Wait until the cards are dealt.",
            "GIN-TURN-1": "Wait for your turn.",
            "GIN-TURN-2": "There is nothing to agree on in this game.",
            "GIN-UP-1": "Take the upcard, or pass.",
            "GIN-UP-3": "Draw from the stock: both players passed the upcard.",
            "GIN-DRAW-1": "Draw from the stock or from the discard pile.",
            "GIN-DISCARD-1": "Discard a card of your hand, or knock.",
            "GIN-DISCARD-2": "Discard another card than the one that you have just taken.",
            "GIN-KNOCK-1": "You cannot knock yet: too much deadwood would be left.",
            "GIN-KNOCK-2": "Discard a card that leaves little enough deadwood for your knock.",
            "GIN-BIG-1": "Big gin is not declared at this table.",
            "GIN-BIG-2": "Not all of your eleven cards are in melds.",
            "GIN-LAY-1": "Lay a set or a run, or say that you are done.",
            "GIN-LAY-2": "Lay different cards of your own hand.",
            "GIN-LAY-3": "Lay another meld: too much deadwood would be left after this one.",
            "GIN-LAY-4": "Lay more melds: there is too much deadwood in your hand.",
            "GIN-MELD-1": "A set is three or four cards of one rank.",
            "GIN-MELD-2": "A run is three or more neighbouring cards of one suit, the ace low.",
            "GIN-OFF-1": "Lay a meld, lay one card off on a meld of the knocker, or say that you are done.",
            "GIN-OFF-2": "Nothing is laid off on gin.",
            "GIN-OFF-3": "This card does not extend that meld.",
            "GIN-END-1": "The game is over: a player has reached the score.",
            "GIN-END-2": "The game is over: all hands have been played.",
        },
    }
)

PILES = (
    PileKind("discard", PileRole.WASTE, PileDisplay.TOP),
    PileKind("stock", PileRole.STOCK, PileDisplay.COUNT),
    *(PileKind(name, PileRole.MELD, PileDisplay.ALL) for name in MELD_NAMES),
)
