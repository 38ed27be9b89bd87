"""A demonstration from end to end, what its seed fixes, and that records which do not agree are told."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from croupier.cli import reach
from croupier.cli.demo import Played, play_all
from croupier.cli.demo_evidence import Evidence, disagreements, leaderboard_differences
from croupier.cli.demo_plan import DemoPlan
from croupier.cli.demo_players import PlayedTable
from croupier.cli.faults import CommandFault
from croupier.cli.reach import endpoints_of, front_door, signed_in_client
from croupier.cli.supervisor import Manner, running_services
from croupier.games.catalogue import GAMES
from croupier_api.v1 import scoring_pb2

DEADLINE_SECONDS = 120.0
SEED = "tests/cli/test_demo.py"


def croupier(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "croupier.cli", *arguments],
        cwd=cwd,
        env={**os.environ, "XDG_DATA_HOME": str(cwd), "NO_COLOR": "1", "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
    )


async def play_plan(plan: DemoPlan, folder: Path) -> Played:
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        running_services(folder, manner=Manner(shuffle_seed=plan.seed, grace_seconds=0)) as services,
    ):
        return await play_all(plan, endpoints_of(services.addresses), lambda _seen, _update: None)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Two tables with two players each."""
    plan = DemoPlan("thulla", 2, 2, {}, SEED)
    return asyncio.run(play_plan(plan, tmp_path_factory.mktemp("played")))


