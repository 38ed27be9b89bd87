"""Dashboards in Grafana's format."""

from collections.abc import Iterator
from string import ascii_uppercase
from typing import Any

from k8s.dashboards.board import Dashboard, Form, Panel

WIDTH = 24
HEIGHTS = {Form.FIGURE: 5, Form.LINES: 8}
SCHEMA_VERSION = 39
_SOURCE = {"type": "prometheus", "uid": "${source}"}
_SOURCE_VARIABLE = {"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
_NAMESPACE_VARIABLE = {
    "name": "namespace",
    "label": "Namespace",
    "type": "query",
    "datasource": _SOURCE,
    "query": {"query": 'label_values(up{job="croupier-engine"}, namespace)', "refId": "namespace"},
    "refresh": 2,
}


def grafana(dashboard: Dashboard) -> dict[str, Any]:
    """Return a dashboard in Grafana's format, as plain data."""
    return {
        "uid": dashboard.uid,
        "title": dashboard.title,
        "tags": ["croupier"],
        "editable": False,
        "schemaVersion": SCHEMA_VERSION,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [_SOURCE_VARIABLE, _NAMESPACE_VARIABLE]},
        "panels": list(_panels(dashboard)),
    }


def _panels(dashboard: Dashboard) -> Iterator[dict[str, Any]]:
    number, top = 1, 0
    for title, row in dashboard.rows.items():
        place = {"x": 0, "y": top, "w": WIDTH, "h": 1}
        yield {"id": number, "type": "row", "title": title, "gridPos": place, "panels": []}
        number, top = number + 1, top + 1
        width = WIDTH // len(row)
        height = max(HEIGHTS[panel.form] for panel in row)
        for column, panel in enumerate(row):
            yield _panel(panel, number, {"x": column * width, "y": top, "w": width, "h": height})
            number += 1
        top += height


def _panel(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    return {
        "id": number,
        "type": panel.form.value,
        "title": panel.title,
        "description": panel.description,
        "datasource": _SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": panel.unit.value, "min": 0}, "overrides": []},
        "targets": [
            {"refId": letter, "datasource": _SOURCE, "expr": query.expression, "legendFormat": query.legend}
            for letter, query in zip(ascii_uppercase, panel.queries, strict=False)
        ],
    }
