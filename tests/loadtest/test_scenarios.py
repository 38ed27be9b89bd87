"""The scenarios, and what a run makes of them."""

import json
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from croupier_client import Endpoints, Tls
from loadtest.players.seat import THOUGHT_OF_ACTION_TIME
from loadtest.process.plan import USUAL_CONNECTIONS, Plan
from loadtest.scenarios import SCENARIOS, Kind, Manner, Scenario, Thinking

PLAN = Plan("rush", 11, 1, "l:1", "e:2", "s:3")


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


def test_what_is_chosen_otherwise_replaces_the_scenarios() -> None:
    resolved = replace(
        PLAN, grace_seconds=7.0, judged_share=0.5, think_seconds=0.0, manners="cheat=3, steady"
    ).resolved()
    assert (resolved.grace_seconds, resolved.judged_share) == (7.0, 0.5)
    assert resolved.thinking.median_seconds == 0
    assert resolved.manners == {Manner.CHEAT: 3, Manner.STEADY: 1}
    assert resolved.stages == SCENARIOS["rush"].stages
    assert PLAN.resolved() == SCENARIOS["rush"]


@pytest.mark.parametrize("tls", [None, Tls(), Tls(b"certificates")])
def test_a_plan_is_the_same_after_it_was_sent(tls: Tls | None) -> None:
    endpoints = Endpoints("l:1", "e:2", "s:3", tls)
    plan = replace(PLAN, manners="cheat", mix="solo").at(endpoints)
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan
    assert plan.endpoints == endpoints


def test_a_gateway_gets_more_connections_for_more_users() -> None:
    gateway = replace(PLAN, scenario="evening", users=1570, lobby="d:1", engine="d:1", scoring="d:1")
    assert replace(gateway, engine="e:1").connections == USUAL_CONNECTIONS
    assert replace(gateway, users=10).connections == USUAL_CONNECTIONS
    # 800 parties of about four, 600 who are matched, 170 others.
    assert gateway.connections == 100


def test_at_least_one_of_each_kind_comes() -> None:
    rush = SCENARIOS["rush"]
    assert rush.people(3) == {Kind.MATCHER: 10, Kind.BROWSER: 1}
    assert rush.people(1) == {Kind.MATCHER: 3, Kind.BROWSER: 1}
