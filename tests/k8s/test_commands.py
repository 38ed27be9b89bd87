"""The commands of k8s/ make exactly the Secrets that pods name, and install a cluster in one command."""

import base64
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.client.fake_croupier import FakeCroupier
from tests.k8s.building import INSTALL_KUBECTL, ROOT, build, every_folder, run, run_to_end
from tests.k8s.objects import of_kind
from tests.k8s.volume_policies import SECRETS
from tests.programs import program

pytestmark = pytest.mark.cluster

BY_THE_OPERATOR = {"gateway-certificate", "postgres-ca"}
RECORDER = """#!/bin/sh
if [ "$1 $2" = "create secret" ]; then exec "$REAL_KUBECTL" "$@"; fi
echo "$@" >> "$CALLS"
case "$*" in
    *"$FAILS"*) exit 1 ;;
    *"--filename -"*) cat > /dev/null ;;
    *exec*) cat >> "$ASKED" ;;
    *"get pods --output"*) printf '%s' "$PODS" ;;
    *"get secret"*) exit 1 ;;
    *current-context*) echo "$HERE" ;;
esac
"""


@pytest.fixture
def kubectl() -> str:
    """Return the real program, which makes Secrets without a cluster."""
    return str(program("kubectl", install=INSTALL_KUBECTL))


def secrets(text: str) -> dict[str, dict[str, str]]:
    """Return the content of each Secret, by its name."""
    found: list[dict[str, Any]] = [one for one in yaml.safe_load_all(text) if one]
    assert all(one["kind"] == "Secret" and one["metadata"]["namespace"] == "croupier" for one in found)
    # The type cannot be changed later, and that of certificates is the type of cert-manager.
    assert [one.get("type") for one in found if one["metadata"]["name"].endswith("-tls")] in (
        [],
        ["kubernetes.io/tls"] * 4,
    )
    return {
        one["metadata"]["name"]: {key: base64.b64decode(value).decode() for key, value in one["data"].items()}
        for one in found
    }


@pytest.mark.usefixtures("kubectl")
def test_secrets_are_those_that_pods_name(tmp_path: Path) -> None:
    run(sys.executable, "-m", "croupier.cli", "keys", str(tmp_path / "keys"), "--certificates")
    made = secrets(run("k8s/secrets", str(tmp_path / "keys")))
    made |= secrets(run("k8s/secrets", "--postgres")) | secrets(run("k8s/secrets", "--roles"))
    assert {name: set(content) for name, content in made.items()} == {
        name: keys for name, keys in SECRETS.items() if name not in BY_THE_OPERATOR
    }
    assert made["engine-tls"]["tls.key"] == (tmp_path / "keys" / "tls" / "engine" / "tls.key").read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("kubectl")
def test_new_keys_leave_certificates_as_they_are(tmp_path: Path) -> None:
    made = []
    for options in (["--certificates"], []):
        for key in tmp_path.glob("*.pem"):
            key.unlink()
        run(sys.executable, "-m", "croupier.cli", "keys", str(tmp_path), *options)
        made.append(secrets(run("k8s/secrets", str(tmp_path))))
    first, second = made
    assert {name for name in first if first[name] != second[name]} == {
        "lobby-signing-key",
        "engine-signing-key",
        "public-keys",
    }


@pytest.mark.usefixtures("kubectl")
def test_a_password_is_new_each_time_and_is_part_of_the_url() -> None:
    first, second = (secrets(run("k8s/secrets", "--postgres"))["postgres-app"] for _ in range(2))
    assert first["password"] != second["password"]
    assert len(first["password"]) == 48
    assert first["uri"] == f"postgresql://croupier:{first['password']}@postgres:5432/croupier"
    roles = secrets(run("k8s/secrets", "--roles"))
    assert len({role["password"] for role in roles.values()}) == 3
    engine = roles["postgres-engine"]
    assert engine["uri"] == f"postgresql://engine:{engine['password']}@postgres-rw:5432/croupier"


