"""Alerts and dashboards query exported metrics; alerts fire when they should and only then, and link to the runbook."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from croupier.engine.settings import EngineSettings
from croupier.gateway.settings import GatewaySettings
from croupier.lobby.settings import LobbySettings
from k8s.dashboards.__main__ import DASHBOARDS, FOLDER, files
from k8s.dashboards.board import Dashboard
from k8s.dashboards.overview import FAILED
from tests.k8s.building import ROOT, run
from tests.k8s.exported import exported, faults
from tests.programs import program

RULES = yaml.safe_load((ROOT / "k8s" / "components" / "monitoring" / "rules.yaml").read_text())["spec"]
CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "alerts.yaml").read_text())
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()
ALL: list[dict[str, Any]] = [rule for group in RULES["groups"] for rule in group["rules"]]
ALERTS = {rule["alert"]: rule for rule in ALL if "alert" in rule}
LIMITS: dict[str, Any] = {
    f"{kind.__name__}.{name}": one.default
    for kind in (EngineSettings, LobbySettings, GatewaySettings)
    for name, one in kind.model_fields.items()
}
QUERIES = [query for dashboard in DASHBOARDS for panel in dashboard.panels for query in panel.queries]
every_alert = pytest.mark.parametrize("alert", ALERTS)


def test_rules_and_panels_query_exported_metrics_and_labels_and_recorded_metrics() -> None:
    asked = [*(rule["expr"] for rule in ALL), *(query.expression for query in QUERIES)]
    assert [fault for one in asked for fault in faults(one, exported())] == []
    recorded = {rule["record"] for rule in ALL if "record" in rule}
    named = {name for rule in ALL for name in re.findall(r"\b\w+:\w+:\w+\b", rule["expr"])}
    assert named <= recorded


@every_alert
def test_an_alert_has_a_severity_and_a_section_of_the_runbook(alert: str) -> None:
    rule = ALERTS[alert]
    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert rule["annotations"]["summary"]
    assert rule["annotations"]["runbook_url"] == f"docs/runbook.md#{alert.lower()}"
    section = RUNBOOK.partition(f"\n## {alert}\n")[2].partition("\n## ")[0]
    assert [part for part in ("Symptom", "Meaning", "Remedy") if f"**{part}.**" not in section] == []


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


def test_the_files_are_up_to_date() -> None:
    assert {path.name: path.read_text() for path in FOLDER.glob("*.json")} == dict(files()), "run make dashboards"


@pytest.mark.parametrize(
    "expression",
    [
        'sum(croupier_stream{job="croupier-engine"})',
        'sum(croupier_streams{job="croupier-lobby"})',
        'rate(croupier_actions_accepted{job="croupier-engine"}[1m])',
        'sum(croupier_streams{job="croupier-engine", game="solo"})',
        'sum by (table) (croupier_streams{job="croupier-engine"})',
        'up{job="croupier-bank"}',
        "envoy_http_requests",
    ],
)
def test_an_unknown_metric_is_detected(expression: str) -> None:
    assert list(faults(expression, exported())) != []


def test_a_legend_names_labels_that_are_left() -> None:
    for query in QUERIES:
        for part in query.legend.split("{{")[1:]:
            assert part.partition("}}")[0] in query.expression, query.legend


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda one: one.uid)
def test_a_page_is_readable(dashboard: Dashboard) -> None:
    page: dict[str, Any] = json.loads(files()[f"{dashboard.uid}.json"])
    assert [number for number, times in Counter(panel["id"] for panel in page["panels"]).items() if times > 1] == []
    places = [panel["gridPos"] for panel in page["panels"]]
    covered = Counter(
        (x, y) for at in places for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])
    )
    assert max(covered.values()) == 1
    assert max(x for x, _ in covered) < 24
    assert all(panel.description and panel.queries for panel in dashboard.panels)


def test_dashboards_and_rules_have_the_same_failure_codes() -> None:
    assert any(f'code=~"{FAILED}"' in rule["expr"] for rule in ALL)


def test_every_metric_of_play_is_shown() -> None:
    asked = " ".join(query.expression for query in QUERIES)
    names = {name for series in exported().values() for name in series if name.startswith("croupier_")}
    # One series of a histogram is enough.
    wanted = {re.sub(r"_(bucket|sum|count)$", "", name) for name in names}
    assert sorted(name for name in wanted if name not in asked) == []


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
    plain = [one.expression.replace("$__rate_interval", "1m").replace("$namespace", "croupier") for one in QUERIES]
    records = [{"record": f"panel:{index}", "expr": one} for index, one in enumerate(plain)]
    (tmp_path / "panels.yaml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": records}]}))
    assert f"{len(QUERIES)} rules found" in run(promtool, "check", "rules", "panels.yaml", cwd=tmp_path)
