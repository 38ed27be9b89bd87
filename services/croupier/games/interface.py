"""The interface of games: pure functions over immutable states.

The engine asks what a state awaits, applies a shuffle or an action, and receives a new state with the facts that became
known. Nothing here or in a game does I/O, reads a clock or draws random numbers. A game is a subclass of `Rules`.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from croupier.games.actions import Action
from croupier.games.cards import Card, CardFace, notation
from croupier.games.choices import ActionChoice
from croupier.games.facts import MAX_SEATS, Fact, Ranking, Seat, View, Viewer
from croupier.games.sampling import Sampling
from croupier.games.words import PileKind, Words


class IllegalAction(ValueError):
    """The rules refuse an action or an event; `rule` is the id in the game's rules, for example "THU-PLAY-3"."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


class InvalidOption(ValueError):
    """An option, its value or a number of seats is impossible; `option` names it ("seats" for the seats)."""

    def __init__(self, option: str, message: str) -> None:
        super().__init__(message)
        self.option = option


class SeatActed(NamedTuple):
    """A seat did something."""

    seat: Seat
    action: Action


class CardsShuffled(NamedTuple):
    """The table shuffled: all the cards in their new order, and the numbers drawn with them."""

    cards: tuple[Card, ...]
    drawn: tuple[int, ...] = ()


class ProposalAgreed(NamedTuple):
    """All seats agreed to a proposal, named as in Game.proposals."""

    proposal: str


Event: TypeAlias = SeatActed | CardsShuffled | ProposalAgreed


class SeatsToAct(NamedTuple):
    """These seats may act."""

    seats: tuple[Seat, ...]


ONE_TO_ACT: tuple[SeatsToAct, ...] = tuple(SeatsToAct((seat,)) for seat in range(MAX_SEATS))
"""By seat: this one alone may act."""


class ShuffleNeeded(NamedTuple):
    """The table must shuffle these cards, given ascending, and draw a number from range(b) for each b of `draw_bounds`.

    `round_number` and `shuffle_number` (both from 1, the latter within the round) name the shuffle for ever.
    """

    cards: tuple[Card, ...]
    draw_bounds: tuple[int, ...]
    round_number: int
    shuffle_number: int


class GameOver(NamedTuple):
    """The game has ended: groups of seats, best first; tied seats share a group.

    A void result has all seats in one group.
    """

    ranking: Ranking
    reason: str
    is_void: bool = False


Awaiting: TypeAlias = SeatsToAct | ShuffleNeeded | GameOver


class Legal(NamedTuple):
    """All that a seat may do: whole actions in a stable order, and families of actions that are too many to list."""

    actions: tuple[Action, ...] = ()
    choices: tuple[ActionChoice, ...] = ()


NOTHING_LEGAL = Legal()

S = TypeVar("S")
State: TypeAlias = Any
"""A table of some game at one moment: a frozen value that only the rules of its game look into."""
OptionValue: TypeAlias = bool | int | str
OptionValues: TypeAlias = Mapping[str, OptionValue]


class Condition(NamedTuple):
    """A condition on an option's meaning: it makes a difference only while another option has one of these values."""

    other: str
    values: tuple[OptionValue, ...]


