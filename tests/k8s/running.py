"""Commands that tests of manifests run."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.k8s.building import ROOT

SECONDS = 300


def run_to_end(
    *command: str, cwd: Path = ROOT, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with the programs of this Python's environment on the PATH."""
    given = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **(environment or {})}
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=given, cwd=cwd, check=False)


def run(*command: str, cwd: Path = ROOT, environment: Mapping[str, str] | None = None) -> str:
    """Return the output of a command, which must succeed."""
    done = run_to_end(*command, cwd=cwd, environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
