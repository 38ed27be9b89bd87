"""Services accept the settings, keys and certificates of their containers, and Locust its command line."""

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from croupier.cli.faults import MISUSED
from croupier.cli.launcher.keys import make_missing
from tests.k8s.building import build, run_to_end
from tests.k8s.mounts import mounted
from tests.k8s.objects import SERVICES, container_of, main_container, named

pytestmark = [pytest.mark.cluster, pytest.mark.slow]


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("folder", ["laptop", "everything"])
def test_a_service_starts_up_to_its_database(folder: str, service: str, tmp_path: Path) -> None:
    made = tmp_path / "made"
    make_missing(made, 2, datetime.now(UTC))
    given = mounted(folder, service, service, made, tmp_path)
    # The program checks its tables last, before it opens a port.
    given["CROUPIER_DATABASE"] = f"sqlite:///{tmp_path / 'without-tables.db'}"
    command = container_of(build(folder), service, service)["args"]
    done = run_to_end(sys.executable, "-m", "croupier.cli", *command, environment=given)
    assert done.returncode == MISUSED, done.stderr
    assert f'are missing: run "croupier migrate --service {service} ' in done.stderr.splitlines()[-1], done.stderr


@pytest.mark.parametrize("job", ["load-master", "load-workers"])
def test_locust_accepts_its_command_line(job: str) -> None:
    container = main_container(named(build("everything"), "Job", job))
    given = named(build("everything"), "ConfigMap", "load-")["data"]
    command = [word.replace("/opt/croupier/", "") for word in container["command"]]
    arguments = [re.sub(r"\$\((\w+)\)", lambda name: given[name[1]], word) for word in container["args"]]
    done = run_to_end(*command, *arguments, "--list")
    assert done.returncode == 0, done.stderr
