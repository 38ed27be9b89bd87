"""What pods use: memory at its most, processors on average, also of processes that have gone."""

import os
from pathlib import Path

from rehearsal.pods import Pod
from rehearsal.processes import Use, uses
from rehearsal.site import Site
from rehearsal.usage import Meter, PodUse
from tests.rehearsal.small import engine


def pod(name: str, *sessions: int) -> Pod:
    site = Site("127.0.0.1", Path("/nowhere"), "127.0.0.1:1", Path("/x"))
    made = Pod(name, engine().pod, site, {"postgres-app": {"uri": b""}}, lambda: None)
    made.containers[0].sessions.extend(sessions)
    return made


def test_all_processes_of_a_pod_count() -> None:
    meter, one, other = Meter(), pod("engine-1", 5, 6), pod("engine-2", 7)
    meter.look([one, other], {5: {5: Use(1.0, 100), 50: Use(1.0, 10)}, 7: {7: Use(9.0, 1)}, 8: {8: Use(9.0, 9)}})
    meter.look([one], {5: {5: Use(1.5, 80)}, 6: {6: Use(0.25, 15)}})
    meter.look([one], {6: {6: Use(0.75, 5)}})
    # Half a second of 5 until it went, and three quarters of the one that came after it, in two seconds.
    assert meter.result([one, other]) == [
        PodUse("engine-1", "engine", 110, 0.625),
        PodUse("engine-2", "engine", 1, 0.0),
    ]


def test_a_pod_that_never_ran_is_left_out() -> None:
    meter = Meter()
    meter.look([pod("engine-1", 5)], {})
    assert meter.result([pod("engine-1", 5)]) == []


def test_this_process_is_seen() -> None:
    own = uses()[os.getsid(0)][os.getpid()]
    assert own.cpu_seconds > 0
    assert own.memory_bytes > 2**20
