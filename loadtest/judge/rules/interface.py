"""What the judge asks of a game's rules.

Cards are texts ("QH", "JK") and actions are dictionaries as replays write them ({"type": "play", "card": "AS"}); plain
lists and dictionaries that change, so that a rule reads here as its page says it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, TypeAlias

Card: TypeAlias = str
Act: TypeAlias = dict[str, Any]
Options: TypeAlias = Mapping[str, bool | int | str]


class Illegal(Exception):
    """The rules do not allow an action; `rule` is the id on the game's page."""

    def __init__(self, rule: str, detail: str = "") -> None:
        super().__init__(f"{rule}: {detail}" if detail else rule)
        self.rule = rule


class Shuffle(NamedTuple):
    """Cards to shuffle, in the order in which the rules name them, and bounds of the numbers drawn with them."""

    cards: list[Card]
    draw_bounds: list[int]
    round_number: int
    shuffle_number: int


class Choice(NamedTuple):
    """So many cards out of these, by the verb "keep" or "swap", and one of the suits if any are named ("C", "D")."""

    verb: str
    cards: list[Card]
    fewest: int
    most: int
    suits: list[str]


class Legal(NamedTuple):
    """What a seat may do: in any order."""

    actions: list[Act]
    choices: list[Choice]


class Pile(NamedTuple):
    """Cards on the table, in the order in which they came, each with the seat whose hand it comes from.

    `seen_by` are the seats that know them; None for everybody, spectators too.
    """

    cards: list[tuple[Card, int | None]]
    seen_by: frozenset[int] | None


class Round(NamedTuple):
    """The score of a round by seat."""

    points: list[int]
    totals: list[int]


class Table(Protocol):
    """A table of one game: made with the number of seats and all options, then given what happens, in order."""

    hands: list[list[Card]]
    """By seat, in any order."""
    round_number: int
    """From 1; 0 before the first deal."""
    scores: list[int]
    """Running totals by seat."""
    rounds: list[Round]
    """The rounds that were scored."""
    ranking: list[list[int]] | None
    """Groups of seats, best first, once the game is over."""

    @property
    def shuffle_wanted(self) -> Shuffle | None:
        """What is to be shuffled before anybody may act."""

    @property
    def to_act(self) -> list[int]:
        """The seats that may act, ascending."""

    @property
    def piles(self) -> dict[str, Pile]:
        """The piles that hold cards, by the names of the game's page."""

    def legal(self, seat: int) -> Legal:
        """All that a seat may do now; nothing if it is not to act."""

    def shuffled(self, cards: list[Card], drawn: list[int]) -> Act:
        """Deal, or go on, with shuffled cards: gives the event as the replay must write it."""

    def act(self, seat: int, action: Act) -> None:
        """Do what a seat did; raises Illegal, and then nothing has changed."""

    def agree(self, event: Act) -> None:
        """Do what all seats agreed to, an event of the replay; raises Illegal."""