def test_a_demonstration_from_end_to_end(tmp_path: Path) -> None:
    run = croupier("demo", "--seats", "3", "-o", "best_of=3", "--seed", SEED, "--replays", "kept", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "plays" in run.stdout
    assert "Score sheet" in run.stdout
    assert "Leaderboard" in run.stdout
    assert run.stdout.splitlines()[-1].startswith("1 table of thulla with 3 seats, ")
    (replay,) = (tmp_path / "kept").glob("*.jsonl")
    assert json.loads(replay.read_text().splitlines()[0])["options"]["best_of"] == 3
    verified = croupier("replay", "verify", str(replay), cwd=tmp_path)
    assert (verified.returncode, verified.stdout.count("\n")) == (0, 1)
    assert f"{replay}: true, thulla" in verified.stdout
    forged = tmp_path / "forged.jsonl"
    forged.write_text(replay.read_text().replace('"seats":3', '"seats":4', 1))
    both = croupier("replay", "verify", str(replay), str(forged), cwd=tmp_path)
    assert (both.returncode, both.stdout.count("\n")) == (1, 2)
    assert f"{forged}: line 1: the header needs one player for each seat" in both.stdout


def test_all_games_are_played_and_shown_in_short(tmp_path: Path) -> None:
    run = croupier("demo", "--game", "all", "--seed", SEED, "--replays", "kept", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    for game in GAMES.values():
        assert f"{game.name} ({game.id}), " in run.stdout
    assert (run.stdout.count("Score sheet"), run.stdout.count("Ranking")) == (len(GAMES), len(GAMES))
    assert "plays" not in run.stdout
    assert all(len(line) <= 80 for line in run.stdout.splitlines())
    assert run.stdout.splitlines()[-1].startswith(f"1 table of each of {len(GAMES)} games, ")
    replays = [replay.read_text() for replay in (tmp_path / "kept").glob("*.jsonl")]
    assert {json.loads(replay.partition("\n")[0])["game"] for replay in replays} == set(GAMES)


def test_all_records_agree(played: Played) -> None:
    assert played.disagreements == ()
    assert len(played.tables) == 2
    assert len(played.leaderboard) == 4
    assert all(table.acknowledged for table in played.tables)


def events(evidence: Evidence) -> list[Any]:
    lines = [json.loads(line) for line in evidence.replay.splitlines()[1:]]
    return [{key: value for key, value in line.items() if key != "at"} for line in lines]


async def test_the_same_seed_gives_the_same_tables(played: Played, tmp_path: Path) -> None:
    again = await play_plan(DemoPlan("thulla", 2, 2, {}, SEED), tmp_path)
    assert list(map(events, again.evidence)) == list(map(events, played.evidence))
    assert events(played.evidence[0]) != events(played.evidence[1])


def with_result(evidence: Evidence, change: Callable[[scoring_pb2.TableResult], object]) -> Evidence:
    result = scoring_pb2.TableResult()
    result.CopyFrom(evidence.results[0])
    change(result)
    return replace(evidence, results=(result,))


def with_sheet(evidence: Evidence, change: Callable[[scoring_pb2.GetScoreSheetResponse], object]) -> Evidence:
    sheet = scoring_pb2.GetScoreSheetResponse()
    sheet.CopyFrom(evidence.sheet)
    change(sheet)
    return replace(evidence, sheet=sheet)


def raise_total(line: scoring_pb2.SheetRound) -> None:
    line.totals[0] += 1


TAMPERED: dict[str, tuple[Callable[[Evidence], Evidence], str]] = {
    "a result is missing": (lambda it: replace(it, results=()), "lists the result 0 times"),
    "a result is there twice": (lambda it: replace(it, results=it.results * 2), "lists the result 2 times"),
    "the result has another ranking": (
        lambda it: with_result(it, lambda result: result.ranking.reverse()),
        "scoring's ranking is",
    ),
    "the result has other players": (
        lambda it: with_result(it, lambda result: result.seats.reverse()),
        "scoring's list of players is",
    ),
    "the sheet has another total": (
        lambda it: with_sheet(it, lambda sheet: raise_total(sheet.rounds[-1])),
        "the score sheet is",
    ),
    "the sheet has another headline": (
        lambda it: with_sheet(it, lambda sheet: setattr(sheet.rounds[0], "headline", "another")),
        "what the score sheet says of round 1 is",
    ),
    "the sheet has another detail": (
        lambda it: with_sheet(it, lambda sheet: sheet.rounds[0].details.update(reason="another")),
        "what the score sheet says of round 1 is",
    ),
    "the sheet has another note": (
        lambda it: with_sheet(it, lambda sheet: sheet.rounds[0].notes.reverse()),
        "what the score sheet says of round 1 is",
    ),
    "the sheet lacks a count": (
        lambda it: with_sheet(it, lambda sheet: sheet.rounds[0].counts.pop()),
        "what the score sheet says of round 1 is",
    ),
    "statistics count something else": (
        lambda it: replace(it, statistics=it.statistics[::-1]),
        "what is counted of seat 1 is",
    ),
    "the sheet lacks its rounds": (lambda it: with_sheet(it, lambda sheet: sheet.ClearField("rounds")), "score sheet"),
    "the replay lacks a line": (
        lambda it: replace(it, replay="".join(it.replay.splitlines(keepends=True)[:-2])),
        "the replay does not hold: line",
    ),
}


@pytest.mark.parametrize(("tamper", "said"), TAMPERED.values(), ids=TAMPERED.keys())
def test_records_that_do_not_agree_are_told(played: Played, tamper: Callable[[Evidence], Evidence], said: str) -> None:
    found = list(disagreements(played.tables[0], tamper(played.evidence[0])))
    assert any(said in fault for fault in found), found


CONTRADICTED: dict[str, tuple[Callable[[PlayedTable], PlayedTable], str]] = {
    "a stream tells another ranking": (
        lambda it: replace(it, rankings=(it.rankings[0], it.rankings[0][::-1])),
        "the ranking in the stream of seat 1 is",
    ),
    "all streams tell other totals": (
        lambda it: replace(it, totals=tuple(tuple(total + 1 for total in seen) for seen in it.totals)),
        "the replay's totals is",
    ),
    "an acknowledged action is not there": (
        lambda it: replace(it, acknowledged=(replace(it.acknowledged[0], sequence=9999),)),
        "entry 9999 of the replay is (None, None)",
    ),
    "an acknowledged action is another's": (
        lambda it: replace(it, acknowledged=(replace(it.acknowledged[0], sequence=it.acknowledged[1].sequence),)),
        "but what was acknowledged",
    ),
}


def test_time_that_was_given_back_is_no_entry_of_the_replay(played: Played) -> None:
    table = played.tables[0]
    at = sorted(one.sequence for one in table.acknowledged)[5]
    later = tuple(replace(one, sequence=one.sequence + (one.sequence >= at)) for one in table.acknowledged)
    shifted = replace(table, acknowledged=later, credits=(at,))
    assert list(disagreements(shifted, played.evidence[0])) == []
    assert list(disagreements(replace(shifted, credits=()), played.evidence[0]))


@pytest.mark.parametrize(("contradict", "said"), CONTRADICTED.values(), ids=CONTRADICTED.keys())
def test_players_who_saw_something_else_are_told(
    played: Played, contradict: Callable[[PlayedTable], PlayedTable], said: str
) -> None:
    found = list(disagreements(contradict(played.tables[0]), played.evidence[0]))
    assert any(said in fault for fault in found), found


def test_a_leaderboard_that_counts_wrong_is_told(played: Played) -> None:
    assert list(leaderboard_differences(played.leaderboard, played.tables)) == []
    assert len(list(leaderboard_differences(played.leaderboard[1:], played.tables))) == 1
    assert len(list(leaderboard_differences(played.leaderboard, played.tables[:1]))) == 2


@pytest.mark.parametrize("tables", [1, 20])
def test_all_chance_follows_from_the_seed(tables: int) -> None:
    plan = DemoPlan("thulla", 2, tables, {}, SEED)
    secrets = {plan.device_secret(table, seat) for table in range(1, tables + 1) for seat in range(2)}
    assert len(secrets) == 2 * tables
    assert plan.decisions(1, 0).random() == replace(plan).decisions(1, 0).random()
    assert plan.decisions(1, 0).random() != replace(plan, seed="another").decisions(1, 0).random()
    assert plan.device_secret(1, 0) != replace(plan, game="another").device_secret(1, 0)
    assert SEED not in repr(plan)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["demo", "--game", "poker"], f"choose one of {', '.join(GAMES)}"),
        (["demo", "--seats", "7"], "Thulla has 2 to 6 seats, not 7"),
        (["demo", "--game", "all", "--seats", "3"], "leave them out"),
        (["demo", "--game", "all", "-o", "best_of=3"], "leave them out"),
        (["demo", "-o", "best_of=2"], "1, 3, 5 is allowed"),
        (["replay", "verify", "missing.jsonl"], ""),
        (["play", "--server", "nowhere"], "write HOST:PORT"),
        (["play", "--server", "localhost:99999"], "write HOST:PORT"),
        (["games", "--rules"], "croupier games GAME --rules"),
        (["games", "poker", "--rules"], f"choose one of {', '.join(GAMES)}"),
        (["serve", "cashier"], "choose one of lobby, engine, scoring"),
    ],
)
def test_misuse_is_one_clear_line(arguments: list[str], said: str, tmp_path: Path) -> None:
    run = croupier(*arguments, cwd=tmp_path)
    assert run.returncode in (1, 2)
    assert "Traceback" not in run.stderr
    assert said in run.stderr
    assert (run.stderr + run.stdout).count("\n") == 1


async def test_nobody_waits_long_for_services_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "SIGN_IN_SECONDS", 0.3)
    with pytest.raises(CommandFault, match=r"no services answer at 127\.0\.0\.1:1"):
        async with signed_in_client(front_door("127.0.0.1:1"), "a device of this test", ""):
            pass
