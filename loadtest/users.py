"""Players as Locust's users: each signs in and plays one game after the other until time is up."""

from collections.abc import Sequence
from itertools import count
from random import Random

from locust import User, task
from locust.exception import StopUser

from croupier_client import CroupierError, RetryPolicy
from loadtest.circle import Circle
from loadtest.client import Connections, LoadClient, Timed
from loadtest.house import House
from loadtest.player import GameAbandoned, PlayerAtTable

PAUSE_SECONDS = 0.5


class Guests:
    """Gives each player that comes a client of his own, and a circle to play in."""

    def __init__(self, connections: Connections, circles: Sequence[Circle], seed: int, patience_seconds: float) -> None:
        self._connections = connections
        self._places = [circle for circle in circles for _ in range(circle.sitting.seats)]
        self._seed = seed
        self._policy = RetryPolicy(total_seconds=patience_seconds)
        self._numbers = count(1)

    @property
    def count(self) -> int:
        """How many players there are places for."""
        return len(self._places)

    def welcome(self, timed: Timed) -> tuple[LoadClient, Circle, Random]:
        """The client of the next player, his circle and his chance."""
        number = next(self._numbers)
        client = LoadClient(
            f"loadtest-{self._seed}-{number:06}",
            f"Player {number}",
            connections=self._connections,
            policy=self._policy,
            timed=timed,
        )
        return client, self._places[(number - 1) % len(self._places)], Random(f"{self._seed}/{number}")


def player_class(house: House, guests: Guests) -> type[User]:
    """The kind of user that plays in this house."""

    class Player(User):
        def on_start(self) -> None:
            self.client, self.circle, self.random = guests.welcome(self.timed)
            try:
                self.client.sign_in()
            except CroupierError as error:
                house.tally.failed("signing in", str(error))
                raise StopUser from error

        @task
        def play(self) -> None:
            if house.is_time_up():
                raise StopUser
            try:
                if (table_id := self.circle.seat(self.client, self.random)) is not None:
                    with house.tally.one_more_playing():
                        PlayerAtTable(house, self.client, table_id, self.random).play_to_the_end()
            except CroupierError as error:
                house.tally.failed("finding a table", str(error))
                house.sleep(PAUSE_SECONDS)
            except GameAbandoned:
                house.sleep(PAUSE_SECONDS)

        def timed(self, kind: str, name: str, seconds: float, error: Exception | None = None) -> None:
            self.environment.events.request.fire(
                request_type=kind,
                name=name,
                response_time=seconds * 1000,
                response_length=0,
                exception=error,
                context={},
            )

    return Player
