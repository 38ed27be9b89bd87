"""What is held while nobody acts, with few tables against services of its own."""

import json
from argparse import Namespace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from google.protobuf.message import Message

from benchmarks import capacity
from benchmarks.capacity import MEBIBYTE, Guest, Waking, Wave, idle_figures, next_wave
from croupier_api.v1 import engine_pb2, table_pb2

WAVES = (
    Wave(10, 100 * MEBIBYTE, 120 * MEBIBYTE, 200 * MEBIBYTE),
    Wave(10, 200 * MEBIBYTE, 210 * MEBIBYTE, 300 * MEBIBYTE),
)


class Answering(Guest):
    """A guest who receives these answers, one after the other."""

    def __init__(self, *answers: Message) -> None:
        self._answers = iter(answers)

    async def invoke(self, call: object) -> Any:
        return next(self._answers)


def test_what_tables_and_streams_take_is_known_apart() -> None:
    figures = idle_figures(WAVES, 300 * MEBIBYTE, 12.0)
    assert (figures["tables"], figures["streams"], figures["limit_reached"]) == (20, 80, True)
    assert figures["bytes_per_table"] == 30 * MEBIBYTE / 20
    assert figures["bytes_per_stream"] == 170 * MEBIBYTE / 80


@pytest.mark.parametrize(
    ("memory", "most", "seconds", "tables"),
    [(301, 90, 0, 10), (301, 25, 0, 5), (301, 20, 0, 0), (300, 90, 0, 0), (301, 90, 60, 0)],
)
def test_waves_come_until_memory_is_full_or_time_is_over(memory: int, most: int, seconds: float, tables: int) -> None:
    given = Namespace(memory_mebibytes=memory, wave=10, most_tables=most, limit_seconds=60)
    assert next_wave(given, WAVES, seconds) == tables


@pytest.mark.parametrize(("views", "different"), [((5, 5), 0), ((6, 5), 1), ((5, 4), 1)])
async def test_a_view_that_differs_is_found_whether_at_first_or_in_memory(
    views: tuple[int, ...], different: int
) -> None:
    answers = [engine_pb2.GetViewResponse(snapshot=engine_pb2.Snapshot(sequence=at)) for at in views]
    waking = Waking()
    await capacity.look_again(Answering(*answers), engine_pb2.Snapshot(sequence=5), waking)
    assert len(waking.different) == different


@pytest.mark.parametrize(("accepted", "different"), [(6, 0), (7, 1)])
async def test_an_action_comes_next_after_what_was_left(accepted: int, different: int) -> None:
    play = table_pb2.Action(draw=table_pb2.DrawAction())
    left = engine_pb2.Snapshot(sequence=5, legal_actions=table_pb2.LegalActions(actions=[play]))
    waking = Waking()
    await capacity.act(Answering(engine_pb2.SubmitActionResponse(sequence=accepted)), left, Random(1), waking)
    assert len(waking.different) == different


@pytest.mark.slow
def test_tables_fall_asleep_and_wake_as_they_were_left(tmp_path: Path) -> None:
    few = ["--wave=20", "--most-tables=40", "--sleeping=60", "--woken=20", "--idle-seconds=1"]
    assert capacity.main([*few, "--limit-seconds=600", f"--results={tmp_path}"]) == 0
    result = json.loads((tmp_path / "capacity.json").read_text())
    assert (result["idle"]["tables"], result["idle"]["streams"]) == (40, 160)
    assert result["idle"]["bytes_per_stream"] > 0
    assert (result["asleep"]["tables"], result["asleep"]["different"]) == (60, [])
    assert result["asleep"]["woken"] > 0
