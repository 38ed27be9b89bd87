"""The short form of the fault tests: a handful of faults under real processes, and the audit finds nothing."""

import asyncio
import json
import secrets
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEADLINE_SECONDS = 900.0
"""For machines that do much else; beside other tests it takes three minutes and more."""
LEAST_MOVES = 1_000


async def test_nothing_is_lost_doubled_or_shown_in_a_short_run(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    command = ("-m", "loadtest.faults", "--short", f"--seed={secrets.randbelow(1_000_000)}", f"--result={result}")
    print("python", *command)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, cwd=ROOT, stdout=pipe, stderr=asyncio.subprocess.STDOUT
    )
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, output.decode()
    found = json.loads(result.read_text())
    assert (found["lost"], found["doubled"], found["hidden_cards_shown"]) == (0, 0, 0)
    assert found["acknowledged_moves"] > LEAST_MOVES
    at_door = [fault["name"] for fault in found["faults"] if fault["through_door"]]
    assert at_door == ["engine_killed", "rolling_restart", "door_restarted"]
    assert len(found["faults"]) >= 5 + len(at_door)
