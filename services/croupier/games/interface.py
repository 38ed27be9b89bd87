"""What a game is: a pure function over its events.

The engine drives any game through this: it asks what the state awaits, gives it a shuffle or a seat's action, and gets
a new state with the facts that became known. Nothing here or in a game does I/O, reads a clock or draws at random.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

from croupier.games.actions import Action
from croupier.games.cards import Card, Suit
from croupier.games.facts import Fact, Seat, View, Viewer


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
    """The table shuffled: all cards that were asked for in their new order, and the numbers drawn with them."""

    cards: tuple[Card, ...]
    drawn: tuple[int, ...] = ()


class ProposalAgreed(NamedTuple):
    """All seats agreed to a proposal, named as in Game.proposals."""

    proposal: str


Event: TypeAlias = SeatActed | CardsShuffled | ProposalAgreed


class SeatsToAct(NamedTuple):
    """These seats may act."""

    seats: tuple[Seat, ...]


class ShuffleNeeded(NamedTuple):
    """The table must shuffle these cards and draw a number from range(b) for each b of `draw_bounds`.

    `round_number` and `shuffle_number` (both from 1, the latter within the round) name the shuffle for ever.
    """

    cards: tuple[Card, ...]
    draw_bounds: tuple[int, ...]
    round_number: int
    shuffle_number: int


class GameOver(NamedTuple):
    """The game has ended: groups of seats, best first; tied seats share a group."""

    ranking: tuple[tuple[Seat, ...], ...]
    reason: str


Awaiting: TypeAlias = SeatsToAct | ShuffleNeeded | GameOver


class CardChoice(NamedTuple):
    """From `fewest` to `most` cards out of a list, for the verb Keep or Swap, and a suit if any are listed."""

    verb: type[Action]
    cards: tuple[Card, ...]
    fewest: int
    most: int
    suits: tuple[Suit, ...] = ()


class Legal(NamedTuple):
    """What a seat may do: actions in a stable order, and choices that are too many to list."""

    actions: tuple[Action, ...] = ()
    choices: tuple[CardChoice, ...] = ()


NOTHING_LEGAL = Legal()


class State(Protocol):
    """A table of a game at one moment: a frozen value."""

    @property
    def awaiting(self) -> Awaiting:
        """What has to happen next."""

    @property
    def scores(self) -> tuple[int, ...]:
        """Running totals by seat."""

    def legal_actions(self, seat: Seat) -> Legal:
        """All that the seat may do now; empty if it is not to act."""

    def apply(self, event: Event) -> tuple[Self, tuple[Fact, ...]]:
        """The next state and what became known; raises IllegalAction for an event that the rules refuse.

        Events and actions hold values of their declared types. Codecs and action_from_json see to it for what comes
        from outside; who makes them without those answers for it. Every value of the right type is judged.
        """

    def view(self, viewer: Viewer) -> View:
        """All that a seat, or SPECTATOR, may know."""

    def event_record(self, event: CardsShuffled | ProposalAgreed) -> dict[str, Any]:
        """The table event of a shuffle that is due or a proposal, as the game's rules page writes it in a replay."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a game as people read it: allowed values are listed, or are the range lowest..highest."""

    name: str
    default: "OptionValue"
    allowed: "tuple[OptionValue, ...] | range"
    meaning: str

    @property
    def type_name(self) -> str:
        """ "boolean", "integer" or "word"."""
        return {bool: "boolean", int: "integer"}.get(type(self.default), "word")

    def check(self, value: object) -> None:
        """Raises InvalidOption unless the value has the option's type and is allowed."""
        if type(value) is not type(self.default) or value not in self.allowed:
            raise InvalidOption(self.name, f"{self.name} cannot be {value!r}: {self.allowed_text()}")

    def allowed_text(self) -> str:
        """What is allowed, as a half sentence."""
        if isinstance(self.allowed, range):
            return f"an integer from {self.allowed.start} to {self.allowed.stop - 1} is allowed"
        kind = "an integer" if self.type_name == "integer" else f"a {self.type_name}"
        return f"{kind} out of {', '.join(map(json.dumps, self.allowed))} is allowed"


OptionValue: TypeAlias = bool | int | str
OptionValues: TypeAlias = Mapping[str, OptionValue]


class Game(Protocol):
    """The rules of a game. A sixth game is a class like this, and one line in GAMES."""

    @property
    def id(self) -> str:
        """The id, for example "thulla"."""

    @property
    def name(self) -> str:
        """The name to show."""

    @property
    def summary(self) -> str:
        """One sentence about the game."""

    @property
    def rules_version(self) -> int:
        """The version of these rules, written into every table."""

    @property
    def seats(self) -> range:
        """The numbers of seats that are possible."""

    @property
    def bots(self) -> Mapping[str, "Bot"]:
        """The computer players by name, first the one that also plays for people whose time ran out."""

    @property
    def names(self) -> Mapping[str, str]:
        """What players call things, where that differs: from a card, suit, contract or other word to its name."""

    @property
    def proposals(self) -> Mapping[str, str]:
        """What seats can agree on, by name, with a sentence that says what happens then."""

    def options(self, seats: int) -> tuple[Option, ...]:
        """Every option with what is allowed for this number of seats."""

    def check(self, seats: int, options: OptionValues) -> None:
        """Raises InvalidOption for resolved options that are impossible together."""

    def new(self, seats: int, options: OptionValues) -> State:
        """A table before its first deal, from options that resolve_options gave."""

    def imagine(self, seen: "Seen", choose: "Choose") -> State:
        """A table as it may be for all that a seat knows: what it does not see is dealt by chance.

        The law: the seat's view and legal actions there are those that were given. What the play so far tells of hidden
        cards, such as suits that a seat did not follow, is heeded where that is easy.
        """

    def rate(self, before: State, after: State) -> tuple[float, ...]:
        """How well each seat did from one moment to a later one, 0 to 1: what a searching player wants more of."""


class Seen(NamedTuple):
    """What a computer player gets: its seat, the table's resolved options, its view, and what it may do."""

    seat: Seat
    options: "OptionValues"
    view: View
    legal: Legal


class Bot(Protocol):
    """A computer player: it sees what its seat sees, and nothing more."""

    def __call__(self, seen: Seen, choose: "Choose", /) -> Action:
        """Decide; `choose(n)` gives a random number from range(n). Raises ValueError if nothing is legal."""


class Choose(Protocol):
    """A source of chance that the caller owns."""

    def __call__(self, bound: int, /) -> int:
        """A number from range(bound)."""


def seats_text(game: Game) -> str:
    """How many seats a game has, for example "2 to 6 seats"."""
    fewest, most = game.seats.start, game.seats.stop - 1
    return f"{fewest} seats" if fewest == most else f"{fewest} to {most} seats"


def resolve_options(game: Game, seats: int, given: OptionValues) -> dict[str, OptionValue]:
    """Every option of the game with its value; raises InvalidOption naming what is wrong and what is allowed."""
    if type(seats) is not int or seats not in game.seats:
        raise InvalidOption("seats", f"{game.name} has {seats_text(game)}, not {seats!r}")
    options = {option.name: option for option in game.options(seats)}
    for name, value in given.items():
        if name not in options:
            raise InvalidOption(name, f"{game.name} has no option {name!r}: it has {', '.join(options)}")
        options[name].check(value)
    resolved = {name: given.get(name, option.default) for name, option in options.items()}
    game.check(seats, resolved)
    return resolved
