"""Overlays as operators write them can be built, and commands on pages for operators name existing objects."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from tests.k8s.building import FOLDERS, ROOT, BuildError, build, copied, rendered
from tests.k8s.objects import main_container, named, of_kind, pods_of
from tests.k8s.operation_policies import ALL_SERVICES, HANGING_SECONDS, seconds_until_killed, the_version_is_one

pytestmark = pytest.mark.cluster

PAGES = ("docs/kubernetes.md", "docs/runbook.md")
DIGEST = f"sha256:{'24a0c4b4' * 8}"
KINDS = {"deployment": "Deployment", "service": "Service", "job": "Job", "hpa": "HorizontalPodAutoscaler"}


def text_of(page: str) -> str:
    return (ROOT / page).read_text()


def commands(page: str) -> Iterator[str]:
    """Yield every command, in blocks and within sentences."""
    text = text_of(page)
    for block in re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield from block.splitlines()
    yield from re.findall(r"`([^`\n]+)`", text)


def test_the_page_has_the_time_until_a_process_that_hangs_is_killed() -> None:
    times = {seconds_until_killed(named(build("production"), "Deployment", name)) for name in ALL_SERVICES}
    assert times == {HANGING_SECONDS}
    assert f"ends at most {HANGING_SECONDS} seconds later" in " ".join(text_of("docs/kubernetes.md").split())


@pytest.mark.parametrize("page", PAGES)
def test_a_command_names_existing_objects_and_reads_no_log_of_one_pod_of_several(page: str) -> None:
    there = {(one["kind"], one["metadata"]["name"]) for folder in FOLDERS for one in build(folder)}
    every = [labels for folder in FOLDERS for _, labels, _ in pods_of(build(folder))]
    several = {one["spec"]["scaleTargetRef"]["name"] for one in of_kind(build("production"), "HorizontalPodAutoscaler")}
    for command in commands(page):
        for kind, name in re.findall(r"\b(deployment|service|job|hpa)[/ ]([a-z][\w-]*|[A-Z]+)\b", command):
            if name != "SERVICE" and not name.startswith("migrate-") and "kubectl" in command:
                assert (KINDS[kind], name) in there, command
        for label, value in re.findall(r'--selector "?([\w./-]+)=([\w-]+|\$1)', command):
            assert any(value in ("$1", labels[label]) for labels in every if label in labels), command
        assert not re.search(rf"logs deployment/({'|'.join(several)}|SERVICE)", command), command


def test_an_overlay_with_all_additions_of_the_page_can_be_built(tmp_path: Path) -> None:
    file = copied(tmp_path)
    written = yaml.safe_load(file.read_text())
    text = text_of("docs/kubernetes.md")
    for block in re.findall(r"^```\n((?:components|patches):\n.*?)^```", text, re.MULTILINE | re.DOTALL):
        for name, more in yaml.safe_load(block).items():
            written[name] += more
    file.write_text(yaml.safe_dump(written))
    objects = rendered(file.parent)
    assert all(one["imagePullSecrets"] == [{"name": "registry"}] for one in of_kind(objects, "ServiceAccount"))
    assert {one["metadata"]["labels"].get("release") for one in of_kind(objects, "PodMonitor", "PrometheusRule")} == {
        "kube-prometheus-stack"
    }
    assert named(objects, "Service", "traces")["spec"]["externalName"] == "tempo.monitoring.svc.cluster.local"


def test_the_overlay_of_a_load_test_can_be_built_and_has_nothing_else(tmp_path: Path) -> None:
    file = copied(tmp_path, "load")
    file.parent.mkdir()
    text = text_of("docs/kubernetes.md")
    (written,) = re.findall(r"^```\n(apiVersion: kustomize.*?)^```", text, re.MULTILINE | re.DOTALL)
    (for_small_clusters,) = re.findall(r"^```\n(  - target: .*?)^```", text, re.MULTILINE | re.DOTALL)
    file.write_text(written + for_small_clusters)
    objects = rendered(file.parent)
    assert named(objects, "ConfigMap", "load-")["data"]["GATEWAY"] == "https://gateway:443"
    assert main_container(named(objects, "Job", "load-workers"))["resources"]["requests"]["cpu"] == "250m"
    # Otherwise each upgrade would begin a run, or fail to change the last one.
    for folder_of_services in ("laptop", "production"):
        assert not [one for one in of_kind(build(folder_of_services), "Job") if one["metadata"]["name"][:5] == "load-"]


@pytest.mark.parametrize("page", [*PAGES, "k8s/secrets", "k8s/laptop"])
def test_no_command_leaves_a_copy_of_a_key_in_an_annotation(page: str) -> None:
    for line in text_of(page).splitlines():
        assert not re.search(r"(k8s/secrets|create secret) .*\| kube(ctl)? apply (?!--server-side)", line), line


def overlay(folder: Path, image: Mapping[str, str]) -> Path:
    """Return a copy of the production overlay with another image."""
    file = copied(folder)
    written = yaml.safe_load(file.read_text())
    written["images"][0] = {"name": "croupier", **image}
    file.write_text(yaml.safe_dump(written))
    return file.parent


@pytest.mark.parametrize(
    ("name", "digest", "called"),
    [
        ("ghcr.io/cards/croupier", {}, "ghcr.io/cards/croupier:0.2.0"),
        ("localhost:5000/croupier", {}, "localhost:5000/croupier:0.2.0"),
        ("ghcr.io/cards/croupier", {"digest": DIGEST}, f"ghcr.io/cards/croupier:0.2.0@{DIGEST}"),
    ],
    ids=["tag", "port", "digest"],
)
def test_the_version_is_the_tag(name: str, digest: dict[str, str], called: str, tmp_path: Path) -> None:
    objects = rendered(overlay(tmp_path, {"newName": name, "newTag": "0.2.0", **digest}))
    assert main_container(named(objects, "Job", "migrate-0.2.0"))["image"] == called
    assert list(the_version_is_one.check(objects)) == []


@pytest.mark.parametrize(
    "image", [{"newName": "ghcr.io/cards/croupier", "digest": DIGEST}, {"newName": "cards", "newTag": "0.2.0"}], ids=str
)
def test_an_image_without_a_version_is_refused(image: Mapping[str, str], tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="index 1 is out of bounds"):
        rendered(overlay(tmp_path, image))
