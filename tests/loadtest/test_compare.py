"""The comparison of two load tests: figures, the better one, and the exit code for a worse one."""

import json
import os
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from croupier.cli.faults import MISUSED, CommandFault
from croupier_loadtest import compare as comparison
from croupier_loadtest.compare import CPU, P99, Figure, better, compare, main, read_result
from croupier_loadtest.report.result import FORMAT_VERSION, Failure, Result, ViolationSummary, to_json
from tests.loadtest.report.sample import CONDITIONS, EMPTY, HOSTILE, LATENCIES, PASSED, hostile


def written(folder: Path, result: Result) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "result.json").write_text(to_json(result), encoding="utf-8")
    return folder


def compared(tmp_path: Path, one: Result, other: Result, fail_above: float | None = None) -> tuple[int, str]:
    """Return exit code and output, with lines of any width and single blanks."""
    console = Console(file=StringIO(), width=100, record=True)
    code = compare(written(tmp_path / "a", one), written(tmp_path / "b", other), fail_above, console)
    return code, "\n".join(" ".join(line.split()) for line in console.export_text().splitlines())


def slower(by: float) -> Result:
    return replace(PASSED, latencies=(replace(LATENCIES[0], p99=LATENCIES[0].p99 * by), *LATENCIES[1:]))


def hungrier(milliseconds: float) -> Result:
    return replace(PASSED, server_cpu_milliseconds_per_thousand_actions=milliseconds)


VIOLATED = replace(
    PASSED,
    violations=(ViolationSummary("view_differs", 2, "t", 3, "d"), ViolationSummary("replay_differs", 1, "t", 0, "d")),
)


OTHER_FIGURES = replace(
    slower(1.5),
    actions_per_second=411.52,
    tables_finished=1_000,
    violations=VIOLATED.violations,
    failures=(Failure("rpc OpenTable", 3, "x"),),
)
OTHER_CONDITIONS = replace(
    CONDITIONS, scenario="rush", seed=8, machine="a larger one", versions={**CONDITIONS.versions, "grpcio": "1.81.0"}
)


@pytest.mark.parametrize(
    ("other", "lines"),
    [
        (
            OTHER_FIGURES,
            [
                "Both were measured under the same conditions.",
                "figure A B difference better",
                "seconds of load 600 600 +0.0 % –",
                "tables finished 1,102 1,000 -9.3 % A",
                "actions a second 205.8 411.5 +100.0 % B",
                "action acknowledged p50, ms 3.1 3.1 +0.0 % same",
                "action acknowledged p99, ms 41 61.5 +50.0 % A",
                "action acknowledged p99.9, ms 92 92 +0.0 % same",
                "rpc OpenTable p99, ms 60 60 +0.0 % same",
                "CPU per thousand actions, ms 3,260 3,260 +0.0 % same",
                "memory of services, MiB 376 376 +0.0 % same",
                "violations 0 3 from none A",
                "calls that failed 4 3 -25.0 % B",
            ],
        ),
        (
            replace(PASSED, conditions=OTHER_CONDITIONS),
            [
                "The conditions differ, so what differs below may come from them:",
                "scenario: A evening, B rush",
                "seed: A 7, B 8",
                f"machine: A {CONDITIONS.machine}, B a larger one",
                "version of grpcio: A 1.80.0, B 1.81.0",
            ],
        ),
    ],
    ids=["figures", "conditions"],
)
def test_figures_and_differing_conditions_are_shown_side_by_side(
    tmp_path: Path, other: Result, lines: list[str]
) -> None:
    code, shown = compared(tmp_path, PASSED, other)
    assert code == 0
    assert set(lines) <= set(shown.splitlines())
    assert "version of locust" not in shown


def test_figures_of_one_run_only_are_shown_in_place(tmp_path: Path) -> None:
    one, other = (replace(PASSED, latencies=latencies) for latencies in (LATENCIES[::2], LATENCIES[:3]))
    lines = compared(tmp_path, one, other)[1]
    shown = [line.partition(" p50")[0] for line in lines.splitlines() if "p50" in line]
    assert shown == ["action acknowledged", "action seen by all", "rpc SubmitAction", "thulla play"]
    assert "action seen by all p50, ms – 4 – –" in lines


REMOTE = replace(PASSED, server_cpu_milliseconds_per_thousand_actions=0.0, services=())
NOT_WORSE = "B is not worse by more than 10 percent"


