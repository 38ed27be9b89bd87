"""The engine's process, set up for many small messages; each step was measured with `make bench`."""

import gc
import os
import sys
from contextlib import suppress


def tune_process(gc_thresholds: str, scheduling: str) -> None:
    """Set the thresholds of the garbage collector, and the scheduling class that threads of this one inherit."""
    # Values in memory are many and live long, cycles among them are few: looking for cycles at the usual pace costs
    # a busy engine a fifth of its time and makes pauses of tenths of a second. Among young values there are some with
    # every call that is refused or cancelled, which may hold a table: they must not wait for long.
    gc.set_threshold(*(int(number) for number in gc_thresholds.split(",")))
    # The transport's threads would otherwise interrupt the event loop for every single message, and taking turns costs
    # more than the messages' own rules do.
    if scheduling == "batch" and sys.platform == "linux":
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
