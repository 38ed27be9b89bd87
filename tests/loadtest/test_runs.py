"""Load tests by Locust's own command, without and with defects, and against services that cannot be tested."""

import asyncio
import json
import os
import re
import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

import psutil
import pytest

from croupier.cli.launcher.background import started_services
from croupier.gateway.envoy import find_envoy
from croupier_loadtest.players.attackers.attack_process import ATTACKS
from croupier_loadtest.players.attackers.attacker import ONE_NETWORK
from tests.installed_packages import with_toy_installed
from tests.loadtest.defects import DEFECTS
from tests.loadtest.running import (
    BEHAVIOURS,
    LOCUST,
    RESULTS,
    ROOT,
    RUN_SECONDS,
    SMALL,
    TIME_LIMITS,
    LoadTestOutcome,
    assert_passed,
    locust,
    run_load_test,
    services_with,
)
from tests.programs import missing
from tests.waiting import until

NO_SERVICES = "--host=127.0.0.1:9"
POLL_SECONDS = 0.5


async def test_smoke_passes(tmp_path: Path) -> None:
    outcome = await run_load_test([*SMALL, BEHAVIOURS], tmp_path)
    assert_passed(outcome, "smoke")
    compared = {one["name"]: one["measured"] for one in outcome.result["checks"]}["leaderboards and statistics"]
    assert compared.endswith("outcomes compared")
    assert outcome.output.splitlines()[-1].startswith("verdict")


@pytest.mark.slow
async def test_a_game_without_a_judge_is_judged_by_all_but_its_rules_and_is_not_fit_to_ship(tmp_path: Path) -> None:
    chosen = [*SMALL[:-1], "--mix=toy,thulla", BEHAVIOURS]
    outcome = await run_load_test(chosen, tmp_path, environment=with_toy_installed(tmp_path))
    assert outcome.code == 1, str(outcome)
    assert "rules not judged of toy" in outcome.named <= TIME_LIMITS | {"rules not judged of toy"}, str(outcome)
    assert outcome.result["games"].keys() == {"toy", "thulla"}
    assert "verdict     not fit to ship: " in outcome.output
    compared = {one["name"]: one["measured"] for one in outcome.result["checks"]}["leaderboards and statistics"]
    assert compared.endswith("outcomes compared")


class PassingRun(NamedTuple):
    """A scenario, with flags that shorten it."""

    scenario: str
    flags: Sequence[str] = ()


PASSING = (
    PassingRun("rush", ("--processes=2",)),
    PassingRun("storm", ("--run-time=11",)),  # All connections break every ten seconds.
    # Tables that all players have left end after three minutes, and a soak ends without tables.
    PassingRun("soak", ("--grace=240",)),
    PassingRun("ceiling"),
)
"""The users, behaviours and limits of `evening` are those of `soak`, and those of `nat` too."""


@pytest.mark.slow
@pytest.mark.parametrize("case", PASSING, ids=lambda case: case.scenario)
async def test_a_scenario_passes(case: PassingRun, tmp_path: Path) -> None:
    outcome = await run_load_test([*SMALL, BEHAVIOURS, *case.flags], tmp_path, case.scenario)
    assert_passed(outcome, case.scenario)
    assert outcome.result["conditions"]["processes"] == (2 if "--processes=2" in case.flags else 1)


class DefectiveRun(NamedTuple):
    """Defects with the invariant that each of them alone violates, and the flags that expose them."""

    invariants: Mapping[str, str]
    flags: Sequence[str]


DEFECTIVE = (
    DefectiveRun(
        {"charge-reserves-twice": "view_differs", "count-repeats": "metrics_differ"},
        ("--behaviours=late,duplicate", "--run-time=12"),
    ),
    DefectiveRun(
        {
            "store-another-action": "acknowledged_lost",
            "accept-any-card": "illegal_accepted",
            "lose-results": "result_missing",
        },
        ("--behaviours=adversary", "--mix=thulla", "--silence=1", "--grace=40"),
    ),
    DefectiveRun(
        {"leak-resumed": "hidden_card_seen", "forget-requests": "repeat_differs"},
        ("--behaviours=flaky,duplicate", "--mix=one_ten,solo"),
    ),
    # Clients give up at this violation, so that no game ends.
    DefectiveRun({"resume-late": "sequence_gap"}, ("--behaviours=flaky", "--grace=1")),
)
BROKEN_ON_THE_PAGE = "shuffle-badly"


