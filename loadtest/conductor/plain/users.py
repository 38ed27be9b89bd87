"""Locust users who speak streaming gRPC from greenlets: for runs with --plain, and for locustfiles of your own.

from locust import events, task

people = Gathering(
    Manners(SCENARIOS["smoke"], read_mix("thulla"), seed=1),
    Endpoints.single("127.0.0.1:7700"),
    EventMeasures(events.request),
)

class Company(PlayingUser):
    gathering, kind = people, Kind.PARTY

class Loner(StreamingGrpcUser):
    gathering = people

    @task
    def play(self) -> None:
        table_id = self.client.quick_match_until_seated(game="thulla", seats=2).table_id
        with self.client.play(table_id) as table:
            while table.your_turn():
                table.act(random_legal(table, Random()))
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import ClassVar

from locust import User, task
from locust.event import EventHook
from locust.exception import StopUser

from loadtest.conductor.plain.client import CountedClient
from loadtest.conductor.plain.gathering import Gathering
from loadtest.conductor.statistics import METHOD
from loadtest.judge.violations import Violation
from loadtest.measures import Measures
from loadtest.scenarios import Kind


class StreamingGrpcUser(User):
    """Somebody with a blocking client, whose unary calls and streams leave other greenlets alone.

    Measured are each call ("rpc JoinTable") and each action at a table, from sent to acknowledged ("thulla play"), with
    the time that it took; calls that fail are told by status code and reason.
    """

    abstract = True
    gathering: ClassVar[Gathering]

    @cached_property
    def client(self) -> CountedClient:
        """A player of his own, over connections that all users of the gathering share."""
        return self.gathering.caller(self.gathering.new_name(type(self).__name__.lower()))


class PlayingUser(StreamingGrpcUser):
    """Somebody who does what people of a kind do, and ends games that he is in when Locust has stopped him."""

    abstract = True
    kind: ClassVar[Kind]

    def on_start(self) -> None:
        """Come."""
        self._name = self.gathering.come(self.kind)

    @task
    def live(self) -> None:
        """Be there until time is up."""
        self.gathering.await_departure(self._name)
        raise StopUser

    def on_stop(self) -> None:
        """Leave, after the game that is under way."""
        self.gathering.leave(self._name)


class CallFailed(Exception):
    """What Locust shows of a call that failed, or of an invariant that broke."""


class EventMeasures(Measures):
    """Measures that become Locust's request events one by one, and are not kept for batches."""

    def __init__(self, request: EventHook) -> None:
        super().__init__()
        self._request = request

    def took(self, name: str, seconds: float) -> None:
        """Something took so long."""
        self._fire(name, seconds, None)

    def failed(self, what: str, why: str) -> None:
        """A call failed, or something took too long."""
        self._fire(what, 0.0, CallFailed(why))

    def broken(self, violations: Iterable[Violation], replay: str = "") -> None:  # noqa: ARG002 - events have no room
        """Invariants broke, which Locust counts as failures."""
        for one in violations:
            self._fire(f"violation {one.invariant}", 0.0, CallFailed(f"{one.table_id} {one.sequence}: {one.detail}"))

    def _fire(self, name: str, seconds: float, exception: Exception | None) -> None:
        self._request.fire(  # type: ignore[no-untyped-call]
            request_type=METHOD,
            name=name,
            response_time=seconds * 1000,
            response_length=0,
            exception=exception,
            context={},
        )


def playing_classes(gathering: Gathering, people: Mapping[Kind, int]) -> list[type[PlayingUser]]:
    """A class for each kind of people, with as much weight as there are of them."""
    return [
        type(kind.value.title(), (PlayingUser,), {"kind": kind, "gathering": gathering, "weight": number})
        for kind, number in people.items()
    ]
