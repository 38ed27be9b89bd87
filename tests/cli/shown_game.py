"""A game as the services describe it, and the words for a table of it."""

from croupier.cli.terminal.words import Words, words_of
from croupier_api.v1 import facts_pb2 as pb
from croupier_api.v1 import games_pb2
from croupier_api.v1.games_pb2 import GameDescription, PileDescription, Word

NAMES = ("Ada", "Ben with a name that goes on and on", "Cleo")
SYMBOLS, LETTERS = Words(NAMES, symbols=True, has_tricks=True), Words(NAMES, symbols=False)
GAME = GameDescription(
    words=[
        Word(kind=kind, word=word, text=text)
        for kind, word, text in (
            (games_pb2.WORD_KIND_TERM, "round", "hand"),
            (games_pb2.WORD_KIND_TERM, "declarer", "player"),
            (games_pb2.WORD_KIND_CARD, "2C", "the Low"),
            (games_pb2.WORD_KIND_CONTRACT, "solo", "playing alone"),
            (games_pb2.WORD_KIND_PHASE, "first_bid", "the auction"),
            (games_pb2.WORD_KIND_PILE, "trick", "in the middle"),
            (games_pb2.WORD_KIND_PILE, "melds", "laid"),
            (games_pb2.WORD_KIND_MARK, "stall", "idle tricks"),
            (games_pb2.WORD_KIND_MARK, "solo", "alone"),
            (games_pb2.WORD_KIND_VALUE, "said", "said aloud"),
            (games_pb2.WORD_KIND_VALUE, "unknown", "the holder"),
            (games_pb2.WORD_KIND_CALL, "last_card", "last!"),
            (games_pb2.WORD_KIND_MELD, "row", "in a row"),
            (games_pb2.WORD_KIND_REASON, "all_out", "all are out"),
            (games_pb2.WORD_KIND_PROPOSAL, "same_cards", "once more"),
            (games_pb2.WORD_KIND_PHRASE, "bid", "bid {bid}, {by}"),
            (games_pb2.WORD_KIND_CARD_MOVE, "cut", "{seat} cuts with {cards}"),
            (games_pb2.WORD_KIND_RULE, "TOY-PLAY-3", "Follow suit."),
        )
    ],
    piles=[
        PileDescription(name="trick", role=games_pb2.PILE_ROLE_TRICK, display=games_pb2.PILE_DISPLAY_ALL),
        PileDescription(name="stock", role=games_pb2.PILE_ROLE_STOCK, display=games_pb2.PILE_DISPLAY_COUNT),
        PileDescription(name="waste", role=games_pb2.PILE_ROLE_WASTE, display=games_pb2.PILE_DISPLAY_TOP),
        PileDescription(name="taken", role=games_pb2.PILE_ROLE_TAKEN, display=games_pb2.PILE_DISPLAY_COUNT),
    ],
)
WORDED = words_of(GAME, NAMES, symbols=True)


def phrase(word: str, **arguments: pb.Value) -> pb.Phrase:
    return pb.Phrase(word=word, parameters=[pb.Parameter(name=name, value=value) for name, value in arguments.items()])
