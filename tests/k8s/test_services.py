"""The services accept the settings, keys and certificates of their containers."""

import shutil
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from croupier.cli.faults import MISUSED
from croupier.cli.keys import keys
from tests.k8s.building import build
from tests.k8s.container_policies import SECRETS, secrets_of
from tests.k8s.objects import SERVICES, container_of, environment, named
from tests.k8s.running import ended

pytestmark = [pytest.mark.cluster, pytest.mark.slow]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `croupier keys --certificates` makes."""
    folder = tmp_path_factory.mktemp("keys")
    keys(folder, 2, datetime.now(UTC), lambda _: None)
    return folder


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("folder", ["laptop", "everything"])
def test_a_service_starts_up_to_its_database(folder: str, service: str, made: Path, tmp_path: Path) -> None:
    owner, container = named(build(folder), "Deployment", service), container_of(build(folder), service, service)
    places = {}
    for mount in container["volumeMounts"]:
        place = places[mount["mountPath"]] = tmp_path / mount["name"]
        place.mkdir()
        for secret in secrets_of(owner, mount["name"]):
            for key in SECRETS[secret]:
                shutil.copy((made / "tls" / service if secret.endswith("-tls") else made) / key, place / key)
    given = {name: _here(value, places) for name, value in environment(container).items()}
    # The program checks its tables before it opens a port, and after everything else.
    given["CROUPIER_DATABASE"] = f"sqlite:///{tmp_path / 'without-tables.db'}"
    done = ended(sys.executable, "-m", "croupier.cli", *container["args"], environment=given)
    assert done.returncode == MISUSED, done.stderr
    assert f'are missing: run "croupier migrate --service {service} ' in done.stderr.splitlines()[-1], done.stderr


def _here(value: str, places: Mapping[str, Path]) -> str:
    """A path below a mount as one of this machine."""
    folder, _, name = value.rpartition("/")
    return str(places[folder] / name) if folder in places else value