@pytest.mark.slow
@pytest.mark.parametrize("case", DEFECTIVE, ids=lambda case: "+".join(case.invariants))
async def test_defects_are_found(case: DefectiveRun, tmp_path: Path) -> None:
    async with services_with(list(case.invariants), tmp_path / "services") as services:
        outcome = await run_load_test([*SMALL, "--silence=2", *case.flags, *services], tmp_path)
    assert (outcome.code, outcome.result["passed"]) == (1, False), str(outcome)
    assert outcome.named >= set(case.invariants.values()), str(outcome)


def test_every_defect_is_tested() -> None:
    tested = [BROKEN_ON_THE_PAGE, *(defect for case in DEFECTIVE for defect in case.invariants)]
    assert sorted(tested) == sorted(DEFECTS)


def assert_refused(outcome: LoadTestOutcome, line: str) -> None:
    assert outcome.code == 2, str(outcome)
    assert line in outcome.errors
    assert "Traceback" not in outcome.errors
    assert not outcome.result


async def test_wrong_options_are_refused_at_once(tmp_path: Path) -> None:
    assert_refused(await run_load_test([], tmp_path, "nothing"), "croupier load: unknown scenario 'nothing'")


@pytest.mark.slow
async def test_services_must_answer(tmp_path: Path) -> None:
    assert_refused(await run_load_test([NO_SERVICES], tmp_path), "croupier load: the services did not answer within")


