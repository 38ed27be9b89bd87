"""The demonstration end to end, its repeatability by seed, and its failure after a violation."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from croupier.cli.faults import CommandFault
from croupier.cli.launcher.supervisor import SupervisorSettings, running_services
from croupier.cli.services import endpoints_of
from croupier.games.registry import OWN_GAMES
from croupier_api.v1 import scoring_pb2
from croupier_loadtest.demo.demo import Played, Standings, conclusion, judged, play_all
from croupier_loadtest.demo.players import DemoPlan
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.record import TableRecord
from tests.cli.conftest import Command
from tests.installed_packages import with_toy_installed

DEADLINE_SECONDS = 600.0
SEED = "tests/cli/test_demo.py"
PLAN = DemoPlan("thulla", 2, 2, {}, SEED)


def run_croupier(
    *arguments: str, cwd: Path, environment: Mapping[str, str] = os.environ
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "croupier.cli", *arguments],
        cwd=cwd,
        env={**environment, "XDG_DATA_HOME": str(cwd), "NO_COLOR": "1", "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
    )


async def play_plan(plan: DemoPlan, folder: Path) -> Played:
    fixed = {"engine": [f"--shuffle-seed={plan.seed}"]}
    settings = SupervisorSettings(extra_flags=fixed, grace_seconds=0, is_paced=False)
    async with asyncio.timeout(DEADLINE_SECONDS), running_services(folder, settings=settings) as services:
        return await play_all(plan, endpoints_of(services.addresses), lambda _seen, _update: None)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return asyncio.run(play_plan(PLAN, tmp_path_factory.mktemp("played")))


def test_a_demonstration_from_end_to_end(croupier: Command, tmp_path: Path) -> None:
    run = run_croupier("demo", "--seats", "3", "-o", "best_of=3", "--seed", SEED, "--replays", "kept", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert " plays " in run.stdout
    assert "Score sheet" in run.stdout
    assert "Leaderboard" in run.stdout
    assert run.stdout.splitlines()[-1].startswith("1 table of thulla with 3 seats, ")
    (replay,) = (tmp_path / "kept").glob("*.jsonl")
    assert json.loads(replay.read_text().splitlines()[0])["options"]["best_of"] == 3
    forged = tmp_path / "forged.jsonl"
    forged.write_text(replay.read_text().replace('"seats":3', '"seats":4', 1))
    verified = croupier("replay", "verify", str(tmp_path / "kept"), str(forged), str(tmp_path / "missing.jsonl"))
    true, untrue, missing, summary = verified.out.splitlines()
    assert (verified.code, summary) == (1, "3 replays, 2 of them not true")
    assert f"{replay}: true, thulla" in true
    assert f"{forged}: line 1: " in untrue
    assert "cannot be read" in missing


@pytest.mark.slow
def test_all_games_are_played_and_summarized(tmp_path: Path) -> None:
    run = run_croupier("demo", "--game", "all", "--seed", SEED, "--replays", "kept", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    for game in OWN_GAMES.values():
        assert f"{game.name} ({game.id}), " in run.stdout
    assert (run.stdout.count("Score sheet"), run.stdout.count("Ranking")) == (len(OWN_GAMES), len(OWN_GAMES))
    assert " plays " not in run.stdout
    assert all(len(line) <= 80 for line in run.stdout.splitlines()[:-1])
    assert run.stdout.splitlines()[-1].startswith(f"1 table of each of {len(OWN_GAMES)} games, ")
    replays = [replay.read_text() for replay in (tmp_path / "kept").glob("*.jsonl")]
    assert {json.loads(replay.partition("\n")[0])["game"] for replay in replays} == set(OWN_GAMES)


def test_a_game_without_a_judge_is_played_and_its_rules_are_not_judged(tmp_path: Path) -> None:
    # The services of an operator may offer other games.
    installed = with_toy_installed(tmp_path) | {"CROUPIER_GAMES": "solo"}
    run = run_croupier("demo", "--game", "toy", "--quiet", cwd=tmp_path, environment=installed)
    assert run.returncode == 0, run.stderr
    (line,) = run.stdout.splitlines()
    assert line.startswith("1 table of toy with 4 seats, ")
    assert line.endswith("4 statistics, 4 leaderboard entries: no violation, rules not judged of toy")


def test_every_table_is_judged_and_verified(played: Played) -> None:
    checks = played.checks_made
    assert played.violations == ()
    assert len(played.standings.leaderboard) == 4
    assert [checks[name] for name in ("verified games", "replays", "sheets", "deals", "statistics")] == [2, 2, 2, 2, 4]
    assert min(checks[name] for name in ("entries", "views", "acknowledgements")) > 20


def events(record: TableRecord) -> list[Any]:
    lines = [json.loads(line) for line in record.replays[0].splitlines()[1:]]
    return [{key: value for key, value in line.items() if key != "at"} for line in lines]


@pytest.mark.slow
async def test_the_same_seed_yields_the_same_tables(played: Played, tmp_path: Path) -> None:
    again = await play_plan(PLAN, tmp_path)
    assert list(map(events, again.records)) == list(map(events, played.records))
    assert events(played.records[0]) != events(played.records[1])


def test_a_violation_fails_the_demonstration_by_its_name(played: Played) -> None:
    record = played.records[0]
    sheet = scoring_pb2.GetScoreSheetResponse.FromString(record.sheet or b"")
    sheet.result.totals[0] += 1
    wrong = judged([replace(record, sheet=sheet.SerializeToString())], Standings((), ()))
    with pytest.raises(CommandFault, match=rf"{Invariant.RESULT_DIFFERS}: table {record.table_id}") as caught:
        conclusion([PLAN], [played, wrong], 1.0)
    assert caught.value.exit_code == 1


def test_standings_are_judged_too(played: Played) -> None:
    leaderboard, statistics = played.standings.leaderboard, played.standings.statistics
    fewer = judged(played.records, Standings(leaderboard[1:], statistics))
    assert Invariant.LEADERBOARD_DIFFERS in {violation.invariant for violation in fewer.violations}
    swapped = scoring_pb2.GetPlayerStatisticsResponse(player_id=statistics[0].player_id, games=statistics[1].games)
    wrong = judged(played.records, Standings(leaderboard, (swapped, *statistics[1:])))
    assert {violation.invariant for violation in wrong.violations} == {Invariant.STATISTICS_DIFFER}


@pytest.mark.parametrize("tables", [1, 20])
def test_all_randomness_follows_from_the_seed(tables: int) -> None:
    plan = DemoPlan("thulla", 2, tables, {}, SEED)
    secrets = {plan.device_secret(table, seat) for table in range(1, tables + 1) for seat in range(2)}
    assert len(secrets) == 2 * tables
    assert plan.decisions(1, 0).random() == replace(plan).decisions(1, 0).random()
    assert plan.decisions(1, 0).random() != replace(plan, seed="another").decisions(1, 0).random()
    assert plan.device_secret(1, 0) != replace(plan, game="another").device_secret(1, 0)
    assert SEED not in repr(plan)
