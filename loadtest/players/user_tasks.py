"""The task of each kind of user, from its start to its stop."""

from collections.abc import Callable, Coroutine, Mapping
from types import MappingProxyType

from loadtest.players.attackers.attack_process import attacker
from loadtest.players.groups import group, matcher
from loadtest.players.spectators import browser, opener, spectator
from loadtest.players.user_context import UserContext
from loadtest.scenarios import UserKind

USER_TASKS: Mapping[UserKind, Callable[[UserContext, str], Coroutine[None, None, None]]] = MappingProxyType(
    {
        UserKind.GROUP: group,
        UserKind.MATCHER: matcher,
        UserKind.SPECTATOR: spectator,
        UserKind.BROWSER: browser,
        UserKind.OPENER: opener,
        UserKind.ATTACKER: attacker,
    }
)
