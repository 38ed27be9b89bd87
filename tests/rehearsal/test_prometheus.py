"""What Prometheus is told: targets and labels as its operator makes them, rules with shorter times; what it tells."""

import json
from pathlib import Path

import pytest

from rehearsal.manifests import CannotRehearse
from rehearsal.plan import plan_of
from rehearsal.pods import Pod
from rehearsal.prometheus import (
    VARIABLE,
    Firing,
    find_prometheus,
    firings,
    rule_file,
    scrape_configurations,
    shortened,
    shortened_expression,
    targets,
)
from rehearsal.site import Site
from tests.k8s.building import build
from tests.k8s.programs import installed, run
from tests.rehearsal.small import engine, plan


@pytest.mark.parametrize(
    ("duration", "milliseconds"),
    [("5m", "10000ms"), ("1h", "120000ms"), ("15s", "1000ms"), ("500ms", "500ms"), ("2m", "4000ms")],
)
def test_times_are_shorter_but_not_below_a_second(duration: str, milliseconds: str) -> None:
    assert shortened(duration, 30) == milliseconds


def test_expressions_look_back_less_far_and_are_else_the_same() -> None:
    before = 'x:rate5m > 5 and rate(a{b="[5m]"}[10m]) < 86400 unless sum(c offset 15m)'
    # What stands in quotes would be shortened too: no rule has such a text.
    after = 'x:rate5m > 5 and rate(a{b="[10000ms]"}[20000ms]) < 86400 unless sum(c offset 30000ms)'
    assert shortened_expression(before, 30) == after


def test_a_duration_that_cannot_be_read_is_told() -> None:
    with pytest.raises(CannotRehearse, match="'1h30m' is no duration"):
        shortened("1h30m", 30)


def test_rules_keep_everything_but_their_times() -> None:
    rule = {"alert": "A", "expr": "up == 0", "for": "5m", "labels": {"severity": "page"}}
    record = {"record": "r", "expr": "rate(x[1m])"}
    found = rule_file([{"spec": {"groups": [{"name": "g", "rules": [rule, record]}]}}], 30)
    assert found == {
        "groups": [{"name": "g", "rules": [{**rule, "for": "10000ms"}, {"record": "r", "expr": "rate(x[2000ms])"}]}]
    }


def test_pods_are_asked_as_their_monitor_says(tmp_path: Path) -> None:
    (one,) = scrape_configurations(plan().monitors, tmp_path, 30)
    assert (one["scrape_interval"], one["metrics_path"]) == ("1000ms", "/metrics")
    assert one["relabel_configs"] == [
        {
            "source_labels": ["__meta_kubernetes_pod_label_app_kubernetes_io_name"],
            "target_label": "job",
            "replacement": "croupier-$1",
        }
    ]


def test_targets_are_the_pods_that_are_selected(tmp_path: Path) -> None:
    site = Site("127.9.9.7", tmp_path, "127.9.9.1:5353", Path("/opt/envoy"))
    secrets = {"postgres-app": {"uri": b"x"}}
    pod = Pod("engine-1", engine().pod, site, secrets, lambda: None)
    (one,) = targets(plan().monitors[0], 0, [pod])
    assert one["targets"] == ["127.9.9.7:7729"]
    assert one["labels"] == {
        "__meta_kubernetes_pod_label_app_kubernetes_io_name": "engine",
        "namespace": "croupier",
        "pod": "engine-1",
        "endpoint": "metrics",
    }
    (monitor,) = plan().monitors
    monitor["spec"]["selector"]["matchExpressions"][0]["values"] = ["door"]
    assert targets(monitor, 0, [pod]) == []


def test_alerts_are_told_with_their_times() -> None:
    series = [
        {"metric": {"alertname": "Down", "pod": "e-1"}, "values": [[t, "1"] for t in (3, 4, 5, 20, 21)]},
        {"metric": {"alertname": "Missing", "job": "door"}, "values": [[t, "1"] for t in (28, 29, 30)]},
    ]
    assert firings(series, 1, 30) == [
        Firing("Down", "e-1", 3, 5),
        Firing("Down", "e-1", 20, 21),
        Firing("Missing", "door", 28, None),
    ]


def test_a_program_that_is_named_and_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/nowhere/prometheus")
    with pytest.raises(CannotRehearse, match="names /nowhere/prometheus, which cannot be run"):
        find_prometheus()


def test_prometheus_takes_the_shortened_rules_of_production(tmp_path: Path) -> None:
    promtool = installed("promtool", "shortened rules are not looked at")
    file = tmp_path / "rules.json"
    file.write_text(json.dumps(rule_file(plan_of(build("production")).rules, 30)))
    run(promtool, "check", "rules", str(file))
