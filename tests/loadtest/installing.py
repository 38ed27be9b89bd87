"""Lets this process know games as if their packages were installed."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType

import pytest

from croupier.games import registry
from croupier.games.interface import Game
from croupier.games.registry import Registry, registry_of
from tests.games.toy import TOY


@contextmanager
def installed(*added: Game) -> Iterator[None]:
    """Install games beside croupier's own."""
    games, rules, packages = registry_of(())
    known = Registry(
        MappingProxyType({**games, **{game.id: game for game in added}}),
        MappingProxyType({**rules, **{(game.id, game.rules_version): game for game in added}}),
        MappingProxyType({**packages, **{game.id: f"{game.id} 1.0" for game in added}}),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "registry", lambda: known)
        yield


toy_installed = partial(installed, TOY)
