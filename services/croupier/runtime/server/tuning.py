"""Tuning of a service's process for many small messages; `make bench` measured each step."""

import gc
import os
import resource
import sys
from contextlib import suppress


def tune_process(gc_thresholds: str, scheduling: str) -> None:
    """Tune the garbage collector, open files, and the scheduling class that threads of this one inherit."""
    # Most objects live long and few are in cycles: garbage collection at the default rate costs a busy engine a fifth
    # of its time, with pauses of tenths of a second. But each refused or cancelled call leaves a young cycle, which may
    # hold a table: these must be collected soon.
    gc.set_threshold(*(int(number) for number in gc_thresholds.split(",")))
    # Modules live to the end. Without them a full pass takes 26 ms less: 0.3 s in an engine with 2,000 tables.
    gc.freeze()
    # Each WebSocket is an open file, and by default a process may have 1,024.
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, allowed))
    # Otherwise the transport's threads interrupt the event loop for every message, and switching costs more CPU than
    # the rules of the games.
    if scheduling == "batch" and sys.platform == "linux":
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