@pytest.fixture
def cluster(kubectl: str, tmp_path: Path) -> dict[str, str]:
    """Return variables for k8s/laptop with a fake kubectl for a kind cluster, which records its calls."""
    recorder = tmp_path / "bin" / "kubectl"
    recorder.parent.mkdir()
    recorder.write_text(RECORDER)
    recorder.chmod(0o755)
    croupier = tmp_path / "bin" / "croupier"
    croupier.write_text(f'#!/bin/sh\nexec {sys.executable} -m croupier.cli "$@"\n')
    croupier.chmod(0o755)
    return {
        "PATH": f"{recorder.parent}:{os.environ['PATH']}",
        "CALLS": str(tmp_path / "calls"),
        "REAL_KUBECTL": kubectl,
        "KEYS": str(tmp_path / "keys"),
        "HERE": "kind-kind",
        "CONTEXT": "",
        "FAILS": "nothing",
        "ASKED": str(tmp_path / "asked"),
        "PODS": "",
        "TIMEOUT": "1",
    }


def test_a_cluster_in_one_command_whose_last_check_asks_for_its_games(cluster: dict[str, str], tmp_path: Path) -> None:
    printed = run("k8s/laptop", environment=cluster)
    asked = (tmp_path / "calls").read_text().splitlines()[1:]
    assert asked[0] == "apply --filename k8s/base/namespace.yaml"
    assert asked[1] == "--namespace croupier apply --server-side --filename -"
    # The same version may have a new image: its Job is run again.
    applied = asked.index("apply --kustomize k8s/overlays/laptop")
    assert asked[applied - 1].endswith("delete job --selector app.kubernetes.io/name=migrate --ignore-not-found")
    assert [line for line in asked if "rollout status" in line][-1].endswith("deployment/gateway --timeout=5s")
    assert asked[-1].endswith("exec --stdin deployment/gateway --container drain -- python -")
    assert "while sleep 1; do kubectl --namespace croupier port-forward service/gateway 7700; done" in printed
    assert (tmp_path / "keys" / "lobby.private.pem").exists()
    with FakeCroupier() as services:
        program = (tmp_path / "asked").read_text().replace("127.0.0.1:7700", services.address)
        assert run(sys.executable, "-c", program) == "ready: laying\n"
    assert services.calls == ["SignIn", "ListGames"]


def test_an_unknown_cluster_is_not_changed(cluster: dict[str, str], tmp_path: Path) -> None:
    refused = run_to_end("k8s/laptop", environment={**cluster, "HERE": "play.example"})
    assert refused.returncode == 2
    assert "kubectl's context is play.example" in refused.stderr
    assert (tmp_path / "calls").read_text().splitlines() == ["config current-context"]
    run("k8s/laptop", environment={**cluster, "HERE": "play.example", "CONTEXT": "play.example"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"FAILS": "deployment/engine"}, "engine is not ready: kubectl --namespace croupier describe pod"),
        ({"FAILS": "deployment/gateway --container drain"}, "the lobby does not reach the engine"),
        (
            {
                "FAILS": "rollout",
                "TIMEOUT": "2000000000",  # More seconds than any test waits.
                "PODS": "ErrImagePull localhost/croupier:0.1.0\n docker.io/envoy:1\nImagePullBackOff postgres:17\n",
            },
            "the cluster has no image localhost/croupier:0.1.0, postgres:17, and cannot pull it",
        ),
    ],
    ids=["a service", "names", "images"],
)
def test_a_cluster_that_does_not_start_is_reported(
    cluster: dict[str, str], changes: dict[str, str], message: str, tmp_path: Path
) -> None:
    failed = run_to_end("k8s/laptop", environment={**cluster, **changes})
    assert failed.returncode == 1
    assert message in failed.stderr
    assert failed.stdout.count("port-forward") == 0
    assert (tmp_path / "calls").read_text().splitlines()[-1] == "--namespace croupier get pods"


@every_folder
def test_the_namespace_that_is_applied_first_is_the_one_of_the_overlay(folder: str) -> None:
    alone = yaml.safe_load((ROOT / "k8s" / "base" / "namespace.yaml").read_text())
    assert of_kind(build(folder), "Namespace") == [alone]
