"""How many instances of each service run, and what they are called."""

from dataclasses import dataclass

from croupier.cli.faults import misused

START_ORDER = ("scoring", "engine", "lobby")
"""Each service needs those before it; they stop the other way round."""
DOOR = "door"
"""What stands in front of all services, once."""
MOST_INSTANCES = 16


@dataclass(frozen=True, slots=True)
class Replicas:
    """How many instances of each service are to run; raises CommandFault for a number that cannot be."""

    lobby: int = 1
    engine: int = 1
    scoring: int = 1

    def __post_init__(self) -> None:
        flags = {"--lobbies": self.lobby, "--engines": self.engine, "--scorings": self.scoring}
        for flag, number in flags.items():
            if not 1 <= number <= MOST_INSTANCES:
                raise misused(f"{flag} cannot be {number}: choose 1 to {MOST_INSTANCES}")

    @property
    def most(self) -> int:
        """The number of instances of the service that has most."""
        return max(self.lobby, self.engine, self.scoring)

    def of(self, service: str) -> tuple[str, ...]:
        """The names of a service's instances, for example engine, engine-2, engine-3."""
        number: int = getattr(self, service)
        return (service, *(f"{service}-{n}" for n in range(2, number + 1)))

    def all(self) -> tuple[str, ...]:
        """The names of all instances, in the order in which they start."""
        return tuple(instance for service in START_ORDER for instance in self.of(service))


ONE_OF_EACH = Replicas()


def service_of(instance: str) -> str:
    """The service that an instance is one of."""
    return instance.partition("-")[0]


def number_of(instance: str) -> int:
    """Which of its service's instances it is, from 1."""
    return int(instance.partition("-")[2] or 1)
