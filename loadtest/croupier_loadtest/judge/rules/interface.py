"""The interface of a game's rules for the judge.

Cards are texts ("QH", "JK", or "#64" for a card of the game's own deck) and actions are dictionaries in replay notation
({"type": "play", "card": "AS"}). Lists and dictionaries are mutable, so that the code of a rule reads like its page.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

ABANDONED = "abandoned"
"""The limit of the time for which all people of a table are away, and the reason for an end at it."""
Card: TypeAlias = str
ReplayAction: TypeAlias = dict[str, Any]
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
    """Actions of one verb: some of the cards, and for each other part of the action one of its values.

    For example {"trump": ["C", "D"]} for "keep", or {"amount": [1, 2], "word": ["ask"]} for "declare": a part that is
    not to be chosen has one value.
    """

    verb: str
    cards: list[Card]
    min_cards: int
    max_cards: int
    parts: Mapping[str, Sequence[Any]]


class Legal(NamedTuple):
    """The legal actions of a seat, in any order."""

    actions: list[ReplayAction]
    choices: list[Choice]


class Pile(NamedTuple):
    """Cards on the table in order, each with the seat whose hand it comes from.

    `seen_by` are the seats that know them; None for all, spectators included.
    """

    cards: list[tuple[Card, int | None]]
    seen_by: frozenset[int] | None


class Round(NamedTuple):
    """The score of a round by seat."""

    points: list[int]
    totals: list[int]


class Standing(NamedTuple):
    """How finished games count: the two outcomes of a seat, and the figure by which leaderboards are sorted.

    The figure is the number of games with the better outcome, or their share of all games. Between equal figures the
    average place decides where places matter, and then the number of games.
    """

    better: str = "won"
    worse: str = "lost"
    has_winners: bool = True
    figure: str = "games_won"
    is_share: bool = False
    places_matter: bool = True


class JudgeTable(ABC):
    """A table of one game, with its number of seats and options, to which events are applied in order."""

    rules_version: int = 1
    """The version of the rules that it knows."""
    proposal_rule: str
    """The rule by which the game does not have a proposal."""
    proposal_events: Mapping[str, ReplayAction] = MappingProxyType({})
    """The events of the replay for agreed proposals, by the names of these."""
    earlier_options: Options = MappingProxyType({})
    """The values of options for tables that were opened before these existed."""
    standing: Standing = Standing()

    def __init__(self, seats: int, options: Options) -> None:
        self.seats = seats
        self.options = {**self.earlier_options, **options}
        self.hands: list[list[Card]] = [[] for _ in range(seats)]
        """By seat, in any order."""
        self.known: list[list[Card]] = [[] for _ in range(seats)]
        """By seat, the cards that went openly to its hidden hand, and that cannot have left it since."""
        self.round_number = 0
        """From 1; 0 before the first deal."""
        self.scores = [0] * seats
        """Running totals by seat."""
        self.rounds: list[Round] = []
        """The rounds that were scored."""
        self.ranking: list[list[int]] | None = None
        """Groups of seats, best first, once the game is over."""
        self.is_void = False
        """Whether the table was abandoned, or reached another limit of the operator before anything was decided."""

    @property
    @abstractmethod
    def pending_shuffle(self) -> Shuffle | None:
        """The shuffle that is due before any seat may act."""

    @property
    @abstractmethod
    def to_act(self) -> list[int]:
        """The seats that may act, ascending."""

    @property
    @abstractmethod
    def piles(self) -> dict[str, Pile]:
        """The piles that hold cards, by the names of the game's page, with the owner if it is a seat's ("melds 2")."""

    @property
    def open_hands(self) -> list[int]:
        """The seats whose hands lie open to all."""
        return []

    def legal(self, seat: int) -> Legal:
        """Return the legal actions of a seat as they are now; empty if it is not to act."""
        if seat not in self.to_act:
            return Legal([], [])
        actions, choices = self.legal_in_turn(seat)
        # Copies, since tables change in place.
        return Legal(
            [{name: _copied(part) for name, part in action.items()} for action in actions],
            [choice._replace(cards=list(choice.cards)) for choice in choices],
        )

    @abstractmethod
    def legal_in_turn(self, seat: int) -> Legal:
        """Return the legal actions of a seat that is to act."""

    @abstractmethod
    def shuffled(self, cards: list[Card], drawn: list[int]) -> ReplayAction:
        """Deal, or continue, with the shuffled cards; returns the record that the game's `shuffle_record` returns.

        By default that is {"type": "deal", "cards": cards}, with "drawn" if numbers were drawn.
        """

    @abstractmethod
    def act(self, seat: int, action: ReplayAction) -> None:
        """Apply an action of a seat; raises Illegal and then changes nothing."""

    @abstractmethod
    def ranking_at_limit(self) -> list[list[int]] | None:
        """Return the ranking of a game that ends now at a limit of the operator; None if its result is void."""

    def end_at_limit(self, limit: str) -> None:
        """End the game, in which seats are to act, at a limit of the operator; an abandoned game decides nothing."""
        ranking = None if limit == ABANDONED else self.ranking_at_limit()
        self.is_void = ranking is None
        self.ranking = [list(range(self.seats))] if ranking is None else ranking

    @property
    def outcomes(self) -> list[str]:
        """The outcome of each seat of a finished game; empty if the game counts for no seat."""
        if self.ranking is None or self.is_void:
            return []
        return [self.standing.better if seat in self.ranking[0] else self.standing.worse for seat in range(self.seats)]

    def agree(self, event: ReplayAction) -> None:
        """Apply a proposal that all seats agreed to, an event of the replay; raises Illegal."""
        raise Illegal(self.proposal_rule, f"{event} is not a proposal of this game")

    def seen(self) -> list[tuple[list[list[Card]], dict[str, Pile]]]:
        """Return hands and piles as they are now by seat, and last for spectators.

        Of the hands of others only the counts are those that a viewer sees, and open hands.
        """
        # Copies, since tables change in place.
        piles = {name: Pile(list(pile.cards), pile.seen_by) for name, pile in self.piles.items()}
        return [([list(hand) for hand in self.hands], piles)] * (self.seats + 1)

    def clockwise_from(self, seat: int) -> list[int]:
        """Return all seats, beginning with one."""
        return [(seat + step) % self.seats for step in range(self.seats)]

    def score(self, points: list[int]) -> None:
        """Add the points of a round to the scores."""
        self.scores = [total + own for total, own in zip(self.scores, points, strict=True)]
        self.record_round(points)

    def record_round(self, points: list[int]) -> None:
        """Record a round of these points, after which the scores are known."""
        self.rounds.append(Round(points, list(self.scores)))

    def dealt_singly(self, cards: list[Card], first: int) -> list[list[Card]]:
        """Return the hands of all seats when the cards are dealt one at a time."""
        return [cards[(seat - first) % self.seats :: self.seats] for seat in range(self.seats)]


def _copied(value: Any) -> Any:
    return list(value) if isinstance(value, list) else value
