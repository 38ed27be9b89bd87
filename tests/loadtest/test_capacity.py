"""What is held while nobody acts, with few tables against services of its own; and how it is told."""

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message

from croupier_api.v1 import engine_pb2, table_pb2
from croupier_client import CroupierError, LimitReached
from loadtest.backend import BackendMissing
from loadtest.capacity import asleep, idle
from loadtest.capacity.__main__ import main, measured
from loadtest.capacity.asleep import Left, Waking
from loadtest.capacity.crowd import Guest, Opened
from loadtest.capacity.idle import Streams
from loadtest.capacity.options import CapacityOptions, read_capacity_options
from loadtest.report.capacity import (
    AsleepCapacity,
    CapacityResult,
    IdleCapacity,
    Wave,
    capacity_json,
    capacity_text,
)
from loadtest.report.result import Latency
from loadtest.watch.scrape import Key, Scrape

MEBIBYTE = 2**20
IDLE = IdleCapacity(
    limit_bytes=300 * MEBIBYTE,
    seats=4,
    waves=(
        Wave(10, 40, 100 * MEBIBYTE, 120 * MEBIBYTE, 200 * MEBIBYTE),
        Wave(10, 40, 200 * MEBIBYTE, 210 * MEBIBYTE, 300 * MEBIBYTE),
    ),
    seconds=12.0,
    reached=True,
)
ASLEEP = AsleepCapacity(
    tables=1_000,
    opening_seconds=20.0,
    falling_asleep_seconds=10.0,
    memory_before_bytes=100 * MEBIBYTE,
    memory_most_bytes=150 * MEBIBYTE,
    memory_asleep_bytes=110 * MEBIBYTE,
    database_bytes=10 * MEBIBYTE,
    woken=50,
    waking_at_a_time=4,
    latencies=(Latency(asleep.LOOK, 50, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0),),
    different=(),
)
RESULT = CapacityResult("again", 7, 0, "Linux", 2, "1 engine on SQLite", IDLE, ASLEEP)


def test_what_tables_and_streams_take_is_told_apart() -> None:
    assert (IDLE.tables, IDLE.streams) == (20, 80)
    assert IDLE.bytes_per_table == 30 * MEBIBYTE / 20
    assert IDLE.bytes_per_stream == 170 * MEBIBYTE / 80


def test_the_summary_tells_all_parts() -> None:
    text = capacity_text(RESULT)
    assert "20 tables with 4 players each and 80 streams in 300.0 MiB" in text
    assert "1,000 tables, opened through the lobby in 20.0 s: 50 a second" in text
    assert "50 tables chosen by chance, 4 at a time, 50 of them as they had been left" in text
    assert "p99 6.0 ms" in text
    assert text.endswith("verdict     fine\n")


def test_the_json_has_what_follows_from_the_rest() -> None:
    body = json.loads(capacity_json(RESULT))
    assert body["passed"] is True
    assert body["idle"]["bytes_per_stream"] == IDLE.bytes_per_stream
    assert body["asleep"]["tables_per_second"] == 50
    assert json.loads(capacity_json(replace(RESULT, idle=None, asleep=None)))["idle"] is None


def test_a_table_that_was_not_as_it_was_left_makes_it_red() -> None:
    result = replace(RESULT, asleep=replace(ASLEEP, different=("table t1, left at sequence 4: view differs",)))
    assert not result.passed
    assert json.loads(capacity_json(result))["passed"] is False
    text = capacity_text(result)
    assert "different: table t1" in text
    assert text.endswith("verdict     1 tables were not as they had been left\n")


class Answering(Guest):
    """A guest whom the services give these answers, one after the other; an error is raised."""

    def __init__(self, *answers: Message | CroupierError) -> None:
        self._answers = iter(answers)

    async def invoke(self, call: object) -> Any:
        return self._next()

    async def follow_table(self, table_id: str) -> AsyncGenerator[engine_pb2.PlayResponse, None]:
        return self._brought()

    async def _brought(self) -> AsyncGenerator[Any, None]:
        yield self._next()
        await asyncio.Event().wait()

    def _next(self) -> Message:
        answer = next(self._answers)
        if isinstance(answer, CroupierError):
            raise answer
        return answer


def view(sequence: int, **more: Any) -> engine_pb2.GetViewResponse:
    """What GetView answers."""
    return engine_pb2.GetViewResponse(snapshot=engine_pb2.Snapshot(sequence=sequence, **more))


async def test_a_view_that_differs_is_found_whether_at_first_or_in_memory() -> None:
    left = engine_pb2.Snapshot(sequence=5)
    for views, found in (
        ((view(5), view(5)), []),
        (
            (view(6), view(5)),
            ["table t, left at sequence 5: sequence differ, and the sequence is 6"],
        ),
        (
            (view(5), view(4)),
            ["table t, left at sequence 5: sequence differ, and the sequence is 4"],
        ),
        ((view(5, revealed_seed="ab"),), ["table t, left at sequence 5: revealed_seed differ"]),
    ):
        waking = Waking()
        await asleep.look_again(Left("t", Answering(*views), left), waking)
        assert [one[: len(expected)] for one, expected in zip(waking.different, found, strict=True)] == found


