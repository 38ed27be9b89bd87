"""Alerts query exported metrics, fire when they should and only then, and link to the runbook."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from croupier.engine.settings import EngineSettings
from croupier.gateway.settings import GatewaySettings
from croupier.lobby.settings import LobbySettings
from k8s.dashboards.__main__ import DASHBOARDS
from tests.k8s.building import ROOT, run
from tests.k8s.exported import exported, faults
from tests.programs import program

RULES = yaml.safe_load((ROOT / "k8s" / "components" / "monitoring" / "rules.yaml").read_text())["spec"]
CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "alerts.yaml").read_text())
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()
PARTS = ("**Symptom.**", "**Meaning.**", "**Remedy.**")

ALL: list[dict[str, Any]] = [rule for group in RULES["groups"] for rule in group["rules"]]
ALERTS = {rule["alert"]: rule for rule in ALL if "alert" in rule}
LIMITS: dict[str, Any] = {
    f"{kind.__name__}.{name}": one.default
    for kind in (EngineSettings, LobbySettings, GatewaySettings)
    for name, one in kind.model_fields.items()
}
every_alert = pytest.mark.parametrize("alert", ALERTS)


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.get("alert") or rule["record"])
def test_a_rule_queries_exported_metrics_and_labels(rule: dict[str, Any]) -> None:
    assert list(faults(rule["expr"], exported())) == []


def test_rules_query_recorded_metrics_only() -> None:
    recorded = {rule["record"] for rule in ALL if "record" in rule}
    asked = {name for rule in ALL for name in re.findall(r"\b\w+:\w+:\w+\b", rule["expr"])}
    assert asked <= recorded


@every_alert
def test_an_alert_has_a_severity_and_a_runbook(alert: str) -> None:
    rule = ALERTS[alert]
    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert rule["annotations"]["summary"]
    assert rule["annotations"]["runbook_url"] == f"docs/runbook.md#{alert.lower()}"


@every_alert
def test_the_runbook_has_all_parts(alert: str) -> None:
    section = RUNBOOK.partition(f"\n## {alert}\n")[2].partition("\n## ")[0]
    assert [part for part in PARTS if part not in section] == []


def test_the_runbook_has_existing_alerts_only() -> None:
    assert set(re.findall(r"^## (Croupier\w+)$", RUNBOOK, re.MULTILINE)) == set(ALERTS)


@pytest.mark.parametrize(
    ("alert", "limit"),
    [
        ("CroupierStreamsNearLimit", "EngineSettings.max_streams"),
        ("CroupierStreamsNearLimit", "LobbySettings.max_streams"),
        ("CroupierTablesNearLimit", "EngineSettings.max_open_tables"),
        ("CroupierGatewayNearLimit", "GatewaySettings.max_connections"),
    ],
)
def test_alerts_for_limits_fire_at_eighty_percent_of_the_setting(alert: str, limit: str) -> None:
    assert f" > {LIMITS[limit] * 8 // 10} " in ALERTS[alert]["expr"] + " "


def test_every_alert_fires_in_a_case() -> None:
    assert {one["alert"] for case in CASES for one in case.get("fires", [])} == set(ALERTS)


def promtool_test(case: dict[str, Any]) -> dict[str, Any]:
    """Return a case of alerts.yaml for promtool; each alert also has to be quiet in the minute before it fires."""
    fires = case.get("fires", [])
    times = {
        (one["alert"], minute) for one in fires for first, end in [one["minutes"]] for minute in (first - 1, first, end)
    }
    times |= set(case.get("quiet", {}).items())
    times |= {(alert, case["all_quiet"]) for alert in ALERTS if "all_quiet" in case}
    return {
        "name": case["name"],
        "interval": "1m",
        "input_series": [
            {"series": series.replace("{", '{namespace="croupier", '), "values": values}
            for series, values in case["series"]
        ],
        "alert_rule_test": [
            {
                "eval_time": f"{minute}m",
                "alertname": alert,
                "exp_alerts": [
                    expected(one) for one in fires if one["alert"] == alert and minute in range(*one["minutes"])
                ],
            }
            for alert, minute in sorted(times)
        ],
    }


def expected(firing: dict[str, Any]) -> dict[str, Any]:
    """Return the labels and annotations of an alert."""
    rule = ALERTS[firing["alert"]]
    return {
        "exp_labels": {**firing["labels"], "severity": rule["labels"]["severity"]},
        "exp_annotations": {"summary": firing["summary"], "runbook_url": rule["annotations"]["runbook_url"]},
    }


@pytest.fixture
def promtool() -> str:
    """Return the program promtool of Prometheus."""
    return str(program("promtool", install="apt-get install prometheus, or .ci/tools FOLDER promtool"))


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Write the rules in the format of Prometheus."""
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(RULES))
    return tmp_path / "rules.yaml"


@pytest.mark.cluster
def test_prometheus_accepts_the_rules(promtool: str, rules: Path) -> None:
    assert f"{len(ALL)} rules found" in run(promtool, "check", "rules", str(rules), cwd=rules.parent)


@pytest.mark.cluster
def test_alerts_fire_when_they_should(promtool: str, rules: Path) -> None:
    tests = {
        "rule_files": [rules.name],
        "evaluation_interval": "1m",
        # Otherwise the order of groups is undefined, and recordings may be seen a minute later.
        "group_eval_order": [group["name"] for group in RULES["groups"]],
        "tests": [promtool_test(case) for case in CASES],
    }
    (rules.parent / "tests.yaml").write_text(yaml.safe_dump(tests))
    run(promtool, "test", "rules", "tests.yaml", cwd=rules.parent)


@pytest.mark.cluster
def test_prometheus_accepts_the_queries_of_panels(promtool: str, tmp_path: Path) -> None:
    asked = [query.expression for one in DASHBOARDS for panel in one.panels for query in panel.queries]
    plain = [one.replace("$__rate_interval", "1m").replace("$namespace", "croupier") for one in asked]
    records = [{"record": f"panel:{index}", "expr": one} for index, one in enumerate(plain)]
    (tmp_path / "panels.yaml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": records}]}))
    assert f"{len(asked)} rules found" in run(promtool, "check", "rules", "panels.yaml", cwd=tmp_path)
