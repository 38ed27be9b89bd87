"""Dashboards query exported metrics only, and their files are up to date."""

import json
import re
from collections import Counter
from typing import Any

import pytest

from k8s.dashboards.__main__ import DASHBOARDS, FOLDER, files
from k8s.dashboards.board import Dashboard
from k8s.dashboards.overview import FAILED
from tests.k8s.exported import exported, faults

every_dashboard = pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda one: one.uid)


def expressions(dashboard: Dashboard) -> list[str]:
    """Return all queries of a dashboard."""
    return [query.expression for panel in dashboard.panels for query in panel.queries]


def test_the_files_are_up_to_date() -> None:
    assert {path.name: path.read_text() for path in FOLDER.glob("*.json")} == dict(files()), "run make dashboards"


@every_dashboard
def test_a_panel_queries_exported_metrics_and_labels(dashboard: Dashboard) -> None:
    assert [fault for one in expressions(dashboard) for fault in faults(one, exported())] == []


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


@every_dashboard
def test_a_legend_names_labels_that_are_left(dashboard: Dashboard) -> None:
    for panel in dashboard.panels:
        for query in panel.queries:
            for part in query.legend.split("{{")[1:]:
                assert part.partition("}}")[0] in query.expression, f"{panel.title}: {query.legend}"


@every_dashboard
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
    rules = (FOLDER.parent / "rules.yaml").read_text()
    assert f'code=~"{FAILED}"' in rules


def test_every_metric_of_play_is_shown() -> None:
    asked = " ".join(one for dashboard in DASHBOARDS for one in expressions(dashboard))
    names = {name for series in exported().values() for name in series if name.startswith("croupier_")}
    # One series of a histogram is enough.
    wanted = {re.sub(r"_(bucket|sum|count)$", "", name) for name in names}
    assert sorted(name for name in wanted if name not in asked) == []