class Requirement(NamedTuple):
    """A value of an option that is allowed only with a certain value of another option."""

    value: OptionValue
    other: str
    other_value: OptionValue


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a game as people read it: allowed values are listed, or are the range lowest..highest.

    `earlier` is the value of tables that were opened before the option existed; None if it has always existed. `group`
    is a word for options that belong together, `unit` one for what a number counts, "" for none; `condition` says when
    the option makes a difference, None for always.
    """

    name: str
    default: OptionValue
    allowed: tuple[OptionValue, ...] | range
    meaning: str
    requirements: tuple[Requirement, ...] = ()
    earlier: OptionValue | None = None
    group: str = ""
    unit: str = ""
    condition: Condition | None = None

    @property
    def type_name(self) -> str:
        """ "boolean", "integer" or "word"."""
        return {bool: "boolean", int: "integer"}.get(type(self.default), "word")

    def check(self, value: object) -> None:
        """Raise InvalidOption unless the value has the option's type and is allowed."""
        if type(value) is not type(self.default) or value not in self.allowed:
            raise InvalidOption(self.name, f"invalid {self.name} {value!r}: expected {self.allowed_text()}")

    def check_requirements(self, resolved: OptionValues) -> None:
        """Raise InvalidOption unless the resolved options have what this option's value requires."""
        for value, other, other_value in self.requirements:
            if resolved[self.name] == value and resolved[other] != other_value:
                found, expected = f"{other} {resolved[other]!r}", f"{other} {other_value!r}"
                raise InvalidOption(self.name, f"invalid {self.name} {value!r} with {found}: expected {expected}")

    def allowed_text(self) -> str:
        """Return what is allowed, for example "an integer from 1 to 9"."""
        if isinstance(self.allowed, range):
            return f"an integer from {self.allowed.start} to {self.allowed.stop - 1}"
        kind = "an integer" if self.type_name == "integer" else f"a {self.type_name}"
        return f"{kind} out of {', '.join(map(json.dumps, self.allowed))}"


class Preset(NamedTuple):
    """Options and times under one name, for players who are matched; valid for every number of seats.

    The options are those that differ from the defaults. The times are those of each action, and of the reserve of a
    seat for the whole game.
    """

    name: str
    action_seconds: int
    reserve_seconds: int
    options: OptionValues = MappingProxyType({})


BLITZ, SLOW = Preset("blitz", 10, 30), Preset("slow", 86_400, 0)


class Standing(NamedTuple):
    """How the results of a game count in statistics and on its leaderboard.

    A seat has one of two outcomes, the better one first. The `figure` of a player is the number of their games with the
    better outcome, or with `is_share` the share of these in all of their games. Of players with equal figures the one
    with the better average place is first if `places_decide`, and then the one with more games.
    """

    outcomes: tuple[str, str] = ("won", "lost")
    has_winners: bool = True
    """Whether the better outcome is a win."""
    figure: str = "games_won"
    is_share: bool = False
    places_decide: bool = True


class EventRules(NamedTuple):
    """The ids of the rules by which events that no seat makes are refused.

    These are a shuffle when none is due, one of other cards than are due, one with other numbers drawn, and a proposal
    that the game does not have.
    """

    due: str
    cards: str
    drawn: str
    proposals: str


