"""The options that the load test adds to Locust's command line, and their errors."""

from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path

import pytest

from croupier_client import Endpoints, Tls
from croupier_loadtest.installed import chosen_games
from croupier_loadtest.runner.options import Options, add_arguments, read_options
from croupier_loadtest.scenarios import SCENARIOS, Behaviour

PEM = b"-----BEGIN " + b"CERTIFICATE-----\n"


def read(*arguments: str, tags: str = "smoke", users: int | None = None, host: str = "") -> Options:
    """Parse the options of the load test."""
    parser = ArgumentParser()
    add_arguments(parser)
    parser.set_defaults(tags=[tags], exclude_tags=None, num_users=users)
    parser.set_defaults(spawn_rate=None, run_time=None, processes=None)
    return read_options(parser.parse_args(arguments), host)


def test_options_default_to_the_scenarios() -> None:
    options, rush = read(tags="rush"), SCENARIOS["rush"]
    assert (options.settings.users, options.seconds) == (sum(rush.users(rush.tables).values()), rush.seconds)
    assert options.arrivals_per_second == rush.arrivals_per_second
    assert (options.endpoints, options.is_seed_drawn) == (None, True)
    assert options.results.parent == Path("results")


def test_options_override_the_scenario() -> None:
    chosen = ("--tables=1", "--mix=solo", "--behaviours=adversary=2,steady", "--seed=5", "--think=0")
    options = read(*chosen, "--grace=7", "--judged=0.5", tags="rush")
    settings, rush = options.settings, SCENARIOS["rush"]
    assert (settings.users, settings.games, settings.seed, options.is_seed_drawn) == (4, chosen_games("solo"), 5, False)
    assert settings.scenario.behaviours == {Behaviour.ADVERSARY: 2, Behaviour.STEADY: 1}
    assert settings.scenario.think_time == replace(rush.think_time, median_seconds=0)
    assert (settings.scenario.grace_seconds, settings.scenario.judged_share) == (7, 0.5)
    assert settings.scenario.stages == rush.stages
    assert read("--tables=1", users=77).settings.users == 77
    assert read("--mix=110=2, JØSSING,thulla").settings.games == chosen_games("one_ten=2,jossing,thulla")
    assert read(tags="rush").settings.scenario == rush


def test_the_command_repeats_the_run_with_its_seed() -> None:
    options = read("--think=0", "--results=my results", users=9, host="h:1")
    assert options.command == (
        "croupier load --headless --tags smoke -u 9 -r 20 -t 12 --host h:1 "
        f"--seed {options.settings.seed} --think 0 --results 'my results'"
    )


def test_a_host_is_a_gateway_or_all_services(tmp_path: Path) -> None:
    authority = tmp_path / "authority.pem"
    authority.write_bytes(PEM)
    assert read(host="h:1").endpoints == read(host="http://h:1/").endpoints == Endpoints.single("h:1")
    assert read(host="https://h:1").endpoints == Endpoints.single("h:1", Tls())
    assert read(f"--ca-file={authority}", host="h:1").endpoints == Endpoints.single("h:1", Tls(PEM))
    several = read(host="lobby=a:1,engine=10.0.0.1:2,engine=10.0.0.2:2,scoring=d:4").endpoints
    assert several == Endpoints("a:1", "10.0.0.1:2,10.0.0.2:2", "d:4")


def test_players_use_one_of_two_transports() -> None:
    services = "lobby=a:1,engine=b:2,scoring=d:4"
    assert read().settings.transport == read("--transport=").settings.transport == "grpc"
    options = read("--transport=websocket", host=f"{services},websocket=b:5")
    assert options.endpoints == Endpoints("a:1", "b:2", "d:4", websocket="b:5")
    assert options.settings.transport == "websocket"
    assert options.command.endswith("--transport websocket")
    assert read("--transport=websocket", host="h:1").settings.transport == "websocket"


def test_pages_need_a_gateway() -> None:
    assert read(tags="pages", host="h:1").endpoints == Endpoints.single("h:1")
    with pytest.raises(ValueError, match="pages needs a gateway, which serves the page: give its address as --host"):
        read(tags="pages", host="lobby=a:1,engine=b:2,scoring=d:4")


def test_metrics_are_read_by_name() -> None:
    assert read("--metrics=engine=h:2,lobby=h:3", host="h:1").metrics == {"engine": "h:2", "lobby": "h:3"}


INVALID = {
    "unknown game": (["--mix=whist"], "", "unknown name 'whist': expected thulla"),
    "unknown behaviour": (["--behaviours=rude"], "", "unknown name 'rude': expected steady"),
    "no tables": (["--tables=0"], "", "invalid --tables '0': expected a number from 1 on"),
    "invalid seed": (["--seed=x"], "", "invalid --seed 'x': expected a number from 0 on"),
    "invalid share": (["--judged=2"], "", "invalid --judged '2': expected a number from 0 to 1"),
    "database and host": (["--database=x"], "h:1", "are for services that the run starts"),
    "engines without a database": (["--engines=2"], "", "several engines need a PostgreSQL database"),
    "metrics without a name": (["--metrics=h:1"], "h:1", "invalid --metrics: expected NAME=HOST:PORT"),
    "TLS without a host": (["--ca-file=/none"], "", "--ca-file needs --host"),
    "missing authorities": (["--ca-file=/none"], "h:1", "--ca-file /none cannot be read: No such"),
    "invalid authorities": ([f"--ca-file={__file__}"], "h:1", "holds no certificate"),
    "missing services": ([], "engine=h:1", "must name all three services"),
    "unknown service": ([], "gate=h:1", "invalid --host part 'gate=h:1'"),
    "another transport": (["--transport=quic"], "", "invalid transport 'quic': expected 'grpc' or 'websocket'"),
    "no port for it": (["--transport=websocket"], "lobby=a:1,engine=b:2,scoring=d:4", "add websocket=HOST:PORT"),
    "another scheme": ([], "ftp://h:1", "invalid --host 'ftp://h:1'"),
}


@pytest.mark.parametrize("case", INVALID)
def test_an_invalid_option_has_a_one_line_error(case: str) -> None:
    arguments, host, line = INVALID[case]
    with pytest.raises(ValueError, match=r"^[^\n]+$") as fault:
        read(*arguments, host=host)
    assert line in str(fault.value)


def test_a_run_has_one_scenario() -> None:
    with pytest.raises(ValueError, match="unknown scenario 'nothing': expected one of smoke"):
        read(tags="nothing")
