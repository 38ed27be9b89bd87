"""The scenarios, and the plans of runs."""

import json
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from croupier_client import Endpoints, Tls
from loadtest.mix import ALL_GAMES, read_mix
from loadtest.players.seat_player import MAX_THINK_SHARE
from loadtest.players.user_context import MIN_CONNECTIONS, LoadSettings
from loadtest.scenarios import SCENARIOS, Scenario, ThinkTime, UserKind

SETTINGS = LoadSettings(
    SCENARIOS["abuse"], read_mix(ALL_GAMES), 1, users=11, endpoints=Endpoints("l:1", "e:2", "s:3"), attacks={"pages": 2}
)


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_the_stages_of_a_scenario_begin_at_zero_and_are_in_order(scenario: Scenario) -> None:
    assert scenario.stages[0].begins == 0
    assert all(one.begins < next_one.begins < 1 for one, next_one in pairwise(scenario.stages))
    assert max(stage.load for stage in scenario.stages) == 1
    assert scenario.behaviours
    assert scenario.users_per_table.keys() & {UserKind.GROUP, UserKind.MATCHER}, "a scenario needs players"


def test_the_load_is_that_of_the_current_stage() -> None:
    rush = SCENARIOS["rush"]
    assert [rush.load_at(share) for share in (0, 0.19, 0.2, 0.69, 0.7, 0.99)] == [0.1, 0.1, 1, 1, 0.1, 0.1]


def test_think_times_have_their_median_and_maximum() -> None:
    think_time, random = ThinkTime(median_seconds=4.0), Random(1)
    draws = sorted(think_time.seconds(random) for _ in range(2001))
    assert 3.7 < draws[1000] < 4.3
    assert draws[-1] <= think_time.max_seconds
    assert draws[1900] > 10, "some think long"
    assert ThinkTime().seconds(random) == 0
    assert think_time.max_seconds <= 30 * MAX_THINK_SHARE


@pytest.mark.parametrize("tls", [None, Tls(), Tls(b"certificates")])
@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_settings_are_the_same_after_they_were_sent(tls: Tls | None, scenario: Scenario) -> None:
    settings = replace(SETTINGS, scenario=scenario, endpoints=replace(SETTINGS.endpoints, tls=tls))
    assert LoadSettings.from_json(json.loads(json.dumps(settings.to_json()))) == settings


def test_a_gateway_gets_more_connections_for_more_users() -> None:
    gateway = replace(SETTINGS, scenario=SCENARIOS["evening"], users=1570, endpoints=Endpoints.single("d:1"))
    assert replace(gateway, endpoints=SETTINGS.endpoints).connections == MIN_CONNECTIONS
    assert replace(gateway, users=10).connections == MIN_CONNECTIONS
    # 800 groups of about four, 600 matched players, 170 others.
    assert gateway.connections == 100


def test_there_is_at_least_one_user_of_each_kind() -> None:
    rush = SCENARIOS["rush"]
    assert rush.users(3) == {UserKind.MATCHER: 10, UserKind.BROWSER: 1}
    assert rush.users(1) == {UserKind.MATCHER: 3, UserKind.BROWSER: 1}
