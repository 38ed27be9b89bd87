"""Short fault runs with real processes: the judge finds nothing, unless the services have a defect."""

import asyncio
import json
import os
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from croupier.cli.launcher import gateway
from croupier_loadtest.judge.violations import Invariant
from tests.programs import missing

ROOT = Path(__file__).parents[2]
DEADLINE_SECONDS = 900.0
"""For busy machines."""


async def fault_run(
    result: Path, *flags: str, module: Sequence[str] = ("croupier_loadtest.faults",), folder: Path | None = None
) -> tuple[int, Any]:
    """Return a short fault run of a random seed, which is printed; returns its exit code and its result.

    A run that finds something keeps its logs and data in the folder, or in a temporary one.
    """
    seed = secrets.randbelow(1_000_000)
    command = ("-m", *module, "--short", *flags, f"--seed={seed}", f"--result={result}")
    print("python", *command)
    environment = {**os.environ, **({"TMPDIR": str(folder)} if folder else {})}
    process = await asyncio.create_subprocess_exec(sys.executable, *command, cwd=ROOT, env=environment)
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            code = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return code, json.loads(await asyncio.to_thread(result.read_text))


def names(result: Any, *, gateway: bool) -> list[str]:
    return [fault["name"] for fault in result["faults"] if fault["gateway"] is gateway]


@pytest.mark.postgres
async def test_the_kill_of_an_engine_under_load_loses_nothing(tmp_path: Path) -> None:
    flags = ("--on=postgres", "--scenario=engine_killed", "--tables=3", "--think=0.3")
    code, result = await fault_run(tmp_path / "result.json", *flags)
    assert (code, result["problems"]) == (0, [])
    assert names(result, gateway=False) == ["engine_killed"]
    assert result["acknowledged_moves"] > 20


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.gateway
async def test_a_short_run_has_no_violations(tmp_path: Path) -> None:
    if not gateway.is_installed():
        missing(gateway.MISSING)
    code, result = await fault_run(tmp_path / "result.json")
    assert (code, result["problems"]) == (0, [])
    assert len(names(result, gateway=False)) == 8
    assert names(result, gateway=True) == ["engine_killed", "rolling_restart", "gateway_restarted"]
    assert result["acknowledged_moves"] > 500
    assert result["verified_tables"] > 0


@pytest.mark.slow
async def test_an_acknowledgement_before_the_commit_is_found(tmp_path: Path) -> None:
    flags, broken = ("--on=sqlite", "--scenario=engine_killed", "--tables=8"), "tests.faults.early_acknowledgement"
    code, result = await fault_run(tmp_path / "result.json", *flags, module=(broken, "run"), folder=tmp_path)
    assert code == 1
    assert result["violations"][Invariant.ACKNOWLEDGED_LOST] > 0