@pytest.mark.parametrize(
    ("one", "other", "percent", "expected", "message"),
    [
        (PASSED, slower(1.11), 10, 1, f"{P99}: worse by 11.0 percent, 10 are allowed"),
        (PASSED, slower(1.01), 0, 0, "B is not worse by more than 0 percent"),
        (PASSED, hungrier(4_890.0), 10, 1, f"{CPU}: worse by 50.0 percent"),
        (PASSED, VIOLATED, 1_000, 1, "violations: 0 before, 3 now"),
        (PASSED, replace(PASSED, latencies=LATENCIES[1:]), 10, 1, f"{P99}: not measured in both"),
        (PASSED, hungrier(0.0), 10, 1, f"{CPU}: not measured in both"),
        (PASSED, replace(PASSED, latencies=(replace(LATENCIES[0], count=0),)), 10, 1, "not measured in both"),
        (EMPTY, EMPTY, 10, 1, "not measured in both"),
        (PASSED, PASSED, 10, 0, NOT_WORSE),
        (PASSED, slower(1.09), 10, 0, NOT_WORSE),
        (PASSED, slower(0.2), 10, 0, NOT_WORSE),
        (PASSED, replace(PASSED, tables_finished=1), 10, 0, NOT_WORSE),
        # Processors that neither run could see.
        (REMOTE, REMOTE, 10, 0, NOT_WORSE),
    ],
)
def test_a_figure_that_is_worse_by_more_than_allowed_fails(
    tmp_path: Path, one: Result, other: Result, percent: float, expected: int, message: str
) -> None:
    code, shown = compared(tmp_path, one, other, percent)
    assert code == expected
    assert message in shown.splitlines()[-1]
    assert compared(tmp_path, one, other)[0] == 0


@pytest.mark.parametrize(
    ("name", "before", "after", "expected"),
    [
        (P99, Figure(100.0), Figure(101.9), "same"),
        (P99, Figure(100.0), Figure(103.0), "A"),
        (P99, Figure(100.0), Figure(97.0), "B"),
        ("actions a second", Figure(100.0), Figure(97.0), "A"),
        ("violations", Figure(1_000.0), Figure(1_001.0), "A"),
        ("violations", Figure(1.0), Figure(0.0), "B"),
        ("violations", Figure(0.0), Figure(0.0), "same"),
        (P99, None, Figure(1.0), "–"),
        ("seconds of load", Figure(60.0), Figure(600.0), "–"),
        # A difference counts only if it is more than chance.
        (P99, Figure(100.0, 9), Figure(300.0, 10_000), "too few samples"),
        (P99, Figure(100.0, 9), Figure(100.0, 9), "same"),
        (P99, Figure(100.0, 800), Figure(109.0, 800), "same"),
        (P99, Figure(100.0, 800), Figure(111.0, 800), "A"),
        (P99, Figure(100.0, 800), Figure(89.0, 800), "B"),
        (P99, Figure(100.0, 20_000), Figure(101.9, 20_000), "same"),
        (P99, Figure(100.0, 200), Figure(111.0, 20_000), "same"),
    ],
)
def test_the_better_of_two_figures(name: str, before: Figure | None, after: Figure | None, expected: str) -> None:
    assert better(name, before, after) == expected


def test_texts_of_a_file_cannot_control_the_terminal(tmp_path: Path) -> None:
    _, shown = compared(tmp_path, PASSED, hostile(), 1)
    assert all(letter.isprintable() or letter == "\n" for letter in shown)
    assert "'[red]" in shown
    assert HOSTILE not in shown


NO_RESULT = "is not a result of a load test"


def body(**changes: Any) -> str:
    return json.dumps({**json.loads(to_json(PASSED)), **changes})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, NO_RESULT) for text in ("", "[" * 100_000, "[]", "{}", "\xff\x00", body(conditions="fine"))),
        (body(latencies=[{"name": P99}]), NO_RESULT),
        (body(services=None), NO_RESULT),
        (body(format=FORMAT_VERSION + 1), f"is a result of another format: this version reads format {FORMAT_VERSION}"),
    ],
)
def test_a_file_that_is_not_a_result_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "some.json"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(CommandFault, match=message) as refusal:
        read_result(file)
    assert refusal.value.exit_code == MISUSED
    assert str(file) in refusal.value.message


def test_a_file_that_is_too_large_or_not_regular_is_refused_without_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path / "a", PASSED)
    monkeypatch.setattr(comparison, "MAX_BYTES", (folder / "result.json").stat().st_size)
    read_result(folder)
    monkeypatch.setattr(comparison, "MAX_BYTES", (folder / "result.json").stat().st_size - 2)
    with pytest.raises(CommandFault, match=NO_RESULT):
        read_result(folder)
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "nothing", tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(CommandFault, match="is no file: name a"):
            read_result(path)


@pytest.mark.parametrize("percent", [-1.0, float("nan"), float("inf")])
def test_an_invalid_percentage_is_refused(tmp_path: Path, percent: float) -> None:
    with pytest.raises(CommandFault, match="--fail-above is a percentage of 0 or more") as refusal:
        compared(tmp_path, PASSED, PASSED, percent)
    assert refusal.value.exit_code == MISUSED


@pytest.mark.parametrize(
    ("arguments", "code"), [(("b/result.json",), 0), (("b", "--fail-above", "10"), 1), (("none",), MISUSED)]
)
def test_the_command_exits_with_0_1_and_2(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    code: int,
) -> None:
    written(tmp_path / "a", PASSED)
    written(tmp_path / "b", VIOLATED)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["compare", "a", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
    assert ("compare: none is no file: name a result.json" in capsys.readouterr().err) == (code == MISUSED)
