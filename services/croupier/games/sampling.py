"""Facts about a game for its tests and for load tests: which tables of it are played, and how rare play is reached."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, TypeVar

from croupier.games.actions import Action
from croupier.games.cards import Card
from croupier.games.facts import Fact

T = TypeVar("T")
_OptionValue: TypeAlias = bool | int | str
_OptionValues: TypeAlias = Mapping[str, _OptionValue]
NO_OPTIONS: _OptionValues = MappingProxyType({})


class Stalling(NamedTuple):
    """Options with which a seat may repeat an action for ever, and that action."""

    options: _OptionValues
    action: Action


class Sampling(NamedTuple):
    """How the tables of a game are sampled. By default all is drawn at random from what the game allows."""

    brief: _OptionValues = NO_OPTIONS
    """Options that keep tables short, for load tests; none if those by default are short."""
    briefest: _OptionValues = NO_OPTIONS
    """Further options that keep tables as short as possible, for the simulation."""
    is_long: bool = False
    """Whether tables have hundreds of entries even so: the simulation plays few of them, with the fewest seats."""
    drawn: Mapping[str, Sequence[_OptionValue]] = MappingProxyType({})
    """By option, the values that random tables draw from instead of all, because play may have no end with others."""
    public_cards: Callable[[_OptionValues], tuple[Card, ...]] = lambda _: ()
    """Cards whose holder the rules reveal at the deal, by the table's options."""
    reveals: Callable[[Fact], bool] = lambda _: False
    """Whether a fact is one by which the rules reveal something about hidden cards before the end of a round."""
    is_rare: Callable[[Action], bool] = lambda _: False
    """Whether random play takes an action rarely, because it would see little besides it."""
    steered: Callable[[Any, Any, Callable[[int], int]], Any] | None = None
    """Returns the event in place of a random one, in walks to positions that random play hardly ever reaches.

    Its arguments are the state, the random event, and a source of random numbers.
    """
    steered_options: Callable[[int], _OptionValues] = lambda _: NO_OPTIONS
    """The options of such walks, by the number of seats."""
    stalling: Stalling | None = None
    """A way to play on for ever, for attackers; None without one."""
    unreached: Mapping[str, str] = MappingProxyType({})
    """What no walk can be expected to reach, as the check of coverage names it, each with the reason."""


def sample(values: Sequence[T], count: int, randrange: Callable[[int], int]) -> tuple[T, ...]:
    """Return so many of the values in a random order."""
    left = list(values)
    return tuple([left.pop(randrange(len(left))) for _ in range(count)])