@pytest.mark.slow
async def test_a_run_without_a_results_folder_is_refused_although_nobody_reads_its_output(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file")
    arguments = ["--headless", f"--results={tmp_path / 'results'}", NO_SERVICES]
    reader, writer = os.pipe()
    os.close(reader)
    process = await asyncio.create_subprocess_exec(*LOCUST, *arguments, cwd=ROOT, stdout=writer, stderr=writer)
    os.close(writer)
    try:
        async with asyncio.timeout(RUN_SECONDS):
            assert await process.wait() == 2
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.mark.slow
async def test_a_run_without_a_finished_game_fails(tmp_path: Path) -> None:
    outcome = await run_load_test(["--tables=1", "--run-time=2", "--think=5", "--grace=0"], tmp_path, "evening")
    assert outcome.code == 1, str(outcome)
    assert (outcome.result["tables_finished"], outcome.result["violations"]) == (0, [])


@pytest.mark.slow
@pytest.mark.parametrize("processes", [[], ["--processes=2"]], ids=["alone", "with workers"])
async def test_an_interrupted_run_is_not_fit_to_ship(processes: list[str], tmp_path: Path) -> None:
    run = [*SMALL, BEHAVIOURS, "--run-time=600", "--headless", f"--results={tmp_path / 'results'}", *processes]
    async with asyncio.timeout(RUN_SECONDS), locust(run) as process:
        await _until_printed(process, " judged, ")
        process.send_signal(signal.SIGINT)
        output, errors = await process.communicate()
    assert process.returncode == 1
    assert b"not fit to ship: time under load interrupted after" in output
    assert b"Traceback" not in errors, errors.decode()


@pytest.mark.slow
async def test_services_are_not_blamed_for_the_counts_of_a_load_process_that_died(tmp_path: Path) -> None:
    run = [*SMALL, "--behaviours=steady", "--run-time=25", "--headless", f"--results={tmp_path / RESULTS}"]
    async with asyncio.timeout(RUN_SECONDS), locust([*run, "--processes=2"]) as process:
        await _until_printed(process, " judged, ")
        worker = next(one for one in psutil.Process(process.pid).children() if _has_players(one))
        for killed in (worker, *worker.children(recursive=True)):
            killed.kill()
        output, errors = await process.communicate()
    outcome = LoadTestOutcome(process.returncode or 0, output.decode(), errors.decode(), tmp_path / RESULTS)
    checks = {one["name"]: one["measured"] for one in outcome.result["checks"]}
    assert not outcome.result["violations"], str(outcome)
    assert re.search(r"the worker \S+ ended early, and its counts are lost", checks["the load test itself"]), checks
    assert "a load process ended early" in checks["leaderboards and statistics"]
    assert outcome.result["compared"], "the remaining counters are compared"


def _has_players(process: psutil.Process) -> bool:
    return any("croupier_loadtest.process" in child.cmdline() for child in process.children())


@pytest.mark.slow
async def test_a_second_interrupt_ends_all_processes_at_once(tmp_path: Path) -> None:
    run = [*SMALL, BEHAVIOURS, "--run-time=600", "--headless", f"--results={tmp_path / 'results'}"]
    async with asyncio.timeout(RUN_SECONDS), locust(run) as process:
        await _until_printed(process, "to repeat")
        started = psutil.Process(process.pid).children(recursive=True)
        for player in started:
            if "croupier_loadtest.process" in player.cmdline():
                # The run would otherwise be over before the second interrupt.
                player.suspend()
        process.send_signal(signal.SIGINT)
        await _until_printed(process, "draining: ")
        process.send_signal(signal.SIGINT)
        _, errors = await process.communicate()
        await until(lambda: not any(map(psutil.Process.is_running, started)), "every process ends")
    assert (process.returncode, len(started) > 1) == (2, True)
    assert (b"croupier load: stopped, without a result" in errors, b"Traceback" in errors) == (True, False)
    assert not (tmp_path / "results").exists()


async def _until_printed(process: asyncio.subprocess.Process, text: str) -> None:
    assert process.stderr
    while text not in (line := (await process.stderr.readline()).decode()):
        assert line, f"{text!r} was not printed"


@pytest.mark.slow
async def test_the_web_page_shows_statistics_and_violations(tmp_path: Path) -> None:
    run = [*SMALL, BEHAVIOURS, "--run-time=600", f"--results={tmp_path / 'results'}"]
    page = ["--autostart", "--autoquit=0", "--web-port=0"]
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


async def test_the_help_has_the_options_of_the_load_test_beside_those_of_locust() -> None:
    async with asyncio.timeout(RUN_SECONDS), locust(["--help"]) as process:
        output, _ = await process.communicate()
    assert process.returncode == 0
    assert output.startswith(b"Usage: croupier load [options]")
    assert {b"--headless", b"--tags", b"--mix", b"--results"} <= set(output.split())


async def _port(pid: int) -> int:
    """Return the port on which a process listens."""
    while True:
        for connection in psutil.Process(pid).net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN:
                assert connection.laddr.ip == "127.0.0.1"
                return int(connection.laddr.port)
        await asyncio.sleep(POLL_SECONDS)


async def _until_shown(invariant: str, figures: str) -> Mapping[str, Any]:
    """Return the content of the page when a violation is among its errors and on its tab."""
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
    """Run a gateway with TLS; yields the options of a load test against it."""
    try:
        find_envoy()
    except ValueError as fault:
        missing(str(fault))
    limits = {"gateway": ("--address-requests-per-second=0", "--network-requests-per-second=0")}
    folder = tmp_path_factory.mktemp("gateway")
    with started_services(folder, gateway=["--tls"], mutual_tls=True, extra_flags=limits) as services:
        port = services.addresses["gateway"]["listen"].rpartition(":")[2]
        yield f"--host=https://localhost:{port}", f"--ca-file={services.folder.path / 'keys' / 'gateway.authority.pem'}"


@pytest.mark.slow
@pytest.mark.gateway
async def test_smoke_passes_at_a_gateway(gateway: tuple[str, str], tmp_path: Path) -> None:
    outcome = await run_load_test([*SMALL, "--behaviours=adversary", *gateway], tmp_path)
    assert_passed(outcome, "smoke")
    # Requests that the gateway itself refuses
    assert min(outcome.result["probes"][name] for name in ("oversized", "malformed")) > 0


@pytest.mark.slow
@pytest.mark.gateway
async def test_a_run_without_a_seed_passes_at_a_gateway_that_others_used_before(
    gateway: tuple[str, str], tmp_path: Path
) -> None:
    run = ["-u", "12", "-t", "9s", "--think=0", "--grace=20", "--mix=solo,thulla", BEHAVIOURS, *gateway]
    for number in range(2):
        outcome = await run_load_test(run, tmp_path / str(number))
        assert_passed(outcome, "smoke")
        checks = {one["name"]: one["measured"] for one in outcome.result["checks"]}
        assert checks["leaderboards and statistics"].endswith("outcomes compared")
        assert outcome.result["calls_broken"]


RATES = {"player_calls", "network_calls", "sign_ins", "table_changes", "tables"}
"""The limits that attackers reach by being quick."""


@pytest.mark.slow
@pytest.mark.gateway
async def test_every_attack_reaches_its_limit_beside_players_who_reach_none(tmp_path: Path) -> None:
    outcome = await run_load_test(
        ["--tables=4", "--run-time=110", "--mix=solo,thulla", "--think=0.6", "--seed=1"], tmp_path, "abuse"
    )
    result, missed = outcome.result, outcome.named - TIME_LIMITS
    assert not result["violations"], str(outcome)
    assert result["tables_finished"] > 0
    # On a slow machine attackers do not reach every limit of a rate, and no game may end in time for those on replays.
    of_rates = {f"attack {name} {ONE_NETWORK}" for name, it in ATTACKS.items() if it.refusals & RATES}
    assert missed <= of_rates, str(outcome)
    assert len(missed) < len(of_rates) / 2, str(outcome)
    assert {one["name"] for one in result["checks"]} >= {f"attack {name} {ONE_NETWORK}" for name in ATTACKS}
