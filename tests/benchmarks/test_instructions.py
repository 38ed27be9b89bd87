"""Instructions of a move, as callgrind counts them, against the recorded figures."""

from pathlib import Path

import pytest
import structlog

from benchmarks import instructions
from benchmarks.in_process_moves import TABLES, play, settings_of
from benchmarks.in_process_streams import STREAMS
from benchmarks.instructions import (
    INSTALL,
    PROGRAM,
    RECORDED,
    RECORDED_BUILD,
    instructions_of_a_move,
    row,
    total,
)
from benchmarks.python_build import described, python_build
from croupier.runtime.database.schema_versions import migrate_database
from tests.programs import program

MAX_GROWTH = 1.05


@pytest.mark.slow
@pytest.mark.parametrize(("transport", "pace"), RECORDED)
async def test_a_move_takes_no_more_instructions_than_recorded(transport: str, pace: str) -> None:
    program(PROGRAM, install=INSTALL)
    if (build := python_build()) != RECORDED_BUILD:
        pytest.skip(f"the recorded instructions are of {RECORDED_BUILD}, and this is {build}")
    counted, recorded = await instructions_of_a_move(transport, pace), RECORDED[transport, pace]
    assert counted <= recorded * MAX_GROWTH, f"{counted:,.0f} instructions a move: {recorded:,} are recorded"


@pytest.mark.parametrize("transport", STREAMS)
async def test_all_moves_are_played_over_each_transport(transport: str, tmp_path: Path) -> None:
    database, counted = f"sqlite:///{tmp_path}/engine.db", list[bool]()
    await migrate_database(database, ["croupier.engine"])
    assert await play(settings_of(database), structlog.get_logger(), TABLES, transport, counted.append) == 0
    assert counted == [True, False]


async def test_without_valgrind_the_part_is_skipped_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    (only,) = await instructions.compare()
    assert (only.variant, only.figures) == ("skipped", "valgrind is not installed: apt-get install valgrind")


def test_only_the_recorded_build_of_python_has_a_ratio() -> None:
    variant = next(iter(RECORDED))
    recorded = RECORDED[variant]
    assert row(*variant, recorded * 1.5, RECORDED_BUILD).ratios == [1.5]
    assert row(*variant, recorded * 1.5, "CPython 3.12.1").ratios == []


def test_a_file_without_counted_instructions_is_refused() -> None:
    assert total("events: Ir\nsummary: 0\ntotals: 326985523\n") == 326_985_523
    with pytest.raises(ValueError, match="counted no instructions"):
        total("summary: 0\ntotals: 0\n")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("", "without --enable-optimizations, without --with-lto"),
        ("'--enable-shared' '--enable-optimizations'", "with --enable-optimizations, without --with-lto"),
        ("'--enable-optimizations' '--with-lto=full'", "with --enable-optimizations, with --with-lto"),
    ],
)
def test_the_build_of_python_is_described_by_its_configuration(arguments: str, text: str) -> None:
    assert described(arguments) == text
