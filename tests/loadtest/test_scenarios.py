"""The scenarios, and what a run makes of them."""

import json
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from croupier_client import Tls
from loadtest.mix import ALL_GAMES
from loadtest.players.seat import THOUGHT_OF_ACTION_TIME
from loadtest.scenarios import SCENARIOS, Kind, Manner, Scenario, Thinking, read_manners
from loadtest.swarm.order import USUAL_CONNECTIONS, Order

ORDER = Order("rush", 3, 5.0, 1, "l:1", "e:2", "s:3")


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_a_scenario_begins_at_once_and_goes_on_in_order(scenario: Scenario) -> None:
    assert scenario.stages[0].begins == 0
    assert all(one.begins < next_one.begins < 1 for one, next_one in pairwise(scenario.stages))
    assert max(stage.load for stage in scenario.stages) == 1
    assert scenario.manners
    assert scenario.crowd.keys() & {Kind.PARTY, Kind.MATCHER}, "somebody must play"


def test_load_is_that_of_the_stage_that_began_last() -> None:
    rush = SCENARIOS["rush"]
    assert [rush.load_at(share) for share in (0, 0.19, 0.2, 0.69, 0.7, 0.99)] == [0.1, 0.1, 1, 1, 0.1, 0.1]


def test_thinking_has_its_median_and_an_end() -> None:
    thinking, random = Thinking(median_seconds=4.0), Random(1)
    draws = sorted(thinking.seconds(random) for _ in range(2001))
    assert 3.7 < draws[1000] < 4.3
    assert draws[-1] <= thinking.most_seconds
    assert draws[1900] > 10, "some think long"
    assert Thinking().seconds(random) == 0
    assert thinking.most_seconds <= 30 * THOUGHT_OF_ACTION_TIME


def test_manners_are_read_with_their_weights() -> None:
    assert read_manners("cheat=3, steady") == {Manner.CHEAT: 3, Manner.STEADY: 1}


def test_what_is_told_otherwise_is_taken_for_the_scenarios() -> None:
    resolved = replace(ORDER, grace_seconds=7.0, judged_share=0.5, think_seconds=0.0, manners="cheat").resolved()
    assert (resolved.tables, resolved.seconds, resolved.grace_seconds, resolved.judged_share) == (3, 5.0, 7.0, 0.5)
    assert resolved.thinking.median_seconds == 0
    assert resolved.manners == {Manner.CHEAT: 1}
    assert resolved.stages == SCENARIOS["rush"].stages


def test_nothing_told_changes_nothing_but_tables_and_seconds() -> None:
    assert ORDER.resolved() == replace(SCENARIOS["rush"], tables=3, seconds=5.0)


def test_an_order_is_the_same_after_it_was_told() -> None:
    for authorities in (None, "", "certificates"):
        told = Order.from_json(json.loads(json.dumps(replace(ORDER, authorities=authorities).to_json())))
        assert told == replace(ORDER, authorities=authorities)
    found = [replace(ORDER, authorities=text).endpoints.tls for text in (None, "", "certificates")]
    assert found == [None, Tls(), Tls(b"certificates")]


def test_a_front_door_gets_more_connections_for_more_people() -> None:
    door = replace(ORDER, scenario="evening", tables=1000, lobby="d:1", engine="d:1", scoring="d:1")
    assert replace(door, engine="e:1").connections == USUAL_CONNECTIONS
    assert replace(door, tables=10).connections == USUAL_CONNECTIONS
    # 800 parties of about four, 600 who are matched, 170 others.
    assert door.connections == 100


def test_at_least_one_of_each_kind_comes() -> None:
    assert ORDER.people() == {Kind.MATCHER: 10, Kind.BROWSER: 1}
    assert replace(ORDER, tables=1).people() == {Kind.MATCHER: 3, Kind.BROWSER: 1}


def test_an_order_reaches_a_swarm_as_it_was_given() -> None:
    order = replace(ORDER, manners="cheat", mix="solo")
    assert Order.from_json(order.to_json()) == order
    assert ORDER.mix == ALL_GAMES
