"""Words of games: by kind, each with its English text, which is also the key of its translations.

All that a table shows or a form asks for is a word of a kind: the contract has the words, and a client shows the text.
Texts need no plural forms, since none of them is a noun after a number: "cards left: {count}".
"""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import NamedTuple, TypeAlias


class WordKind(IntEnum):
    """Kinds of words; the numbers are those of the contract.

    Only the texts of PHRASE and CARD_MOVE have placeholders: clients add to the others what belongs to them.
    """

    TERM = 1
    CARD = 2
    OPTION = 3
    OPTION_CHOICE = 4
    OPTION_GROUP = 5
    UNIT = 6
    PRESET = 7
    BOT = 8
    PROPOSAL = 9
    PHASE = 10
    PILE = 11
    MARK = 12
    VALUE = 13
    PHRASE = 14
    CONTRACT = 15
    CALL = 16
    MELD = 17
    REASON = 18
    COUNT = 19
    OUTCOME = 20
    FIGURE = 21
    RULE = 22
    CARD_MOVE = 23


Words: TypeAlias = Mapping[WordKind, Mapping[str, str]]
"""The English text of each word, by kind. The word of an option's value is "option.value"; that of a rule its id."""

SHARED_WORDS: Words = MappingProxyType(
    {
        WordKind.TERM: {"round": "round", "declarer": "declarer", "partner": "partner"},
        WordKind.PRESET: {"blitz": "blitz", "slow": "slow"},
        WordKind.BOT: {"sensible": "sensible", "random": "random", "search": "searching"},
        WordKind.PHASE: {"deal": "deal", "play": "play", "over": "game over"},
        WordKind.REASON: {"limit": "the table has reached its limit", "abandoned": "all players were away"},
        WordKind.OUTCOME: {"won": "won", "lost": "lost"},
        WordKind.FIGURE: {"games_won": "games won"},
    }
)
"""Words that all games share; a game may have other texts for them."""


class PileRole(IntEnum):
    """Places of piles on the table; the numbers are those of the contract."""

    TRICK = 1
    STOCK = 2
    WASTE = 3
    TAKEN = 4
    KITTY = 5
    INDICATOR = 6
    MELD = 7
    RESERVE = 8
    REMOVED = 9


class PileDisplay(IntEnum):
    """How much of a pile a client shows at first; the numbers are those of the contract."""

    ALL = 1
    TOP = 2
    COUNT = 3


class PileKind(NamedTuple):
    """All piles of one name: their role on the table, and how much of them a client shows at first."""

    name: str
    role: PileRole
    display: PileDisplay
