"""The commands of k8s/: secrets that are exactly those that pods name, and a cluster in one command."""

import base64
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.k8s.building import ROOT
from tests.k8s.setting_policies import SECRETS

BY_THE_OPERATOR = {"door-certificate"}
SECONDS = 60
RECORDER = """#!/bin/sh
if [ "$1 $2" = "create secret" ]; then exec "$REAL_KUBECTL" "$@"; fi
echo "$@" >> "$CALLS"
case "$*" in *"--filename -"*) cat > /dev/null ;; *"get secret"*) exit 1 ;; esac
"""


@pytest.fixture
def kubectl() -> str:
    """The real program, which makes Secrets without a cluster."""
    found = shutil.which("kubectl")
    if found is None:
        pytest.skip("kubectl is not here: no Secrets are made")
    return found


def run(*command: str, environment: dict[str, str] | None = None) -> str:
    """What a command prints; it has to succeed."""
    given = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **(environment or {})}
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=given, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def secrets(text: str) -> dict[str, dict[str, str]]:
    """What is in each Secret, by its name."""
    found: list[dict[str, Any]] = [one for one in yaml.safe_load_all(text) if one]
    assert all(one["kind"] == "Secret" and one["metadata"]["namespace"] == "croupier" for one in found)
    return {
        one["metadata"]["name"]: {key: base64.b64decode(value).decode() for key, value in one["data"].items()}
        for one in found
    }


@pytest.mark.usefixtures("kubectl")
def test_secrets_are_those_that_pods_name(tmp_path: Path) -> None:
    run(sys.executable, "-m", "croupier.cli", "keys", str(tmp_path / "keys"), "--certificates")
    made = secrets(run("k8s/secrets", str(tmp_path / "keys")))
    made |= secrets(run("k8s/secrets", "--postgres"))
    assert {name: set(content) for name, content in made.items()} == {
        name: keys for name, keys in SECRETS.items() if name not in BY_THE_OPERATOR
    }
    assert made["engine-tls"]["tls.key"] == (tmp_path / "keys" / "tls" / "engine" / "tls.key").read_text()


@pytest.mark.usefixtures("kubectl")
def test_a_password_is_new_each_time_and_stands_in_the_url() -> None:
    first, second = (secrets(run("k8s/secrets", "--postgres"))["postgres-app"] for _ in range(2))
    assert first["password"] != second["password"]
    assert len(first["password"]) == 48
    assert first["uri"] == f"postgresql://croupier:{first['password']}@postgres:5432/croupier"


def test_a_cluster_in_one_command(kubectl: str, tmp_path: Path) -> None:
    recorder = tmp_path / "bin" / "kubectl"
    recorder.parent.mkdir()
    recorder.write_text(RECORDER)
    recorder.chmod(0o755)
    croupier = tmp_path / "bin" / "croupier"
    croupier.write_text(f'#!/bin/sh\nexec {sys.executable} -m croupier.cli "$@"\n')
    croupier.chmod(0o755)
    calls = tmp_path / "calls"
    given = {
        "PATH": f"{recorder.parent}:{os.environ['PATH']}",
        "CALLS": str(calls),
        "REAL_KUBECTL": kubectl,
        "KEYS": str(tmp_path / "keys"),
    }
    run("k8s/laptop", environment=given)
    asked = calls.read_text().splitlines()
    assert asked[0] == "apply --filename k8s/base/namespace.yaml"
    assert asked[1] == "--namespace croupier apply --filename -"
    assert "apply --kustomize k8s/overlays/laptop" in asked
    assert [line for line in asked if "rollout status" in line][-1].endswith("deployment/door --timeout=10m")
    assert (tmp_path / "keys" / "lobby.private.pem").exists()
