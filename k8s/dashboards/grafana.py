"""A dashboard as Grafana reads it."""

from collections.abc import Iterator
from typing import Any

from k8s.dashboards.board import Dashboard, Form, Panel, Query

WIDTH = 24
FIGURE_HEIGHT = 5
LINES_HEIGHT = 8
SCHEMA_VERSION = 39
_SOURCE = {"type": "prometheus", "uid": "${source}"}


def grafana(dashboard: Dashboard) -> dict[str, Any]:
    """The model of a dashboard, as plain data."""
    return {
        "uid": dashboard.uid,
        "title": dashboard.title,
        "tags": ["croupier"],
        "editable": False,
        "schemaVersion": SCHEMA_VERSION,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [_source_variable(), _namespace_variable()]},
        "panels": list(_panels(dashboard)),
    }


def _source_variable() -> dict[str, Any]:
    return {"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"}


def _namespace_variable() -> dict[str, Any]:
    query = 'label_values(up{job="croupier-engine"}, namespace)'
    return {
        "name": "namespace",
        "label": "Namespace",
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": query, "refId": "namespace"},
        "refresh": 2,
    }


def _panels(dashboard: Dashboard) -> Iterator[dict[str, Any]]:
    number, top = 1, 0
    for title, row in dashboard.rows.items():
        place = {"x": 0, "y": top, "w": WIDTH, "h": 1}
        yield {"id": number, "type": "row", "title": title, "gridPos": place, "panels": []}
        number, top = number + 1, top + 1
        width = WIDTH // len(row)
        height = max(_height(panel) for panel in row)
        for column, panel in enumerate(row):
            yield _panel(panel, number, {"x": column * width, "y": top, "w": width, "h": height})
            number += 1
        top += height


def _height(panel: Panel) -> int:
    return FIGURE_HEIGHT if panel.form is Form.FIGURE else LINES_HEIGHT


def _panel(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    return {
        "id": number,
        "type": panel.form.value,
        "title": panel.title,
        "description": panel.meaning,
        "datasource": _SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": panel.unit.value, "min": 0}, "overrides": []},
        "targets": [_target(query, chr(ord("A") + index)) for index, query in enumerate(panel.queries)],
    }


def _target(query: Query, letter: str) -> dict[str, Any]:
    return {"refId": letter, "datasource": _SOURCE, "expr": query.expression, "legendFormat": query.legend}
