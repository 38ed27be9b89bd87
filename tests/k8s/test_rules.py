"""Alerts ask for what there is, fire when they should and only then, and lead to a page that helps."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from croupier.door.settings import DoorSettings
from croupier.engine.settings import EngineSettings
from croupier.lobby.settings import LobbySettings
from croupier.runtime.settings import known_settings
from k8s.dashboards.catalogue import DASHBOARDS
from tests.k8s.building import ROOT
from tests.k8s.exported import exported
from tests.k8s.expressions import faults
from tests.k8s.running import run
from tests.programs import program

RULES = yaml.safe_load((ROOT / "k8s" / "components" / "monitoring" / "rules.yaml").read_text())["spec"]
TESTS = Path(__file__).parent / "alerts.yaml"
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()
PARTS = ("**Symptom.**", "**Meaning.**", "**What to do.**")

ALL: list[dict[str, Any]] = [rule for group in RULES["groups"] for rule in group["rules"]]
ALERTS = {rule["alert"]: rule for rule in ALL if "alert" in rule}
LIMITS: dict[str, Any] = {
    f"{kind.__name__}.{name}": one.default
    for kind in (EngineSettings, LobbySettings, DoorSettings)
    for name, one in known_settings(kind).items()
}
every_alert = pytest.mark.parametrize("alert", ALERTS)


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.get("alert") or rule["record"])
def test_a_rule_asks_for_metrics_and_labels_that_there_are(rule: dict[str, Any]) -> None:
    assert list(faults(rule["expr"], exported())) == []


def test_what_is_recorded_is_what_is_asked_for() -> None:
    recorded = {rule["record"] for rule in ALL if "record" in rule}
    asked = {name for rule in ALL for name in re.findall(r"\b\w+:\w+:\w+\b", rule["expr"])}
    assert asked <= recorded


@every_alert
def test_an_alert_says_how_urgent_it_is_and_where_help_is(alert: str) -> None:
    rule = ALERTS[alert]
    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert rule["annotations"]["summary"]
    assert rule["annotations"]["runbook_url"] == f"docs/runbook.md#{alert.lower()}"


@every_alert
def test_the_runbook_says_what_to_do(alert: str) -> None:
    section = RUNBOOK.partition(f"\n## {alert}\n")[2].partition("\n## ")[0]
    assert [part for part in PARTS if part not in section] == []


def test_the_runbook_knows_no_alert_that_is_not_there() -> None:
    assert set(re.findall(r"^## (Croupier\w+)$", RUNBOOK, re.MULTILINE)) == set(ALERTS)


@pytest.mark.parametrize(
    ("alert", "limit"),
    [
        ("CroupierStreamsNearLimit", "EngineSettings.most_streams"),
        ("CroupierStreamsNearLimit", "LobbySettings.streams_limit"),
        ("CroupierTablesNearLimit", "EngineSettings.most_open_tables"),
        ("CroupierDoorNearLimit", "DoorSettings.connections_limit"),
    ],
)
def test_near_a_limit_is_eight_tenths_of_the_setting(alert: str, limit: str) -> None:
    assert f"> {LIMITS[limit] * 8 // 10}" in ALERTS[alert]["expr"].replace("\n", " ") + " "


def minutes(duration: str) -> int:
    """A duration of whole minutes, as rules and their tests write it."""
    return {"m": 1, "h": 60}[duration[-1]] * int(duration[:-1])


@every_alert
def test_an_alert_is_let_fire_no_sooner_than_it_should_and_let_clear(alert: str) -> None:
    evenings = [
        [
            (minutes(case["eval_time"]), bool(case.get("exp_alerts")))
            for case in test["alert_rule_test"]
            if case["alertname"] == alert
        ]
        for test in yaml.safe_load(TESTS.read_text())["tests"]
    ]
    fired = [sorted(cases) for cases in evenings if any(fires for _, fires in cases)]
    assert fired, "no case lets it fire"
    for cases in fired:
        first = [fires for _, fires in cases].index(True)
        assert cases[first - 1] == (cases[first][0] - 1, False), "it is not seen to be quiet in the minute before"
        assert not cases[-1][1], "no case lets it clear"


@pytest.fixture
def promtool() -> str:
    """Prometheus' own tool."""
    return str(program("promtool", install="apt-get install prometheus, or .ci/tools FOLDER promtool"))


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """The rules as Prometheus reads them, those of alerts.yaml beside them."""
    (tmp_path / "alerts.yaml").write_text(TESTS.read_text())
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(RULES))
    return tmp_path / "rules.yaml"


@pytest.mark.cluster
def test_prometheus_takes_the_rules(promtool: str, rules: Path) -> None:
    assert f"{len(ALL)} rules found" in run(promtool, "check", "rules", str(rules), cwd=rules.parent)


@pytest.mark.cluster
def test_alerts_fire_when_they_should(promtool: str, rules: Path) -> None:
    run(promtool, "test", "rules", "alerts.yaml", cwd=rules.parent)


@pytest.mark.cluster
def test_prometheus_understands_what_panels_ask(promtool: str, tmp_path: Path) -> None:
    asked = [query.expression for one in DASHBOARDS for panel in one.panels for query in panel.queries]
    plain = [one.replace("$__rate_interval", "1m").replace("$namespace", "croupier") for one in asked]
    records = [{"record": f"panel:{index}", "expr": one} for index, one in enumerate(plain)]
    (tmp_path / "panels.yaml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": records}]}))
    assert f"{len(asked)} rules found" in run(promtool, "check", "rules", "panels.yaml", cwd=tmp_path)
