"""Tuning of the processes of a load test: their priority, and garbage collection."""

import gc
import os
import sys

LEAST_PRIORITY = 19


def tune_garbage_collection() -> None:
    """Let garbage be collected seldom: records of tables hold no cycles, and a pass over all of them takes a second."""
    gc.set_threshold(50_000, 20, 100)
    gc.freeze()


def lower_priority(niceness: int = LEAST_PRIORITY) -> None:
    """Let this process use only what the services and the players leave of the processors."""
    os.nice(niceness)
    # A service in the batch class interrupts no other process, but for those of the idle class.
    if niceness == LEAST_PRIORITY and sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
