"""A tab of Locust's web page with the violations of a load test."""

import json
from typing import Any

from flask import Response, request
from locust.web import WebUI

from loadtest.runner.load_test import LoadTest

KEY = "violations"
COLUMNS = {"invariant": "Invariant", "count": "Count", "table_id": "Table", "sequence": "Sequence", "detail": "First"}
FIGURES = "/stats/requests"


def add_violations(page: WebUI, load_test: LoadTest) -> None:
    """Add the tab; its lines are sent with the statistics that the page polls."""
    structure = [{"key": key, "title": title} for key, title in COLUMNS.items()]
    page.template_args["extended_tabs"] = [{"title": "Violations", "key": KEY}]
    page.template_args["extended_tables"] = [{"key": KEY, "structure": structure}]

    def with_violations(response: Response) -> Response:
        if request.path.endswith(FIGURES):
            shown = [{"key": KEY, "data": lines(load_test)}]
            response.set_data(json.dumps({**response.get_json(), "extended_stats": shown}))
        return response

    assert page.app is not None
    page.app.after_request(with_violations)


def lines(load_test: LoadTest) -> list[dict[str, Any]]:
    """Return a line for each violated invariant, with its first violation."""
    return [{key: getattr(one, key) for key in COLUMNS} for one in load_test.violations]
