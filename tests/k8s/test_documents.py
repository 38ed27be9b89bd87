"""Commands on pages for operators name existing objects."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.k8s.building import FOLDERS, ROOT, build, copied, rendered
from tests.k8s.objects import main_container, named, of_kind, pods_of
from tests.k8s.operation_policies import ALL_SERVICES, HANGING_SECONDS, seconds_until_killed

pytestmark = pytest.mark.cluster

PAGES = ("docs/kubernetes.md", "docs/runbook.md")
PLACEHOLDERS = {"SERVICE"}
KINDS = {"deployment": "Deployment", "service": "Service", "job": "Job", "hpa": "HorizontalPodAutoscaler"}

every_page = pytest.mark.parametrize("page", PAGES)


def text_of(page: str) -> str:
    """Return the text of a page of the documentation."""
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


@every_page
def test_a_command_names_existing_objects(page: str) -> None:
    there = {(one["kind"], one["metadata"]["name"]) for folder in FOLDERS for one in build(folder)}
    for command in commands(page):
        for kind, name in re.findall(r"\b(deployment|service|job|hpa)[/ ]([a-z][\w-]*|[A-Z]+)\b", command):
            if name not in PLACEHOLDERS and not name.startswith("migrate-") and "kubectl" in command:
                assert (KINDS[kind], name) in there, command


@every_page
def test_a_command_selects_existing_pods(page: str) -> None:
    every = [labels for folder in FOLDERS for _, labels, _ in pods_of(build(folder))]
    for command in commands(page):
        for label, value in re.findall(r'--selector "?([\w./-]+)=([\w-]+|\$1)', command):
            assert any(value in ("$1", labels[label]) for labels in every if label in labels), command


@every_page
def test_no_command_reads_the_log_of_one_pod_where_there_are_several(page: str) -> None:
    several = {one["spec"]["scaleTargetRef"]["name"] for one in of_kind(build("production"), "HorizontalPodAutoscaler")}
    for command in commands(page):
        assert not re.search(rf"logs deployment/({'|'.join(several)}|SERVICE)", command), command


def additions(page: str) -> list[dict[str, Any]]:
    """Return the additions of a page to the kustomization of an overlay, by block."""
    blocks = re.findall(r"^```\n((?:components|patches):\n.*?)^```", text_of(page), re.MULTILINE | re.DOTALL)
    return [yaml.safe_load(block) for block in blocks]


def test_an_overlay_with_all_additions_of_the_page_can_be_built(tmp_path: Path) -> None:
    file = copied(tmp_path)
    written = yaml.safe_load(file.read_text())
    for block in additions("docs/kubernetes.md"):
        for name, more in block.items():
            written[name] += more
    file.write_text(yaml.safe_dump(written))
    objects = rendered(file.parent)
    accounts = [
        one for one in of_kind(objects, "ServiceAccount") if one.get("imagePullSecrets") == [{"name": "registry"}]
    ]
    assert len(accounts) == len(of_kind(objects, "ServiceAccount"))
    assert {one["metadata"]["labels"].get("release") for one in of_kind(objects, "PodMonitor", "PrometheusRule")} == {
        "kube-prometheus-stack"
    }
    (traces,) = (one for one in of_kind(objects, "Service") if one["metadata"]["name"] == "traces")
    assert traces["spec"]["externalName"] == "tempo.monitoring.svc.cluster.local"


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