class Rules(ABC, Generic[S]):
    """The rules of a game as functions over its states, its computer players and its description.

    A game must define the attributes without a value and the abstract methods, and may define the others.
    """

    id: str
    """For example "thulla": lower case letters, digits and underscores."""
    name: str
    """The name to show."""
    summary: str
    """One sentence about the game."""
    seats: range
    """The numbers of seats that are possible."""
    bots: Mapping[str, "Bot"]
    """The computer players by name, first the one that also acts for seats that time out."""
    rule_prefix: str
    """The beginning of the rule ids on the game's page, for example "THU"."""
    rules_version: int = 1
    """The version of these rules, written into every table."""
    words: Words = MappingProxyType({})
    """The words of the game with their English texts, beside SHARED_WORDS."""
    piles: tuple[PileKind, ...] = ()
    """The kinds of its piles."""
    has_tricks: bool = False
    """Whether seats take tricks, which are counted in a round."""
    recommended_seats: range | None = None
    """The numbers of seats with which it is at its best; None if all are equally good."""
    deck: tuple[CardFace, ...] = ()
    """The cards of the game's own deck; empty for a game with standard cards."""
    proposals: Mapping[str, str] = MappingProxyType({})
    """The proposals that seats can agree on, by name, each with an English sentence on its effect."""
    presets: tuple[Preset, ...] = (BLITZ, SLOW)
    """The presets, each with another name."""
    standing: Standing = Standing()
    """How results count; by default the first group of the ranking has won, and wins order the leaderboard."""
    sampling: Sampling = Sampling()
    """Which tables of it are played in tests and load tests."""

    def options(self, seats: int) -> tuple[Option, ...]:  # noqa: ARG002 - for games with options
        """Return every option with what is allowed for this number of seats; the defaults are allowed together."""
        return ()

    @abstractmethod
    def new(self, seats: int, options: OptionValues) -> S:
        """Return the state before the first deal, from options that `resolve_options` returned."""

    @abstractmethod
    def awaiting(self, state: S) -> Awaiting:
        """Return what has to happen next."""

    @abstractmethod
    def scores(self, state: S) -> tuple[int, ...]:
        """Return the running totals by seat."""

    @abstractmethod
    def legal_actions(self, state: S, seat: Seat, /) -> Legal:
        """Return all that a seat may do now; empty if it is not to act."""

    def event_rules(self, state: S) -> EventRules:  # noqa: ARG002 - for games with more rules of this kind
        """Return the rules by which shuffles and proposals are refused in a state; by default it is DEAL-1."""
        return EventRules(*[f"{self.rule_prefix}-DEAL-1"] * 4)

    @abstractmethod
    def act(self, state: S, seat: Seat, action: Action, /) -> tuple[S, tuple[Fact, ...]]:
        """Return the next state and what became known; raises IllegalAction for an action that the rules refuse.

        Any seat may try any action of the right type, also when it is not to act.
        """

    @abstractmethod
    def shuffle(self, state: S, shuffled: CardsShuffled, /) -> tuple[S, tuple[Fact, ...]]:
        """Return the next state and what became known, after a shuffle that is due and valid."""

    def shuffle_record(self, state: S, shuffled: CardsShuffled, /) -> dict[str, Any]:  # noqa: ARG002
        """Return a shuffle that is due and valid in the form of the game's rules page for replays.

        By default it has the shuffled cards, and the numbers drawn if there are any.
        """
        drawn = {"drawn": list(shuffled.drawn)} if shuffled.drawn else {}
        return {"type": "deal", "cards": notation(shuffled.cards), **drawn}

    def ranking_at_limit(self, state: S) -> Ranking | None:  # noqa: ARG002 - for games that can be ended early
        """Return the ranking by the completed rounds, for a table that ends at a limit of the operator.

        None if they decide nothing, which makes the result void; so it is by default.
        """
        return None

    @abstractmethod
    def view(self, state: S, viewer: Viewer, /) -> View:
        """Return all that a seat, or SPECTATOR, may know."""

    @property
    def is_searchable(self) -> bool:
        """Whether the game has `determinize`, and thereby the computer player "search"."""
        return type(self).determinize is not Rules.determinize

    def determinize(self, observation: "Observation", randrange: "RandomSource", /) -> S:
        """Return a state that is possible by all that a seat knows; hidden cards are dealt at random.

        The seat's view and legal actions in it are those of the observation. Inferences from the play so far, such as
        suits that a seat did not follow, are respected where that is easy. A game may leave this out, and `evaluate`.
        """
        raise NotImplementedError

    def evaluate(self, before: S, after: S, /) -> tuple[float, ...]:
        """Return how well each seat did between two moments, 0 to 1: a searching player maximizes this."""
        raise NotImplementedError

    def teams(self, seats: int) -> tuple[tuple[Seat, ...], ...]:  # noqa: ARG002 - for games with teams
        """Return the teams at this number of seats, each seat in exactly one; empty if each seat plays for itself."""
        return ()

    def outcomes(self, ranking: Ranking, reason: str) -> tuple[str, ...]:  # noqa: ARG002 - for games without winners
        """Return the outcome of each seat, one of the standing, after a game that ended with this ranking and reason.

        Empty if the result counts for no seat. A void result is not asked about: it counts for none.
        """
        better, worse = self.standing.outcomes
        return tuple(better if seat in ranking[0] else worse for seat in range(sum(map(len, ranking))))

    def agree(self, state: S, proposal: str, /) -> tuple[S, tuple[Fact, ...]]:
        """Return the next state and what became known, after all agreed on one of the game's proposals.

        Raises IllegalAction when that is not possible now.
        """
        raise NotImplementedError(proposal)

    def proposal_record(self, state: S, proposal: str) -> dict[str, Any]:
        """Return one of the game's proposals in the form of its rules page for replays; raises IllegalAction."""
        raise NotImplementedError(proposal)

    def apply(self, state: S, event: Event) -> tuple[S, tuple[Fact, ...]]:
        """Return the next state and the facts that became known.

        Raises IllegalAction for an event that the rules refuse. Events and actions hold values of their declared types:
        codecs ensure that for input from outside. Every value of the right type is judged.
        """
        if isinstance(event, SeatActed):
            return self.act(state, event.seat, event.action)
        self._check_event(state, event)
        if isinstance(event, CardsShuffled):
            return self.shuffle(state, event)
        return self.agree(state, event.proposal)

    def event_record(self, state: S, event: CardsShuffled | ProposalAgreed) -> dict[str, Any]:
        """Return a shuffle or an agreed proposal as a replay has it; raises IllegalAction for one that is refused."""
        self._check_event(state, event)
        if isinstance(event, CardsShuffled):
            return self.shuffle_record(state, event)
        return self.proposal_record(state, event.proposal)

    def _check_event(self, state: S, event: CardsShuffled | ProposalAgreed) -> None:
        rules = self.event_rules(state)
        if isinstance(event, ProposalAgreed):
            if event.proposal not in self.proposals:
                expected = " or ".join(self.proposals) or "none"
                raise IllegalAction(rules.proposals, f"invalid proposal {event.proposal!r}: expected {expected}")
            return
        due = self.awaiting(state)
        if not isinstance(due, ShuffleNeeded):
            raise IllegalAction(rules.due, "no shuffle is due")
        if tuple(sorted(event.cards)) != due.cards:
            raise IllegalAction(rules.cards, f"shuffle exactly the {len(due.cards)} cards that are due")
        drawn, bounds = event.drawn, due.draw_bounds
        if len(drawn) != len(bounds) or any(not 0 <= one < bound for one, bound in zip(drawn, bounds, strict=True)):
            raise IllegalAction(rules.drawn, f"draw exactly {len(bounds)} numbers below their bounds with the shuffle")


