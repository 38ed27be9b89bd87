"""Load tests by Locust's own command: green without a defect, named with one, refused where nothing can be tested."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

import grpc
import psutil  # type: ignore[import-untyped]
import pytest

from croupier.cli.background import started_services
from croupier.door.envoy import find_envoy
from loadtest.scenarios import SCENARIOS
from tests.loadtest.defects import DEFECTS
from tests.loadtest.running import (
    RUN_SECONDS,
    SMALL,
    STAYERS,
    Outcome,
    assert_green,
    locust,
    run_load_test,
    run_with,
    services_with,
)
from tests.programs import missing

NOT_HERE = "--host=127.0.0.1:9"
POLL_SECONDS = 0.5


async def test_smoke_is_green(tmp_path: Path) -> None:
    outcome = await run_load_test([*SMALL, STAYERS], tmp_path)
    assert_green(outcome, "smoke")
    compared = {one["name"]: one["measured"] for one in outcome.result["checks"]}["leaderboards and statistics"]
    assert compared.endswith("outcomes compared")
    assert outcome.output.splitlines()[-1].startswith("verdict")


@pytest.mark.slow
@pytest.mark.parametrize("scenario", [name for name in SCENARIOS if name != "smoke"])
async def test_a_scenario_is_green(scenario: str, tmp_path: Path) -> None:
    assert_green(await run_load_test([*SMALL, STAYERS], tmp_path, scenario), scenario)


class Case(NamedTuple):
    """A defect, what it is named by, and what must be played so that it shows."""

    defect: str
    named: str
    flags: Sequence[str] = ()
    scenario: str = "smoke"


FLAKY, CHEATS, DUPLICATES = ("--behaviours=flaky",), ("--behaviours=cheat",), ("--behaviours=duplicate",)
CASES = (
    Case("charge-reserves-twice", "view_differs", ("--behaviours=late", "--run-time=12")),
    Case("leak-resumed", "hidden_card_seen", (STAYERS, "--mix=one_ten,solo")),
    Case("resume-late", "sequence_gap", FLAKY),
    Case("shuffle-badly", "deal_unfair"),
    Case("exchange", "acknowledged_lost"),
    Case("forget-requests", "repeat_differs", DUPLICATES),
    Case("count-repeats", "metrics_differ", DUPLICATES),
    Case("take-any-card", "illegal_accepted", (*CHEATS, "--mix=thulla")),
    Case("play-early", "played_for_too_early", ("--think=1.5",), "evening"),
    Case("lose-results", "result_missing", ("--grace=90",)),
)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.defect)
async def test_a_defect_is_named(case: Case, tmp_path: Path) -> None:
    outcome = await run_with(case.defect, [*SMALL, "--silence=2", *case.flags], tmp_path, case.scenario)
    assert (outcome.code, outcome.result["passed"]) == (1, False), str(outcome)
    assert case.named in outcome.named, str(outcome)


def test_every_defect_is_looked_for() -> None:
    assert {case.defect for case in CASES} == DEFECTS.keys() - {"offer-later-rules"}


# What cannot be tested


@pytest.fixture
async def stranger() -> AsyncIterator[str]:
    """A server that speaks gRPC, but none of our calls."""
    server = grpc.aio.server()
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield f"--host=127.0.0.1:{port}"
    await server.stop(0)


def assert_refused(outcome: Outcome, line: str) -> None:
    assert outcome.code == 2, str(outcome)
    assert line in outcome.errors
    assert "Traceback" not in outcome.errors
    assert not outcome.result


async def test_wrong_options_are_refused_at_once(tmp_path: Path) -> None:
    assert_refused(await run_load_test([], tmp_path, "nothing"), "loadtest: there is no scenario 'nothing'")


@pytest.mark.slow
async def test_no_services_are_no_backend(tmp_path: Path) -> None:
    assert_refused(await run_load_test([NOT_HERE], tmp_path), "loadtest: the services did not answer within")


@pytest.mark.slow
async def test_a_server_that_speaks_something_else_is_no_backend(stranger: str, tmp_path: Path) -> None:
    outcome = await run_load_test([stranger], tmp_path)
    assert_refused(outcome, "loadtest: the lobby does not speak croupier_api.v1")


@pytest.mark.slow
async def test_other_versions_of_the_rules_are_not_judged(tmp_path: Path) -> None:
    outcome = await run_with("offer-later-rules", [*SMALL, "--mix=solo"], tmp_path)
    assert_refused(outcome, "loadtest: the engine plays version 2 of solo, the judge knows version 1")


@pytest.mark.slow
async def test_results_that_have_no_place_are_refused_before_anybody_plays(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file is in the way")
    assert_refused(await run_load_test([NOT_HERE], tmp_path), "loadtest: results cannot be written to")


@pytest.mark.slow
async def test_a_run_that_finished_no_game_is_red(tmp_path: Path) -> None:
    outcome = await run_load_test(["--tables=1", "--run-time=2", "--think=5", "--grace=0"], tmp_path, "evening")
    assert outcome.code == 1, str(outcome)
    assert (outcome.result["tables_finished"], outcome.result["violations"]) == (0, [])


# Locust's own ways: workers, the web page, the gateway


@pytest.mark.slow
async def test_a_master_with_two_workers_is_one_run(tmp_path: Path) -> None:
    outcome = await run_load_test([*SMALL, STAYERS, "--processes=2"], tmp_path)
    assert_green(outcome, "smoke")
    assert outcome.result["conditions"]["processes"] == 2


@pytest.mark.slow
async def test_the_web_page_shows_figures_and_violations_while_it_runs(tmp_path: Path) -> None:
    run = [*SMALL, STAYERS, "--run-time=600", f"--results={tmp_path / 'results'}"]
    page = ["--autostart", "--autoquit=0", "--web-host=127.0.0.1", "--web-port=0"]
    async with (
        asyncio.timeout(RUN_SECONDS),
        services_with("shuffle-badly", tmp_path / "services") as flags,
        locust([*run, *page, *flags]) as process,
    ):
        figures = f"http://127.0.0.1:{await _port(process.pid)}/stats/requests"
        shown = await _until_violated(figures)
        process.send_signal(signal.SIGINT)
        await process.communicate()
    assert shown["state"] == "running"
    assert {"action acknowledged", "rpc CreateTable"} <= {line["name"] for line in shown["stats"]}
    assert ("violation", "deal_unfair") in {(one["method"], one["name"]) for one in shown["errors"]}
    (tab,) = shown["extended_stats"]
    first = {line["invariant"]: line for line in tab["data"]}["deal_unfair"]
    assert first["table_id"]
    assert process.returncode == 1


async def _port(pid: int) -> int:
    """The port that a process has chosen itself to listen at."""
    while True:
        for connection in psutil.Process(pid).net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN:
                return int(connection.laddr.port)
        await asyncio.sleep(POLL_SECONDS)


async def _until_violated(figures: str) -> Mapping[str, Any]:
    """What the page shows as soon as there is a violation."""
    while True:
        shown: Mapping[str, Any] = json.loads(await asyncio.to_thread(_read, figures))
        if shown["errors"] and shown["extended_stats"][0]["data"]:
            return shown
        await asyncio.sleep(POLL_SECONDS)


def _read(address: str) -> bytes:
    with urlopen(address, timeout=RUN_SECONDS) as answer:  # noqa: S310 - our own page
        body: bytes = answer.read()
    return body


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The options by which a load test reaches a gateway with TLS: its address, whom to trust."""
    try:
        find_envoy()
    except ValueError as fault:
        missing(str(fault))
    limits = {"door": ("--address-requests-per-second=0",)}
    folder = tmp_path_factory.mktemp("gateway")
    with started_services(folder, door=["--tls"], mutual_tls=True, extra_flags=limits) as services:
        port = services.addresses["door"]["listen"].rpartition(":")[2]
        yield f"--host=https://localhost:{port}", f"--ca-file={services.folder.path / 'keys' / 'door.authority.pem'}"


@pytest.mark.slow
@pytest.mark.gateway
async def test_abuse_is_refused_as_it_should_be_at_a_gateway(gateway: tuple[str, str], tmp_path: Path) -> None:
    outcome = await run_load_test([*SMALL, "--behaviours=cheat", *gateway], tmp_path, "abuse")
    assert_green(outcome, "abuse")
    # What the gateway refuses itself was tried as well.
    assert min(outcome.result["probes"][name] for name in ("oversized", "malformed")) > 0


@pytest.mark.slow
@pytest.mark.gateway
async def test_a_gateway_without_a_trusted_certificate_is_no_backend(gateway: tuple[str, str], tmp_path: Path) -> None:
    assert_refused(await run_load_test([gateway[0]], tmp_path), "loadtest: the services did not answer")
