"""Engines with games of tests: the toy, which has a custom deck, or a later version of other rules."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from croupier.engine.core.log import TableConfig
from croupier.games import registry
from croupier.games.interface import Game
from tests.engine.play import CLOCK, SEED, people
from tests.games.toy import TOY

SEATS = 4


@contextmanager
def rules_known(*added: Game) -> Iterator[None]:
    """Add rules to those that are installed, as the ones by which new tables of their games are played."""
    installed = registry.registry()
    known = installed._replace(
        games={**installed.games, **{rules.id: rules for rules in added}},
        rules={**installed.rules, **{(rules.id, rules.rules_version): rules for rules in added}},
    )
    with installed_as(known):
        yield


@contextmanager
def installed_as(known: registry.Registry) -> Iterator[None]:
    """Let these games be those of the installation."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(registry, "registry_of", lambda _: known)
            registry.registry.cache_clear()
            yield
    finally:
        registry.registry.cache_clear()


toy_known = partial(rules_known, TOY)


def toy_table() -> TableConfig:
    return TableConfig("t1", TOY.id, TOY.rules_version, SEATS, {}, CLOCK, SEED, people(SEATS), (b"",) * SEATS)
