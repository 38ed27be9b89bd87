"""What a real API server makes of the manifests: it takes them without a warning, twice, and again as the next version.

Needs etcd and kube-apiserver on the PATH, as `setup-envtest use` brings them; skipped elsewhere.
"""

import copy
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from rehearsal.manifests import Object
from tests.k8s.building import FOLDERS, ROOT, build
from tests.k8s.control_plane import PROGRAMS, control_plane, definition
from tests.k8s.objects import main_container, named, of_kind
from tests.k8s.shapes import SHAPES

MISSING = [program for program in PROGRAMS if shutil.which(program) is None]
SECONDS = 60
DOTS = "a DNS label is recommended: [must not contain dots]"
"""What kubectl is told of a Job that is called by its version: nobody goes by the hostname of its pod."""

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"no {', '.join(MISSING)} here: no API server sees the manifests")


@dataclass(frozen=True)
class Cluster:
    """An API server, and the words that begin every kubectl command to it."""

    kubectl: Sequence[str]

    def ended(self, *words: str, given: Sequence[Object] = ()) -> subprocess.CompletedProcess[str]:
        """A kubectl command that was run to its end, with objects as its standard input."""
        command, text = [*self.kubectl, *words], yaml.safe_dump_all(given)
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=SECONDS, check=False)

    def apply(self, *words: str, given: Sequence[Object] = ()) -> list[str]:
        """What became of each object; a warning is a fault."""
        done = self.ended("apply", *words, given=given)
        assert (done.returncode, [line for line in done.stderr.splitlines() if DOTS not in line]) == (0, [])
        return done.stdout.splitlines()


@pytest.fixture(scope="module", params=FOLDERS)
def folder(request: pytest.FixtureRequest) -> str:
    """One of the folders, whose objects are the only ones of a control plane."""
    return str(request.param)


@pytest.fixture(scope="module")
def cluster(folder: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A control plane that knows the kinds of the operators, with one folder applied."""
    with control_plane(tmp_path_factory.mktemp(folder)) as kubectl:
        cluster = Cluster(kubectl)
        kinds = [definition(one) for one in of_kind(build("everything"), *SHAPES)]
        cluster.apply("--filename", "-", given=kinds)
        cluster.ended("wait", "--for=condition=Established", "customresourcedefinition", "--all")
        made = cluster.apply("--kustomize", str(FOLDERS[folder]))
        assert len(made) == len(build(folder))
        yield cluster


def test_what_is_applied_again_stays_as_it_is(cluster: Cluster, folder: str) -> None:
    cluster.apply("--kustomize", str(FOLDERS[folder]))
    shown = cluster.ended("diff", "--kustomize", str(FOLDERS[folder]))
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, "", "")


def test_a_pod_that_could_do_more_is_seen(cluster: Cluster, folder: str) -> None:
    engine = copy.deepcopy(named(build(folder), "Deployment", "engine"))
    del main_container(engine)["securityContext"]["capabilities"]
    taken = cluster.ended("apply", "--dry-run=server", "--filename", "-", given=[engine])
    assert 'would violate PodSecurity "restricted' in taken.stderr


def test_the_next_version_migrates_again_and_replaces_the_services(
    cluster: Cluster, folder: str, tmp_path: Path
) -> None:
    for part in ("k8s", "tests/k8s/everything"):
        shutil.copytree(ROOT / part, tmp_path / part)
    for file in tmp_path.rglob("kustomization.yaml"):
        file.write_text(file.read_text().replace("newTag: 0.1.0", "newTag: 0.2.0"))
    cluster.ended("--namespace=croupier", "delete", "job", "load-master", "load-workers")
    became = cluster.apply("--kustomize", str(tmp_path / FOLDERS[folder].relative_to(ROOT)))
    assert "job.batch/migrate-0.2.0 created" in became
    services = {f"deployment.apps/{name} configured" for name in ("door", "lobby", "engine", "scoring")}
    assert services <= set(became)
