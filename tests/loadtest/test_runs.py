"""Load tests by Locust's own command: green without a defect, named with one, refused where nothing can be tested."""

import asyncio
import json
import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

import psutil  # type: ignore[import-untyped]
import pytest

from croupier.cli.background import started_services
from croupier.door.envoy import find_envoy
from tests.loadtest.defects import DEFECTS
from tests.loadtest.running import (
    PEOPLE,
    RUN_SECONDS,
    SMALL,
    Outcome,
    assert_green,
    locust,
    run_load_test,
    services_with,
)
from tests.programs import missing

NOT_HERE = "--host=127.0.0.1:9"
POLL_SECONDS = 0.5


async def test_smoke_is_green(tmp_path: Path) -> None:
    outcome = await run_load_test([*SMALL, PEOPLE], tmp_path)
    assert_green(outcome, "smoke")
    compared = {one["name"]: one["measured"] for one in outcome.result["checks"]}["leaderboards and statistics"]
    assert compared.endswith("outcomes compared")
    assert outcome.output.splitlines()[-1].startswith("verdict")


class Green(NamedTuple):
    """A scenario, and what it is played with so that it takes no longer than it must."""

    scenario: str
    flags: Sequence[str] = ()


GREEN = (
    Green("rush", ("--processes=2",)),
    Green("storm", ("--run-time=11",)),  # All connections break every ten seconds.
    Green("soak"),
    Green("ceiling"),
)
"""The crowd, manners and limits of `evening` are those of `soak`, and `abuse` is played at the gateway."""


@pytest.mark.slow
@pytest.mark.parametrize("case", GREEN, ids=lambda case: case.scenario)
async def test_a_scenario_is_green(case: Green, tmp_path: Path) -> None:
    outcome = await run_load_test([*SMALL, PEOPLE, *case.flags], tmp_path, case.scenario)
    assert_green(outcome, case.scenario)
    assert outcome.result["conditions"]["processes"] == (2 if "--processes=2" in case.flags else 1)


class Broken(NamedTuple):
    """Defects, each with what it alone of them is named by, and what must be played so that they show."""

    named: Mapping[str, str]
    flags: Sequence[str]
    scenario: str = "smoke"


BROKEN = (
    Broken(
        {"charge-reserves-twice": "view_differs", "count-repeats": "metrics_differ"},
        ("--behaviours=late,duplicate", "--run-time=12"),
    ),
    Broken(
        {"exchange": "acknowledged_lost", "take-any-card": "illegal_accepted", "lose-results": "result_missing"},
        ("--behaviours=cheat", "--mix=thulla", "--silence=1", "--grace=40"),
    ),
    Broken(
        {"leak-resumed": "hidden_card_seen", "forget-requests": "repeat_differs"},
        ("--behaviours=flaky,duplicate", "--mix=one_ten,solo"),
    ),
    Broken({"play-early": "played_for_too_early"}, ("--think=4", "--run-time=8"), "evening"),
    # Whoever finds this gives up, so that no game goes on.
    Broken({"resume-late": "sequence_gap"}, ("--behaviours=flaky", "--grace=1")),
)
BROKEN_ON_THE_PAGE = "shuffle-badly"


@pytest.mark.slow
@pytest.mark.parametrize("case", BROKEN, ids=lambda case: "+".join(case.named))
async def test_defects_are_named(case: Broken, tmp_path: Path) -> None:
    async with services_with(list(case.named), tmp_path / "services") as services:
        outcome = await run_load_test([*SMALL, "--silence=2", *case.flags, *services], tmp_path, case.scenario)
    assert (outcome.code, outcome.result["passed"]) == (1, False), str(outcome)
    assert outcome.named >= set(case.named.values()), str(outcome)


def test_every_defect_is_looked_for() -> None:
    looked_for = [BROKEN_ON_THE_PAGE, *(defect for case in BROKEN for defect in case.named)]
    assert sorted(looked_for) == sorted(DEFECTS)


# What cannot be tested


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
async def test_results_that_have_no_place_are_refused_before_anybody_plays(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file is in the way")
    assert_refused(await run_load_test([NOT_HERE], tmp_path), "loadtest: results cannot be written to")


@pytest.mark.slow
async def test_a_run_that_finished_no_game_is_red(tmp_path: Path) -> None:
    outcome = await run_load_test(["--tables=1", "--run-time=2", "--think=5", "--grace=0"], tmp_path, "evening")
    assert outcome.code == 1, str(outcome)
    assert (outcome.result["tables_finished"], outcome.result["violations"]) == (0, [])


# The web page, and the gateway


@pytest.mark.slow
async def test_the_web_page_shows_figures_and_violations_while_it_runs(tmp_path: Path) -> None:
    run = [*SMALL, PEOPLE, "--run-time=600", f"--results={tmp_path / 'results'}"]
    page = ["--autostart", "--autoquit=0", "--web-host=127.0.0.1", "--web-port=0"]
    async with (
        asyncio.timeout(RUN_SECONDS),
        services_with([BROKEN_ON_THE_PAGE], tmp_path / "services") as flags,
        locust([*run, *page, *flags]) as process,
    ):
        shown = await _until_shown("deal_unfair", f"http://127.0.0.1:{await _port(process.pid)}/stats/requests")
        process.send_signal(signal.SIGINT)
        await process.communicate()
    assert shown["state"] == "running"
    assert {"action acknowledged", "rpc CreateTable"} <= {line["name"] for line in shown["stats"]}
    assert _violations(shown)["deal_unfair"]["table_id"]
    assert process.returncode == 1


async def _port(pid: int) -> int:
    """The port that a process has chosen itself to listen at."""
    while True:
        for connection in psutil.Process(pid).net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN:
                return int(connection.laddr.port)
        await asyncio.sleep(POLL_SECONDS)


async def _until_shown(invariant: str, figures: str) -> Mapping[str, Any]:
    """What the page shows as soon as a violation is among its errors and on its tab; others may come first."""
    while True:
        shown: Mapping[str, Any] = json.loads(await asyncio.to_thread(_read, figures))
        errors = {(one["method"], one["name"]) for one in shown["errors"]}
        if ("violation", invariant) in errors and invariant in _violations(shown):
            return shown
        await asyncio.sleep(POLL_SECONDS)


def _violations(shown: Mapping[str, Any]) -> dict[str, Any]:
    (tab,) = shown["extended_stats"]
    return {line["invariant"]: line for line in tab["data"]}


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
