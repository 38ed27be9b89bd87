"""The plan of a demonstration and all its randomness, which follows from one seed."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from croupier.games.interface import OptionValue

NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "Jana")


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """Tables of one game with the same options, and players of their own. Tables count from 1, seats from 0."""

    game: str
    seats: int
    tables: int
    options: Mapping[str, OptionValue]
    seed: str = field(repr=False)

    def device_secret(self, table: int, seat: int) -> str:
        """Return the secret of a player's device."""
        return self._drawn("device", table, seat).hex()

    def client_seed(self, table: int, seat: int) -> bytes:
        """Return the bytes that a player adds to the shuffles, 32 of them."""
        return self._drawn("shuffle", table, seat)

    def decisions(self, table: int, seat: int) -> Random:
        """Return the random source of a player's decisions."""
        return Random(self._drawn("decisions", table, seat))

    def player_name(self, table: int, seat: int) -> str:
        """Return the name to show."""
        name = NAMES[seat % len(NAMES)]
        return name if self.tables == 1 else f"{name} {table}"

    def _drawn(self, what: str, table: int, seat: int) -> bytes:
        return hashlib.sha256(f"{self.seed}/{self.game}/{what}/{table}/{seat}".encode()).digest()
