"""Tables of the toy, the game of tests/games with a custom deck, at an engine."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import MappingProxyType

import pytest

from croupier.engine.core.log import TableConfig
from croupier.games import registry
from tests.engine.play import CLOCK, SEED, people
from tests.games.toy import TOY

SEATS = 4


@contextmanager
def toy_known() -> Iterator[None]:
    """Add the toy to the games of the engine."""
    games = MappingProxyType({**registry.GAMES, TOY.id: TOY})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "RULES", MappingProxyType({**registry.RULES, (TOY.id, TOY.rules_version): TOY}))
        for module in ("tables.table_checks", "api.control_servicer"):
            patch.setattr(f"croupier.engine.{module}.GAMES", games)
        yield


def toy_table() -> TableConfig:
    """Return the configuration of a table with four persons."""
    return TableConfig("t1", TOY.id, TOY.rules_version, SEATS, {}, CLOCK, SEED, people(SEATS), (b"",) * SEATS)
