"""The words of Jøssing with their English texts, and its piles."""

from types import MappingProxyType

from croupier.games.words import PileDisplay, PileKind, PileRole, WordKind, Words

WORDS: Words = MappingProxyType(
    {
        WordKind.TERM: {"round": "section"},
        WordKind.OPTION: {
            "game_type": "Sections",
            "decks": "Packs",
            "first_dealer": "First dealer",
            "hook": "Hook",
            "leader": "First lead",
            "identical_cards": "Of two identical cards",
            "scoring": "Points of a hit",
        },
        WordKind.OPTION_CHOICE: {
            "game_type.up": "growing",
            "game_type.up_and_down": "growing, then shrinking",
            "leader.left_of_dealer": "left of the dealer",
            "leader.highest_bidder": "highest bid, then nearest to the left of the dealer",
            "leader.highest_bidder_dealer_first": "highest bid, then nearest to the dealer",
            "identical_cards.first": "the first one wins",
            "identical_cards.last": "the last one wins",
            "scoring.classic": "classic: 10, and 1 for each trick",
            "scoring.modern": "modern: 5, and 5 for each trick",
        },
        WordKind.OPTION_GROUP: {"deal": "Deal", "bidding": "Bidding", "play": "Play", "scoring": "Scoring"},
        WordKind.UNIT: {"packs": "packs", "seat": "seat, counted from 0"},
        WordKind.PHASE: {"bid": "bidding"},
        WordKind.PILE: {"indicator": "trump indicator", "trick": "trick", "taken": "finished tricks"},
        WordKind.MARK: {
            "cards": "cards each",
            "sections": "sections in the game",
            "dealer": "dealer",
            "indicator": "trump indicator",
            "trump": "trump",
            "leader": "first lead",
            "bids": "bids",
            "tricks": "tricks won",
        },
        WordKind.PHRASE: {
            "cards": "cards each: {cards}",
            "trump": "trump {trump}",
            "bid": "bid {bid}",
            "won": "won {tricks}",
        },
        WordKind.REASON: {"sections_played": "all sections have been played"},
        WordKind.COUNT: {"bids": "bids", "bids_hit": "bids hit exactly", "tricks_won": "tricks won"},
        WordKind.RULE: {
            "JOS-ACT-1": "Bid or play a card: there is no other action.",
            "JOS-DEAL-4": "Wait for the deal.",
            "JOS-BID-1": "No card is played before all have bid.",
            "JOS-BID-2": "Bid a number of tricks from 0 to the number of your cards.",
            "JOS-BID-3": "A bid is final: you cannot bid again.",
            "JOS-BID-6": "The dealer bids when all others have bid.",
            "JOS-BID-7": "The bids may not add up to the number of tricks.",
            "JOS-PLAY-1": "It is not your turn.",
            "JOS-PLAY-2": "Play a card of your own hand.",
            "JOS-PLAY-3": "Follow suit if you can.",
            "JOS-END-1": "The game is over.",
        },
    }
)

PILES = (
    PileKind("trick", PileRole.TRICK, PileDisplay.ALL),
    PileKind("taken", PileRole.TAKEN, PileDisplay.COUNT),
    PileKind("indicator", PileRole.INDICATOR, PileDisplay.ALL),
)
