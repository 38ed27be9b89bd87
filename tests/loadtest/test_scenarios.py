"""Scenarios, with the mix of games and the load over a run, and the settings of runs."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random
from types import SimpleNamespace

import pytest

from croupier.games.interface import resolve_options
from croupier.games.registry import OWN_GAMES, installed_games
from croupier_api.v1 import actions_pb2
from croupier_client import Endpoints, Tls
from croupier_loadtest.installed import chosen_games
from croupier_loadtest.mix import draw_entry, matchable
from croupier_loadtest.players.attackers.games import AttackedGames
from croupier_loadtest.players.seat_player import MAX_THINK_SHARE
from croupier_loadtest.players.user_context import MIN_CONNECTIONS, LoadSettings
from croupier_loadtest.runner.stages import StagePlan, Stages, Tick
from croupier_loadtest.scenarios import SCENARIOS, Scenario, ThinkTime, UserKind
from tests.engine.toys import toy_known
from tests.games.toy import TOY

SETTINGS = LoadSettings(
    SCENARIOS["abuse"],
    chosen_games("solo=3,one_oh_one"),
    1,
    users=11,
    endpoints=Endpoints("l:1", "e:2", "s:3"),
    attacks={"pages": 2},
    installed=chosen_games(""),
)


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_the_stages_of_a_scenario_begin_at_zero_and_are_in_order(scenario: Scenario) -> None:
    assert scenario.stages[0].begins == 0
    assert all(one.begins < next_one.begins < 1 for one, next_one in pairwise(scenario.stages))
    assert max(stage.load for stage in scenario.stages) == 1
    assert scenario.behaviours
    players = {UserKind.GROUP, UserKind.MATCHER, UserKind.PAGES}
    assert scenario.users_per_table.keys() & players, "a scenario needs players"


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


def test_connections_of_the_chosen_transport_can_be_broken() -> None:
    endpoints = Endpoints("l:1", "10.0.0.1:2,10.0.0.2:12", "s:3", websocket="10.0.0.1:4,10.0.0.2:14")
    settings = replace(SETTINGS, endpoints=endpoints)
    assert settings.ports == {1, 2, 12}
    assert replace(settings, transport="websocket").ports == {1, 4, 14}


def test_there_is_at_least_one_user_of_each_kind() -> None:
    rush = SCENARIOS["rush"]
    assert rush.users(3) == {UserKind.MATCHER: 10, UserKind.BROWSER: 1}
    assert rush.users(1) == {UserKind.MATCHER: 3, UserKind.BROWSER: 1}


def test_all_installed_games_are_played_by_default_with_all_their_seats() -> None:
    with toy_known():
        games = {entry.game: entry for entry in chosen_games("")}
        assert list(games) == list(installed_games()) == [*OWN_GAMES, TOY.id]
    for game in (*OWN_GAMES.values(), TOY):
        entry = games[game.id]
        assert (list(entry.seats), entry.bot in game.bots) == (list(game.seats), True)
        for seats in entry.seats:
            resolve_options(game, seats, entry.bounds)
    assert (games["toy"].bounds, games["toy"].stalling, games["toy"].preset) == ({}, None, "blitz")


def test_a_way_to_stall_is_an_action_of_the_contract() -> None:
    (entry,) = chosen_games("101")
    assert entry.stalling is not None
    options = resolve_options(OWN_GAMES["one_oh_one"], 2, entry.stalling.options)
    assert options["may_draw_instead"] is True
    assert AttackedGames([entry]).stalling_action == actions_pb2.Action(draw=actions_pb2.DrawAction())


def test_a_mix_is_games_with_weights() -> None:
    assert [(entry.game, entry.weight) for entry in chosen_games("thulla=2, solo")] == [("thulla", 2), ("solo", 1)]


@pytest.mark.parametrize("text", ["whist", "solo=", "solo=0", "solo=101", "solo=1.5", "solo,solo", "solo;thulla"])
def test_an_invalid_mix_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"unknown name|invalid weight|duplicate name"):
        chosen_games(text)


def test_games_are_drawn_by_their_weights() -> None:
    random = Random(1)
    times = Counter(draw_entry(chosen_games("thulla=3,solo"), random).game for _ in range(400))
    assert set(times) == {"thulla", "solo"}
    assert 250 < times["thulla"] < 350


def test_quick_match_has_the_games_that_are_short_by_default() -> None:
    assert {entry.game for entry in matchable(chosen_games(",".join(OWN_GAMES)))} == {"thulla", "jossing", "solo"}
    assert [entry.game for entry in matchable(chosen_games("one_ten"))] == ["one_ten"]


RUSH = StagePlan(SCENARIOS["rush"], 50, 200, 100.0)


@pytest.fixture
def clock() -> SimpleNamespace:
    return SimpleNamespace(seconds=1000.0)


@pytest.fixture
def stages(clock: SimpleNamespace) -> Stages:
    return Stages(lambda: clock.seconds)


def ticks(stages: Stages, clock: SimpleNamespace, plan: StagePlan, times: Sequence[float]) -> list[Tick | None]:
    """Return the ticks at these times of a run."""
    stages.begin(plan)
    began, found = clock.seconds, []
    for time in times:
        clock.seconds = began + time
        found.append(stages.tick())
    return found


def test_the_load_follows_the_stages_after_the_warm_up(stages: Stages, clock: SimpleNamespace) -> None:
    assert [RUSH.scenario.load_at(share) for share in (0, 0.19, 0.2, 0.69, 0.7, 0.99)] == [0.1, 0.1, 1, 1, 0.1, 0.1]
    warm_up = RUSH.warm_up_seconds
    assert warm_up == 5 / 200
    found = ticks(stages, clock, RUSH, [0, *(warm_up + time for time in (19, 20.1, 69, 70.1, 99, 100.1))])
    assert found == [(5, 200), (5, 200), (50, 200), (50, 200), (5, 200), (5, 200), None]
    assert replace(RUSH, scenario=replace(RUSH.scenario, settling_seconds=4)).warm_up_seconds == 4 + 5 / 200
    assert ticks(stages, clock, replace(RUSH, users=2), [0]) == [(1, 200)], "there is always a user"


def test_the_first_tick_holds_before_a_run_and_the_last_one_after_it(stages: Stages, clock: SimpleNamespace) -> None:
    stages.first = lambda: (7, 2.0)
    assert stages.tick() == (7, 2.0)
    ticks(stages, clock, RUSH, [0, 50])
    stages.hold()
    clock.seconds += 1000
    assert stages.tick() == (50, 200)
    stages.reset()
    assert stages.tick() == (7, 2.0)