@pytest.mark.parametrize(("accepted", "seen", "is_fine"), [(6, 6, True), (6, 8, True), (7, 7, False), (6, 5, False)])
async def test_an_action_comes_next_after_what_was_left(accepted: int, seen: int, is_fine: bool) -> None:
    play = table_pb2.Action(draw=table_pb2.DrawAction())
    left = engine_pb2.Snapshot(sequence=5, legal_actions=table_pb2.LegalActions(actions=[play]))
    guest, waking = Answering(engine_pb2.SubmitActionResponse(sequence=accepted), view(seen)), Waking()
    await asleep.act(Left("t", guest, left), Random(1), waking)
    assert bool(waking.different) is not is_fine
    assert waking.histograms[asleep.ACT].get_total_count() == 1


async def test_a_look_waits_until_all_wait_for_the_host() -> None:
    views = [view(1, viewer_seat=0, view=table_pb2.TableView(seats_to_act=to_act)) for to_act in ([1], [0, 1], [0])]
    left = await asleep.look(Opened("t", [Answering(*views)]))
    assert left.snapshot == views[-1].snapshot


@pytest.mark.parametrize(("known", "in_memory", "are"), [(9, 0, True), (9, 2, False), (8, 0, False)])
def test_tables_are_asleep_once_the_engine_knows_them_all_and_has_none(known: int, in_memory: int, are: bool) -> None:
    samples: dict[Key, float] = {("croupier_open_tables", ()): known, ("croupier_tables_in_memory", ()): in_memory}
    assert asleep.all_asleep(Scrape(0.0, samples), 9) is are


async def test_a_stream_that_is_refused_ends_it() -> None:
    refusal = LimitReached(grpc.StatusCode.RESOURCE_EXHAUSTED, "it has all the streams it can carry")
    async with Streams() as streams:
        await streams.open([Opened("t", [Answering(engine_pb2.PlayResponse())])])
        with pytest.raises(BackendMissing, match=r"stream number 2 .* all the streams it can carry"):
            await streams.open([Opened("t", [Answering(refusal)])])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--parts", "awake"], "--parts cannot be 'awake'"),
        (["--sleeping", "0"], "--sleeping is at least 1"),
        (["--memory-mebibytes", "0"], "--memory-mebibytes is at least 1"),
    ],
)
def test_a_wrong_command_line_ends_with_2_and_a_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        read_capacity_options(arguments)
    assert ended.value.code == 2
    line = capsys.readouterr().err
    assert line.startswith(f"loadtest.capacity: {said}")
    assert line.count("\n") == 1


def test_no_more_are_woken_than_sleep() -> None:
    assert read_capacity_options(["--sleeping", "30"]).woken == 30


def test_results_that_cannot_be_written_end_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["--results", str(tmp_path / "file")]) == 2
    assert "results cannot be written" in capsys.readouterr().err


def few(tmp_path: Path, *arguments: str) -> CapacityOptions:
    """Options for a short run."""
    return read_capacity_options([*arguments, "--limit-seconds=600", f"--results={tmp_path}"])


def test_tables_and_streams_are_opened_until_there_are_enough(tmp_path: Path) -> None:
    lines: list[str] = []
    result = measured(few(tmp_path, "--parts=idle", "--wave=30", "--most-tables=60"), lines.append)
    assert result.idle is not None
    assert (result.idle.tables, result.idle.streams) == (60, 240)
    assert not result.idle.reached
    assert len(lines) == 2
    assert result.idle.bytes_per_stream > 0


def test_waves_come_until_memory_is_full_or_time_is_over_or_there_are_enough_tables(tmp_path: Path) -> None:
    options = few(tmp_path, "--wave=10", "--most-tables=25", "--memory-mebibytes=301")
    assert idle.next_wave(options, [], 0) == 10
    assert idle.next_wave(options, IDLE.waves, 0) == 5
    assert idle.next_wave(options, (*IDLE.waves, replace(IDLE.waves[0], tables=5)), 0) == 0
    assert idle.next_wave(options, IDLE.waves, options.limit_seconds) == 0
    assert idle.next_wave(replace(options, memory_mebibytes=300), IDLE.waves, 0) == 0


def test_tables_fall_asleep_and_wake_as_they_were_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each party hosts more tables than a lobby allows that was not told otherwise.
    monkeypatch.setattr("loadtest.capacity.crowd.PARTIES_AT_A_TIME", 2)
    options = few(tmp_path, "--parts=asleep", "--sleeping=60", "--woken=20", "--idle-seconds=1")
    result = measured(options, lambda _: None)
    assert result.asleep is not None
    assert (result.asleep.tables, result.asleep.woken) == (60, 20)
    assert result.asleep.different == ()
    assert {one.name: one.count for one in result.asleep.latencies} == {
        asleep.LOOK: 13,
        asleep.AGAIN: 13,
        asleep.ACT: 7,
    }
    assert result.asleep.database_bytes > 0
    assert result.failures == ()
    assert result.passed


def test_an_engine_that_takes_no_more_tables_ends_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(idle, "FLAGS", {"engine": ("--most-open-tables=3",)})
    monkeypatch.setattr("loadtest.capacity.crowd.OPENING_SECONDS", 1.0)
    assert main(["--parts=idle", "--wave=8", "--most-tables=8", f"--results={tmp_path}"]) == 2
    assert "the engine takes no more" in capsys.readouterr().err