Game: TypeAlias = Rules[Any]
"""Some game."""


class Observation(NamedTuple):
    """The input of a computer player: its seat, the table's resolved options, its view, and its legal actions."""

    seat: Seat
    options: OptionValues
    view: View
    legal: Legal


RandomSource: TypeAlias = Callable[[int], int]
"""A source of random numbers that the caller owns: returns a number from range(bound)."""
Bot: TypeAlias = Callable[[Observation, RandomSource], Action]
"""A computer player: it sees what its seat sees, and returns an action; raises ValueError if nothing is legal."""


def seats_text(game: Game) -> str:
    """Return the possible numbers of seats, for example "2 to 6 seats"."""
    fewest, most = game.seats.start, game.seats.stop - 1
    return f"{fewest} seats" if fewest == most else f"{fewest} to {most} seats"


def resolve_options(game: Game, seats: int, given: OptionValues) -> dict[str, OptionValue]:
    """Return every option of the game with its value; raises InvalidOption with the invalid one and what is allowed."""
    if type(seats) is not int or seats not in game.seats:
        raise InvalidOption("seats", f"invalid number of seats {seats!r}: expected {seats_text(game)}")
    options = {option.name: option for option in game.options(seats)}
    for name, value in given.items():
        if name not in options:
            raise InvalidOption(name, f"invalid option {name!r}: expected one of {', '.join(options)}")
        options[name].check(value)
    resolved = {name: given.get(name, option.default) for name, option in options.items()}
    for option in options.values():
        option.check_requirements(resolved)
    return resolved


def completed_options(game: Game, seats: int, stored: OptionValues) -> dict[str, OptionValue]:
    """Return the options of a table that may be older than some of them: what it lacks has the value of its time."""
    known = game.options(seats) if seats in game.seats else ()
    return {option.name: option.earlier for option in known if option.earlier is not None} | dict(stored)
