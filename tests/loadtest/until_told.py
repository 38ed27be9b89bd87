"""Put beside a locustfile, ends its run when each event that UNTIL names has come."""

import os
from typing import Any

import gevent
from locust import events
from locust.env import Environment


def until_told(environment: Environment, **_: Any) -> None:
    """Hear of events, and quit after the last one that is new."""
    awaited = set(os.environ["UNTIL"].split(","))

    def hear(name: str, **_: Any) -> None:
        awaited.discard(name)
        if not awaited and environment.runner:
            # Not here: this is one of the users who are stopped by it.
            gevent.spawn(environment.runner.quit)

    environment.events.request.add_listener(hear)  # type: ignore[no-untyped-call]


events.init.add_listener(until_told)  # type: ignore[no-untyped-call]
