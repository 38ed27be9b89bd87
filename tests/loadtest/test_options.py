"""The command line of the load test: what is read, and one line for what cannot be."""

from pathlib import Path

import pytest

from croupier_client import Endpoints, Tls
from loadtest.command_line import MISUSED
from loadtest.options import read_options
from loadtest.scenarios import SCENARIOS

PEM = b"-----BEGIN " + b"CERTIFICATE-----\n"


def test_what_is_not_told_is_the_scenarios() -> None:
    options = read_options(["evening"])
    evening = SCENARIOS["evening"]
    assert (options.tables, options.seconds, options.endpoints) == (evening.tables, evening.seconds, None)
    assert options.results.parent == Path("results")
    assert options.results.name.endswith("-evening")


def test_what_is_told_is_taken() -> None:
    options = read_options(["rush", "--tables=7", "--seconds=9", "--mix=solo", "--manners=cheat=2,steady", "--seed=5"])
    assert (options.tables, options.seconds, options.mix, options.seed) == (7, 9, "solo", 5)
    assert options.manners == "cheat=2,steady"


def test_the_command_repeats_the_run_with_its_seed() -> None:
    told, chosen = read_options(["smoke", "--seed=5"]), read_options(["smoke", "--tables=3"])
    assert told.command == "python -m loadtest smoke --seed=5"
    assert chosen.command == f"python -m loadtest smoke --tables=3 --seed {chosen.seed}"
    spaced = read_options(["smoke", "--seed=5", "--results=my results"])
    assert spaced.command == "python -m loadtest smoke --seed=5 '--results=my results'"


def test_a_front_door_is_for_all_services() -> None:
    assert read_options(["smoke", "--host=h:1"]).endpoints == Endpoints.single("h:1")
    services = ["--lobby=a:1", "--engine=10.0.0.1:2,10.0.0.2:2", "--scoring=d:4"]
    assert read_options(["smoke", *services]).endpoints == Endpoints("a:1", "10.0.0.1:2,10.0.0.2:2", "d:4")


def test_a_front_door_can_have_tls(tmp_path: Path) -> None:
    authority = tmp_path / "authority.pem"
    authority.write_bytes(PEM)
    assert read_options(["smoke", "--host=h:1", "--tls"]).endpoints == Endpoints.single("h:1", Tls())
    assert read_options(["smoke", "--host=h:1", f"--ca-file={authority}"]).endpoints == Endpoints.single(
        "h:1", Tls(PEM)
    )


def test_metrics_are_read_by_name() -> None:
    options = read_options(["smoke", "--host=h:1", "--metrics=engine=h:2", "--metrics=lobby=h:3"])
    assert options.metrics == {"engine": "h:2", "lobby": "h:3"}


OWN = ["--lobby=h:1", "--engine=h:1", "--scoring=h:1"]
WRONG = {
    "no scenario of that name": (["nothing"], "there is no scenario 'nothing': take one of smoke"),
    "no tables": (["smoke", "--tables=0"], "--tables is at least 1"),
    "no engine": (["smoke", "--engines=0"], "--engines is at least 1"),
    "no time": (["smoke", "--seconds=0"], "--seconds is at least 1"),
    "a game that there is not": (["smoke", "--mix=whist"], "'whist' is not played here"),
    "a weight that is none": (["smoke", "--mix=solo=0"], "'0' is no weight of solo"),
    "a manner that there is not": (["smoke", "--manners=rude"], "nobody plays in the manner 'rude'"),
    "a weight of a manner that is none": (["smoke", "--manners=cheat=x"], "'x' is no weight of cheat"),
    "a service without the others": (["smoke", "--engine=h:1"], "--lobby, --engine and --scoring belong together"),
    "two ways in": (
        ["smoke", "--host=h:1", "--lobby=h:1", "--engine=h:1", "--scoring=h:1"],
        "--host is one front door",
    ),
    "a database of others": (["smoke", "--host=h:1", "--database=x"], "are for services of its own"),
    "engines without a database": (["smoke", "--engines=2"], "several engines need a PostgreSQL database"),
    "addresses that cannot be used": (["smoke", "--lobby=h:1", "--engine=h:1,i:1", "--scoring=h:1"], "cannot be used"),
    "metrics without a name": (["smoke", "--metrics=h:1"], "--metrics is NAME=HOST:PORT"),
    "TLS for services of its own": (["smoke", "--tls"], "--tls and --ca-file are for services that run already"),
    "authorities that are not there": (
        ["smoke", "--host=h:1", "--ca-file=/none"],
        "--ca-file /none cannot be read: No such",
    ),
    "authorities that are none": (["smoke", "--host=h:1", f"--ca-file={__file__}"], "holds no certificate"),
    "a share that is none": (["smoke", "--judged=2"], "--judged is a share of all tables"),
    "a flag that there is not": (["smoke", "--loud"], "unrecognized arguments: --loud"),
}


@pytest.mark.parametrize("what", WRONG)
def test_one_line_says_what_is_wrong(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, line = WRONG[what]
    with pytest.raises(SystemExit) as end:
        read_options(arguments)
    told = capsys.readouterr()
    assert end.value.code == MISUSED
    assert told.err.startswith("loadtest: ")
    assert line in told.err
    assert told.err.count("\n") == 1
    assert not told.out
