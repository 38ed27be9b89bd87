"""Programs that run services import little themselves: each process that multiprocessing spawns imports it again."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
CHECK = (
    "import sys, importlib; importlib.import_module(sys.argv[1]); assert not {'grpc', 'sqlalchemy'} & {*sys.modules}"
)


@pytest.mark.parametrize("module", [PROJECT["scripts"]["croupier"].partition(":")[0], "croupier.cli.launcher.child"])
def test_programs_that_run_services_import_little(module: str) -> None:
    assert subprocess.run([sys.executable, "-c", CHECK, module], check=False, timeout=60).returncode == 0
