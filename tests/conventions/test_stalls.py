"""What looks for tests that fail by chance does hold up what it runs, also below it, and tells how that ended."""

import subprocess
import sys

import pytest

from tests.stalls import main

SECONDS = 60.0
UNTIL_HELD_UP = """
import sys, time
before, end = time.monotonic(), time.monotonic() + 60
while (now := time.monotonic()) - before < 0.09 and now < end:
    before = now
    time.sleep(0.01)
sys.exit(7 if now < end else 1)
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")


@pytest.mark.parametrize("above", [(), ("sh", "-c", '"$@"; exit $?', "sh")], ids=["itself", "below it"])
def test_a_command_stands_still_now_and_then(above: tuple[str, ...]) -> None:
    assert main([*above, sys.executable, "-c", UNTIL_HELD_UP]) == 7


def test_an_exit_code_is_that_of_the_command() -> None:
    command = (sys.executable, "-m", "tests.stalls", sys.executable, "-c", "raise SystemExit(3)")
    assert subprocess.run(command, check=False, timeout=SECONDS).returncode == 3
