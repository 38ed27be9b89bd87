"""A locustfile as people write it, with the streaming users; SERVICES names lobby, engine and scoring."""

import os
from random import Random

from locust import events, task

from croupier_client import Endpoints, random_legal
from loadtest.conductor.plain.gathering import Gathering
from loadtest.conductor.plain.users import EventMeasures, PlayingUser, StreamingGrpcUser
from loadtest.mix import read_mix
from loadtest.players.world import Manners
from loadtest.scenarios import SCENARIOS, Kind

LOBBY, ENGINE, SCORING = os.environ["SERVICES"].split(",")
people = Gathering(
    Manners(SCENARIOS["smoke"], read_mix("thulla"), seed=1),
    Endpoints(LOBBY, ENGINE, SCORING),
    EventMeasures(events.request),
)


class Onlooker(PlayingUser):
    """Does what people of a kind do."""

    gathering, kind = people, Kind.BROWSER


class Loner(StreamingGrpcUser):
    """Does something of his own."""

    gathering = people

    @task
    def play(self) -> None:
        """Play with whoever comes."""
        table_id = self.client.quick_match_until_seated(game="jossing", seats=2).table_id
        with self.client.play(table_id) as table:
            while table.your_turn():
                table.act(random_legal(table, Random()))

    @task
    def ask_for_what_is_not_there(self) -> None:
        """Be refused."""
        self.client.get_view(table_id="no-such-table")
