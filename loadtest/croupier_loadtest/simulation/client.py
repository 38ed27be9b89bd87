"""The reference client over the simulated network."""

from random import Random
from typing import Any

import croupier_client as client
from croupier_loadtest.simulation.environment import Environment
from croupier_loadtest.simulation.loop import Process
from croupier_loadtest.simulation.network import SimulatedChannel
from croupier_loadtest.simulation.replica import ENGINE, LOBBY, SCORING


class SimulatedClient(client.Client):
    """The reference client, with simulated channels and a seeded random source."""

    def __init__(self, process: Process, random: Random, environment: Environment) -> None:
        name, clock = process.name, environment.loop.now_milliseconds
        super().__init__(
            client.Endpoints(LOBBY, ENGINE, SCORING), f"the secret of {name}", name, clock=clock, random=random
        )
        self._network = environment.network
        self._process = process
        self._id_random = random

    def _connect(self, address: str) -> Any:
        return SimulatedChannel(self._network, self._process, address)

    def play_table(self, table_id: str) -> client.AsyncTable:
        """Play at a table; request ids come from the seed."""
        table = super().play_table(table_id)
        table._new_id = self.new_request_id
        return table

    def new_request_id(self) -> str:
        """Return a new request id."""
        return f"{self._id_random.getrandbits(64):016x}"
