"""What the judge asks of a game's rules.

Cards are texts ("QH", "JK") and actions are dictionaries as replays write them ({"type": "play", "card": "AS"}); plain
lists and dictionaries that change, so that a rule reads here as its page says it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

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


class Table(ABC):
    """A table of one game: made with the number of seats and all options, then given what happens, in order."""

    rule_of_proposals: str
    """The rule by which seats can agree to nothing."""

    def __init__(self, seats: int, options: Options) -> None:
        self.seats = seats
        self.options = options
        self.hands: list[list[Card]] = [[] for _ in range(seats)]
        """By seat, in any order."""
        self.round_number = 0
        """From 1; 0 before the first deal."""
        self.scores = [0] * seats
        """Running totals by seat."""
        self.rounds: list[Round] = []
        """The rounds that were scored."""
        self.ranking: list[list[int]] | None = None
        """Groups of seats, best first, once the game is over."""

    @property
    @abstractmethod
    def shuffle_wanted(self) -> Shuffle | None:
        """What is to be shuffled before anybody may act."""

    @property
    @abstractmethod
    def to_act(self) -> list[int]:
        """The seats that may act, ascending."""

    @property
    @abstractmethod
    def piles(self) -> dict[str, Pile]:
        """The piles that hold cards, by the names of the game's page."""

    @abstractmethod
    def legal(self, seat: int) -> Legal:
        """All that a seat may do now; nothing if it is not to act."""

    @abstractmethod
    def shuffled(self, cards: list[Card], drawn: list[int]) -> Act:
        """Deal, or go on, with the cards that were wanted, shuffled: gives the event as the replay must write it."""

    @abstractmethod
    def act(self, seat: int, action: Act) -> None:
        """Do what a seat did; raises Illegal, and then nothing has changed."""

    def agree(self, event: Act) -> None:
        """Do what all seats agreed to, an event of the replay; raises Illegal."""
        raise Illegal(self.rule_of_proposals, f"{event} is nothing that seats can agree to here")

    def clockwise_from(self, seat: int) -> list[int]:
        """All seats, beginning with one."""
        return [(seat + step) % self.seats for step in range(self.seats)]

    def score(self, points: list[int]) -> None:
        """Write down what a round adds to the scores."""
        self.scores = [total + own for total, own in zip(self.scores, points, strict=True)]
        self.rounds.append(Round(points, list(self.scores)))

    def dealt_singly(self, cards: list[Card], first: int) -> list[list[Card]]:
        """The hands of all seats when the cards are dealt one at a time."""
        return [cards[(seat - first) % self.seats :: self.seats] for seat in range(self.seats)]


def grouped(seats: Iterable[int], merit: Callable[[int], Any]) -> list[list[int]]:
    """Seats in groups of equal merit, those with the least first."""
    return [list(group) for _, group in groupby(sorted(seats, key=merit), key=merit)]


def open_piles(**piles: Sequence[tuple[Card, int | None]]) -> dict[str, Pile]:
    """Those that hold cards; everybody sees them."""
    return {name: Pile(list(cards), None) for name, cards in piles.items() if cards}
