"""What a demonstration plays, and all its chance: everything that is drawn follows from one seed."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from croupier.games.interface import OptionValue

NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "Jana")


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """Tables of one game, all alike, with players who play nothing else. Tables count from 1, seats from 0."""

    game: str
    seats: int
    tables: int
    options: Mapping[str, OptionValue]
    seed: str = field(repr=False)

    def device_secret(self, table: int, seat: int) -> str:
        """The secret of a player's device."""
        return self._drawn("device", table, seat).hex()

    def client_seed(self, table: int, seat: int) -> bytes:
        """What a player adds to the shuffles, 32 bytes."""
        return self._drawn("shuffle", table, seat)

    def decisions(self, table: int, seat: int) -> Random:
        """The chance by which a player decides."""
        return Random(self._drawn("decisions", table, seat))  # noqa: S311 - it chooses cards, it keeps no secret

    def player_name(self, table: int, seat: int) -> str:
        """The name that others see."""
        name = NAMES[seat % len(NAMES)]
        return name if self.tables == 1 else f"{name} {table}"

    def _drawn(self, what: str, table: int, seat: int) -> bytes:
        return hashlib.sha256(f"{self.seed}/{self.game}/{what}/{table}/{seat}".encode()).digest()
