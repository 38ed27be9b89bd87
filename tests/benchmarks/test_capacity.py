"""What is held while nobody acts, with few tables against services of its own."""

import json
from argparse import Namespace
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from random import Random
from typing import Any

import pytest
from google.protobuf.message import Message

from benchmarks import capacity
from benchmarks.capacity import MEBIBYTE, SEATS, Bench
from benchmarks.guests import Guest
from croupier_api.v1 import engine_pb2, table_pb2
from loadtest.backend import own_backend
from loadtest.measures import Measures


class Planned(Bench):
    """Services whose engine has so much memory, one reading after the other, and to which no table is added."""

    def __init__(self, given: Namespace, mebibytes: Sequence[int]) -> None:
        self.given = given
        self._readings = iter(mebibytes)

    async def open(self, *_: object) -> list[capacity.Opened]:
        return []

    async def memory(self) -> int:
        return next(self._readings) * MEBIBYTE


class Answering(Guest):
    """A guest who receives these answers, one after the other."""

    def __init__(self, *answers: Message) -> None:
        self._answers = iter(answers)

    async def invoke(self, call: object) -> Any:
        return next(self._answers)


@pytest.mark.parametrize(
    ("memory", "most", "seconds", "readings", "tables", "of_tables", "of_streams"),
    [
        (300, 90, 60, [100, 120, 200, 210, 300], 20, 20 + 10, 80 + 90),
        (301, 15, 60, [100, 120, 200, 210, 300], 15, 20 + 10, 80 + 90),
        (301, 90, 0, [100], 0, 0, 0),
        (100, 90, 60, [100], 0, 0, 0),
    ],
    ids=["memory is full", "enough tables", "time is over", "full before the first"],
)
async def test_waves_come_until_there_is_no_room_and_what_tables_and_streams_take_is_known_apart(
    memory: int, most: int, seconds: float, readings: list[int], tables: int, of_tables: int, of_streams: int
) -> None:
    given = Namespace(memory_mebibytes=memory, wave=10, most_tables=most, limit_seconds=seconds)
    figures = await capacity.idle(Planned(given, readings))
    assert (figures["tables"], figures["streams"]) == (tables, tables * SEATS)
    assert figures["limit_reached"] == (readings[-1] >= memory)
    assert figures["bytes_per_table"] * max(1, tables) == pytest.approx(of_tables * MEBIBYTE)
    assert figures["bytes_per_stream"] * max(1, tables * SEATS) == pytest.approx(of_streams * MEBIBYTE)


@pytest.mark.parametrize(("views", "is_different"), [((5, 5), False), ((6, 5), True), ((5, 4), True)])
async def test_a_view_that_differs_is_found_whether_at_first_or_in_memory(
    views: tuple[int, ...], is_different: bool
) -> None:
    answers = [engine_pb2.GetViewResponse(snapshot=engine_pb2.Snapshot(sequence=at)) for at in views]
    left = engine_pb2.Snapshot(sequence=5)
    assert bool(await capacity.look_again(Answering(*answers), left, Measures())) == is_different


@pytest.mark.parametrize(("accepted", "is_different"), [(6, False), (7, True)])
async def test_an_action_comes_next_after_what_was_left(accepted: int, is_different: bool) -> None:
    play = table_pb2.Action(draw=table_pb2.DrawAction())
    left = engine_pb2.Snapshot(sequence=5, legal_actions=table_pb2.LegalActions(actions=[play]))
    guest = Answering(engine_pb2.SubmitActionResponse(sequence=accepted))
    assert bool(await capacity.act(guest, left, Random(1), Measures())) == is_different


@pytest.mark.slow
def test_tables_fall_asleep_and_wake_as_they_were_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both parts on the same services, since to start some takes longest; of two equal flags the last one counts."""
    monkeypatch.setattr(capacity, "SETTLING_SECONDS", 0)
    flags = {"engine": (*capacity.IDLE_FLAGS, "--idle-seconds=1"), "lobby": capacity.LOBBY_FLAGS}
    few = ["--wave=2", "--most-tables=4", "--sleeping=6", "--woken=6", "--limit-seconds=600"]
    with own_backend(extra_flags=flags) as backend:
        monkeypatch.setattr(capacity, "own_backend", lambda extra_flags: nullcontext(backend))
        assert capacity.main([*few, "--parts", "asleep", "idle", f"--results={tmp_path}"]) == 0
    result = json.loads((tmp_path / "capacity.json").read_text())
    assert (result["idle"]["tables"], result["idle"]["streams"]) == (4, 16)
    assert result["idle"]["memory_bytes"] > 0
    assert (result["asleep"]["tables"], result["asleep"]["different"]) == (6, [])
    looked = {one["name"]: one["count"] for one in result["asleep"]["milliseconds"]}
    assert looked == {capacity.LOOK: 4, capacity.AGAIN: 4, capacity.ACT: 2}
