"""The benchmark of capacity, with few tables on new services."""

import json
from argparse import Namespace
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from random import Random
from typing import Any

import pytest
from google.protobuf.message import Message

from benchmarks import capacity, capacity_harness
from benchmarks.capacity import MEBIBYTE, SEATS
from benchmarks.capacity_harness import CapacityHarness, OpenTable
from benchmarks.clients import BenchmarkClient
from croupier_api.v1 import actions_pb2, engine_pb2
from croupier_loadtest.backend import started_backend
from croupier_loadtest.measures import Measures


class PlannedHarness(CapacityHarness):
    """A harness with these readings of memory, which opens no tables."""

    def __init__(self, options: Namespace, mebibytes: Sequence[int]) -> None:
        self.options, self.is_websocket = options, False
        self._readings = iter(mebibytes)

    async def open(self, *_: object) -> list[OpenTable]:
        return []

    async def memory(self) -> int:
        return next(self._readings) * MEBIBYTE


class FakeClient(BenchmarkClient):
    """A client that returns these answers in turn."""

    def __init__(self, *answers: Message) -> None:
        self._answers = iter(answers)

    async def invoke(self, rpc: object) -> Any:
        return next(self._answers)


@pytest.mark.parametrize(
    ("memory", "most", "seconds", "readings", "tables", "counted"),
    [
        (300, 90, 60, [100, 120, 200, 210, 300], 20, 10),
        (301, 15, 60, [100, 120, 200, 210, 300], 15, 5),
        (301, 90, 0, [100], 0, 0),
        (100, 90, 60, [100], 0, 0),
    ],
    ids=["memory is full", "enough tables", "time is over", "full before the first"],
)
async def test_waves_are_opened_until_a_limit_and_all_but_the_first_count_with_tables_and_streams_apart(
    memory: int, most: int, seconds: float, readings: list[int], tables: int, counted: int
) -> None:
    options = Namespace(memory_mebibytes=memory, wave=10, max_tables=most, limit_seconds=seconds)
    figures = await capacity.idle(PlannedHarness(options, readings))
    assert (figures["tables"], figures["streams"]) == (tables, tables * SEATS)
    assert figures["limit_reached"] == (readings[-1] >= memory)
    of_tables, of_streams = (10 * MEBIBYTE, 90 * MEBIBYTE) if counted else (0, 0)
    assert figures["bytes_per_table"] * counted == pytest.approx(of_tables)
    assert figures["bytes_per_stream"] * counted * SEATS == pytest.approx(of_streams)
    assert figures["bytes_per_table_with_streams"] * counted == pytest.approx(of_tables + of_streams)


@pytest.mark.parametrize(("views", "is_different"), [((5, 5), False), ((6, 5), True), ((5, 4), True)])
async def test_a_view_that_differs_from_the_log_or_in_memory_is_reported(
    views: tuple[int, ...], is_different: bool
) -> None:
    answers = [engine_pb2.GetViewResponse(snapshot=engine_pb2.Snapshot(sequence=at)) for at in views]
    snapshots = engine_pb2.Snapshot(sequence=5)
    assert bool(await capacity.compare_view(FakeClient(*answers), snapshots, Measures())) == is_different


@pytest.mark.parametrize(("accepted", "is_different"), [(6, False), (7, True)])
async def test_an_action_must_have_the_next_sequence(accepted: int, is_different: bool) -> None:
    play = actions_pb2.Action(draw=actions_pb2.DrawAction())
    snapshots = engine_pb2.Snapshot(sequence=5, legal_actions=actions_pb2.LegalActions(actions=[play]))
    client = FakeClient(engine_pb2.SubmitActionResponse(sequence=accepted))
    assert bool(await capacity.compare_action(client, snapshots, Random(1), Measures())) == is_different


@pytest.mark.slow
def test_tables_are_evicted_and_loaded_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run all parts on the same services, because starting them takes longest; the last of two equal flags counts."""
    monkeypatch.setattr(capacity_harness, "SETTLING_SECONDS", 0)
    flags = {"engine": (*capacity.IDLE_FLAGS, "--idle-seconds=1"), "lobby": capacity.LOBBY_FLAGS}
    few = ["--wave=2", "--max-tables=4", "--evicted=6", "--reloaded=6", "--limit-seconds=600"]
    with started_backend(extra_flags=flags) as backend:
        monkeypatch.setattr(capacity, "started_backend", lambda extra_flags: nullcontext(backend))
        assert capacity.main([*few, "--parts", "evicted", "idle", "idle-websocket", f"--results={tmp_path}"]) == 0
    result = json.loads((tmp_path / "capacity.json").read_text())
    for part in ("idle", "idle-websocket"):
        assert (result[part]["tables"], result[part]["streams"]) == (4, 16)
        assert result[part]["memory_bytes"] > 0
    assert result["services"]["engine"]["rss_bytes"] > result["services"]["engine"]["pss_bytes"] > 0
    assert (result["evicted"]["tables"], result["evicted"]["different"]) == (6, [])
    counts = {one["name"]: one["count"] for one in result["evicted"]["milliseconds"]}
    assert counts == {capacity.EVICTED_VIEW: 4, capacity.CACHED_VIEW: 4, capacity.EVICTED_ACTION: 2}
