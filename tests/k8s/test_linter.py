"""Checkov, the linter of manifests, finds nothing in any overlay, and finds faults that a test adds."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.k8s.building import FOLDERS, ROOT, build, run_to_end, write
from tests.k8s.objects import MAIN, POD, Break, named
from tests.programs import program

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

BREAKS: Mapping[str, Break] = {
    "CKV_K8S_8": Break("Deployment", "engine", f"{MAIN}/livenessProbe"),
    "CKV_K8S_9": Break("Deployment", "engine", f"{MAIN}/readinessProbe"),
    "CKV_K8S_10": Break("Deployment", "engine", f"{MAIN}/resources/requests/cpu"),
    "CKV_K8S_13": Break("Deployment", "engine", f"{MAIN}/resources/limits/memory"),
    "CKV_K8S_14": Break("Deployment", "engine", f"{MAIN}/image", "registry.example.org/croupier:latest"),
    "CKV_K8S_19": Break("Deployment", "engine", f"{POD}/hostNetwork", True),
    "CKV_K8S_20": Break("Deployment", "engine", f"{MAIN}/securityContext/allowPrivilegeEscalation", True),
    "CKV_K8S_22": Break("Job", "load-workers", f"{MAIN}/securityContext/readOnlyRootFilesystem"),
    "CKV_K8S_23": Break("Deployment", "engine", f"{POD}/securityContext", {"runAsNonRoot": False}),
    "CKV_K8S_31": Break("Job", "migrate-", f"{POD}/securityContext/seccompProfile"),
    "CKV_K8S_37": Break("Deployment", "gateway", f"{POD}/initContainers/0/securityContext/capabilities"),
    "CKV_K8S_38": Break("Deployment", "engine", f"{POD}/automountServiceAccountToken"),
    "CKV_K8S_40": Break("Deployment", "engine", f"{POD}/securityContext/runAsUser", 0),
}
"""A break that each of these checks has to find."""


def checked(folder: Path) -> tuple[int, list[dict[str, Any]]]:
    """Return the number of passed checks of a folder, and the findings."""
    checkov = program(str(ROOT / "build/checkov/bin/checkov"), install="make checkov")
    done = run_to_end(str(checkov), "--config-file=k8s/checkov.yaml", f"--directory={folder}", "--output=json")
    report = json.loads(done.stdout)
    assert report["summary"]["parsing_errors"] == 0, done.stderr
    return report["summary"]["passed"], report["results"]["failed_checks"]


def test_the_linter_finds_nothing(tmp_path: Path) -> None:
    for folder in FOLDERS:
        write(build(folder), tmp_path / f"{folder}.yaml")
    passed, findings = checked(tmp_path)
    assert [(one["check_id"], one["check_name"], one["file_path"], one["resource"]) for one in findings] == []
    assert passed > 1000


def test_the_linter_finds_each_break(tmp_path: Path) -> None:
    objects = build("everything")
    for check, broken in BREAKS.items():
        write([named(broken.of(objects), broken.kind, broken.name)], tmp_path / f"{check}.yaml")
    _, findings = checked(tmp_path)
    assert {(f"/{check}.yaml", check) for check in BREAKS} <= {(one["file_path"], one["check_id"]) for one in findings}
