"""Judged load tests of croupier: `croupier load --host 127.0.0.1:7700`; docs/load-testing.md."""

import json
import sys
from typing import Any

from flask import Response, request
from locust import events
from locust.runners import LocalRunner, MasterRunner, Runner, WorkerRunner
from locust.web import WebUI

from croupier_loadtest.runner.load_test import EXIT_NOT_RUN, LoadTest, ScenarioShape
from croupier_loadtest.runner.users import user_of
from croupier_loadtest.runner.worker import LoadWorker
from croupier_loadtest.scenarios import UserKind

__all__ = ["Attacker", "Browser", "Group", "Matcher", "Opener", "Pages", "ScenarioShape", "Spectator"]

KEY = "violations"
COLUMNS = {"invariant": "Invariant", "count": "Count", "table_id": "Table", "sequence": "Sequence", "detail": "First"}
FIGURES = "/stats/requests"

# Locust looks for classes among the names of this module.
Group, Matcher, Spectator, Browser, Opener, Attacker, Pages = map(user_of, UserKind)


def add_violations(page: WebUI, load_test: LoadTest) -> None:
    """Add a tab with a line for each violated invariant; it is sent with the statistics that the page polls."""
    structure = [{"key": key, "title": title} for key, title in COLUMNS.items()]
    page.template_args["extended_tabs"] = [{"title": "Violations", "key": KEY}]
    page.template_args["extended_tables"] = [{"key": KEY, "structure": structure}]

    def with_violations(response: Response) -> Response:
        if request.path.endswith(FIGURES):
            lines = [{key: getattr(one, key) for key in COLUMNS} for one in load_test.violations]
            shown = [{"key": KEY, "data": lines}]
            response.set_data(json.dumps({**response.get_json(), "extended_stats": shown}))
        return response

    assert page.app is not None
    page.app.after_request(with_violations)


def set_up(environment: Any, runner: Runner, web_ui: WebUI | None, **_: Any) -> None:
    """Listen to the events of this Locust process; exits with a line and code 2 if its options are wrong."""
    if isinstance(runner, WorkerRunner):
        environment.load_test = LoadWorker(environment, runner)
        environment.load_test.set_up()
        return
    assert isinstance(runner, LocalRunner | MasterRunner)
    environment.load_test = load_test = LoadTest(environment, runner)
    try:
        load_test.set_up()
    except ValueError as fault:
        print(f"croupier load: {fault}", file=sys.stderr)
        sys.exit(EXIT_NOT_RUN)
    if web_ui is not None:
        add_violations(web_ui, load_test)


hooks: Any = events
hooks.init.add_listener(set_up)
