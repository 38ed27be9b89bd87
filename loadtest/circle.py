"""Players of one sitting find together at one table after the other: matched by the lobby, or at their own."""

import threading
from dataclasses import dataclass, field
from random import Random

from croupier_api.v1 import engine_pb2, lobby_pb2
from croupier_client import CroupierError, InvalidArgument
from loadtest.client import LoadClient
from loadtest.house import House
from loadtest.mix import OptionValue, Sitting

LOOK_SECONDS = 0.2
HOUSE_RULES = 0.5
"""How often a table of their own has other options than the usual ones."""
SEED_BYTES = 16


@dataclass(slots=True)
class Forming:
    """A table that waits for its players; `settled` once it is open or was given up."""

    table_id: str
    taken: int = 1
    is_open: bool = False
    settled: threading.Event = field(default_factory=threading.Event)


class Circle:
    """The players of one sitting."""

    def __init__(self, sitting: Sitting, house: House) -> None:
        self.sitting = sitting
        self._house = house
        self._lock = threading.Lock()
        self._forming: Forming | None = None

    def seat(self, client: LoadClient, random: Random) -> str | None:
        """The next table, open, with a seat for this player; None if none came together. Raises CroupierError."""
        if self.sitting.matched:
            table = client.seated(self.sitting.game, self.sitting.seats)
            return table.table_id if table is not None else None
        forming = self._join(client, random)
        try:
            self._get_ready(client, random, forming)
            return forming.table_id if self._wait(forming) else None
        except CroupierError:
            self._give_up(forming)
            raise

    def _join(self, client: LoadClient, random: Random) -> Forming:
        with self._lock:
            forming = self._forming
            if forming is None:
                forming = self._forming = Forming(self._created(client, random).table_id)
            else:
                try:
                    client.join_table(table_id=forming.table_id)
                except CroupierError:
                    self._give_up(forming)
                    raise
                forming.taken += 1
            if forming.taken == self.sitting.seats:
                self._forming = None
            return forming

    def _created(self, client: LoadClient, random: Random) -> lobby_pb2.Table:
        game, seats, bounds = self.sitting.game, self.sitting.seats, self.sitting.bounds
        if random.random() < HOUSE_RULES:
            rules = self._house_rules(client, random) | dict(bounds)
            try:
                return client.create_table(game=game, seats=seats, options=rules).table
            except InvalidArgument:
                pass  # Not all of them go together with each other.
        return client.create_table(game=game, seats=seats, options=bounds).table

    def _house_rules(self, client: LoadClient, random: Random) -> dict[str, OptionValue]:
        """Any value for each option that lists its values."""
        game = next(game for game in client.list_games().games if game.game == self.sitting.game)
        return {option.name: _value(option, random) for option in game.options if len(option.allowed_values) > 1}

    def _get_ready(self, client: LoadClient, random: Random, forming: Forming) -> None:
        seed = random.randbytes(SEED_BYTES)
        table = client.set_ready(table_id=forming.table_id, client_seed=seed).table
        if table.state == lobby_pb2.TABLE_STATE_PLAYING:
            forming.is_open = True
            forming.settled.set()

    def _wait(self, forming: Forming) -> bool:
        deadline = self._house.now() + self._house.patience_seconds
        while not forming.settled.wait(LOOK_SECONDS):
            if self._house.is_time_up() or self._house.now() > deadline:
                self._give_up(forming)
        return forming.is_open

    def _give_up(self, forming: Forming) -> None:
        """Nobody waits for this table any longer."""
        if self._forming is forming:
            self._forming = None
        forming.settled.set()


def _value(option: engine_pb2.OptionDescription, random: Random) -> OptionValue:
    text = random.choice(option.allowed_values)
    return {"boolean": text == "true", "integer": int(text) if text.isdecimal() else 0}.get(option.type, text)
