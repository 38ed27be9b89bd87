"""What each kind of people does from their coming to their leaving."""

from collections.abc import Callable, Coroutine, Mapping
from types import MappingProxyType

from loadtest.players.onlookers import browser, opener, spectator
from loadtest.players.party import matcher, party
from loadtest.players.world import World
from loadtest.scenarios import Kind

BEHAVIOURS: Mapping[Kind, Callable[[World, str], Coroutine[None, None, None]]] = MappingProxyType(
    {
        Kind.PARTY: party,
        Kind.MATCHER: matcher,
        Kind.SPECTATOR: spectator,
        Kind.BROWSER: browser,
        Kind.OPENER: opener,
    }
)
