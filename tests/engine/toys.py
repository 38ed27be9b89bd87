"""Engines with games of tests: the toy, which has a custom deck, or a later version of other rules."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType

import pytest

from croupier.engine.core.log import TableConfig
from croupier.games import registry
from croupier.games.interface import Game
from croupier.games.registry import Registry
from tests.engine.play import CLOCK, SEED, people
from tests.games.toy import TOY

SEATS = 4


@contextmanager
def rules_known(*added: Game) -> Iterator[None]:
    """Install rules, as the ones by which new tables of their games are played."""
    before = registry.registry()
    known = Registry(
        MappingProxyType({**before.games, **{rules.id: rules for rules in added}}),
        MappingProxyType({**before.rules, **{(rules.id, rules.rules_version): rules for rules in added}}),
        before.packages,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "registry", lambda: known)
        yield


toy_known = partial(rules_known, TOY)


def toy_table() -> TableConfig:
    return TableConfig("t1", TOY.id, TOY.rules_version, SEATS, {}, CLOCK, SEED, people(SEATS), (b"",) * SEATS)
