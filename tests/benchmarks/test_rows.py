"""The table of `make bench`, and the pure functions that make its rows."""

from collections import Counter

import pytest

from benchmarks.engine import BARE, WEB, Variant, full_speed_rows, human_pace_rows
from benchmarks.measurement import (
    EVENT_LOOP,
    OTHER_THREADS,
    SERVER,
    TRANSPORT,
    Measurement,
    Row,
    Usage,
    format_table,
    kind_of_thread,
    merged,
    voluntary_switches,
)
from benchmarks.own_tables import BASELINE, OWN, Found
from benchmarks.own_tables import rows as rows_of_streams
from benchmarks.rules import extent
from benchmarks.scale import SECONDS
from benchmarks.scale import row as row_of_writers


def measurement(moves: int, cpu_seconds: float, latency: float = 0.01, seconds: float = 2.0) -> Measurement:
    used = Usage(cpu_seconds, Counter({EVENT_LOOP: cpu_seconds / 2, TRANSPORT: cpu_seconds / 2}), 3 * moves)
    return Measurement([latency] * moves, seconds, {SERVER: used})


def test_columns_are_aligned_and_a_baseline_has_no_ratio() -> None:
    rows = [Row("engine", "bare", "90 moves/s"), Row("pace", "SQLite", "9 µs", [0.504, 0.25, 1.0], "CPU to bare")]
    assert format_table(rows).splitlines() == [
        "part    variant  figures     ratio (min to max)",
        "engine  bare     90 moves/s",
        "pace    SQLite   9 µs        0.50 (0.25 to 1.00) CPU to bare",
    ]


def test_rounds_are_merged_by_their_moves() -> None:
    total = merged([measurement(100, 1.0, latency=0.01), measurement(300, 2.0, latency=0.03, seconds=6.0)])
    assert (total.moves_per_second, total.p50_milliseconds) == (50.0, 30.0)
    assert total.cpu_microseconds(SERVER) == pytest.approx(7500)
    assert total.thread_microseconds(SERVER, TRANSPORT) == pytest.approx(3750)
    assert (total.switches(SERVER), total.core_percent(SERVER)) == (3.0, 37.5)


def test_usage_is_the_difference_of_two_readings() -> None:
    before = Usage(1.0, Counter({EVENT_LOOP: 1.0}), 10)
    after = Usage(3.5, Counter({EVENT_LOOP: 2.0, TRANSPORT: 0.5}), 14)
    assert after.since(before) == Usage(2.5, Counter({EVENT_LOOP: 1.0, TRANSPORT: 0.5}), 4)


@pytest.mark.parametrize(
    ("name", "is_main", "kind"),
    [
        ("python", True, EVENT_LOOP),
        ("python3.11", False, OTHER_THREADS),
        ("event_engine", False, TRANSPORT),
        ("grpc_global_tim", False, TRANSPORT),
    ],
)
def test_threads_are_known_by_their_names(name: str, is_main: bool, kind: str) -> None:
    assert kind_of_thread(name, is_main=is_main) == kind


def test_voluntary_switches_are_not_the_involuntary_ones() -> None:
    assert voluntary_switches("Name:\tpython\nnonvoluntary_ctxt_switches:\t7\nvoluntary_ctxt_switches:\t42\n") == 42


def test_an_engine_is_compared_with_the_bare_server_in_each_round() -> None:
    engine, bare = [measurement(100, 1.0, 0.02), measurement(300, 1.0, 0.02)], [measurement(200, 0.5)] * 2
    sqlite, baseline = Variant("SQLite", "grpc.aio"), Variant(BARE, "grpc.aio")
    measured = {sqlite: engine, baseline: bare, Variant(BARE, WEB): engine}
    assert [row.ratios for row in full_speed_rows(sqlite, measured)] == [[0.5, 1.5], [4.0, pytest.approx(4 / 3)]]
    latencies, cpu, threads, switches = [row.ratios for row in human_pace_rows(sqlite, measured)]
    assert (latencies, cpu, threads, switches) == ([2.0] * 2, [4.0, pytest.approx(4 / 3)], (), [1.0] * 2)
    assert not any(row.ratios for row in (*full_speed_rows(baseline, measured), *human_pace_rows(baseline, measured)))


def test_web_sockets_are_compared_with_bare_servers_of_all_transports() -> None:
    names = [(BARE, "grpc.aio"), ("SQLite", "grpc.aio"), ("SQLite", WEB), (BARE, WEB)]
    measured = {Variant(*name): [measurement(100, 1.0)] for name in names}
    rows = full_speed_rows(Variant("SQLite", WEB), measured)
    assert [row.ratio_name for row in rows] == [
        *(f"moves/s to bare {transport}" for transport in ("grpc.aio", WEB)),
        *(f"CPU to bare {transport}" for transport in ("grpc.aio", WEB)),
    ]
    assert [bool(row.figures) for row in rows] == [True, False, True, False]
    bare = full_speed_rows(Variant(BARE, WEB), measured)
    assert [row.ratio_name for row in bare] == ["moves/s to bare grpc.aio", "CPU to bare grpc.aio"]


def test_writers_are_compared_with_one_writer_of_the_same_commit_delay() -> None:
    found = {(3, 1): [[0.004] * 100], (3, 4): [[0.004] * 350], (0, 1): [[0.001] * 900]}
    row = row_of_writers((3, 4), found)
    assert row.ratios == [3.5]
    assert f"{350 / SECONDS:.0f} commits/s, p50  4.00 ms" in row.figures
    assert not row_of_writers((3, 1), found).ratios


@pytest.mark.parametrize(("numbers", "text"), [([4], "4"), ([2, 3, 8], "2 to 8"), ([1200.4, 800.0], "800 to 1,200")])
def test_an_extent_is_the_lowest_and_the_highest_number(numbers: list[float], text: str) -> None:
    assert extent(numbers) == text


def test_streams_of_own_tables_are_compared_with_those_of_one_table() -> None:
    mebibyte = 1024**2
    base = Found(100 * mebibyte, 200 * mebibyte, 0.1, 0.2, 1000.0, [0.01] * 100, 100)
    own = Found(100 * mebibyte, 250 * mebibyte, 0.2, 0.5, 1000.0, [0.01, *[0.02] * 99], 100)
    shown = {(row.part, row.variant): row for row in rows_of_streams({BASELINE: base, OWN: own}, 10 * 1024)}
    assert [row.ratios for (_, variant), row in shown.items() if variant == BASELINE] == [[], [], []]
    assert [shown[part, OWN].ratios for part in ("memory", "idle", "delivery")] == [[1.5], [2.0], [2.5]]
    assert "10.0 KiB a stream" in shown["memory", BASELINE].figures
    assert "p50 20, p99 20 ms" in shown["delivery", OWN].figures
