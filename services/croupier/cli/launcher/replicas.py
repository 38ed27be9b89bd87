"""The number of instances of each service, and their names."""

from dataclasses import dataclass

from croupier.cli.faults import misused

START_ORDER = ("scoring", "engine", "lobby")
"""Each service needs those before it; they stop in the opposite order."""
GATEWAY = "gateway"
"""The one gateway in front of all services."""
MAX_INSTANCES = 16


@dataclass(frozen=True, slots=True)
class Replicas:
    """The number of instances of each service; raises CommandFault for an impossible one."""

    lobby: int = 1
    engine: int = 1
    scoring: int = 1

    def __post_init__(self) -> None:
        flags = {"--lobbies": self.lobby, "--engines": self.engine, "--scorings": self.scoring}
        for flag, number in flags.items():
            if not 1 <= number <= MAX_INSTANCES:
                raise misused(f"{flag} cannot be {number}: choose 1 to {MAX_INSTANCES}")

    @property
    def most(self) -> int:
        """The number of instances of the service that has the most."""
        return max(self.lobby, self.engine, self.scoring)

    def of(self, service: str) -> tuple[str, ...]:
        """Return the names of a service's instances, for example engine, engine-2, engine-3."""
        number: int = getattr(self, service)
        return (service, *(f"{service}-{n}" for n in range(2, number + 1)))

    def all(self) -> tuple[str, ...]:
        """Return the names of all instances, in the order in which they start."""
        return tuple(instance for service in START_ORDER for instance in self.of(service))


ONE_OF_EACH = Replicas()


def service_of(instance: str) -> str:
    """Return the service of an instance."""
    return instance.partition("-")[0]


def number_of(instance: str) -> int:
    """Return the number of an instance in its service, from 1."""
    return int(instance.partition("-")[2] or 1)
