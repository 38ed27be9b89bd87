"""Processes of a load test that use only what the services and the players leave of the processors."""

import os
import sys

LEAST_PRIORITY = 19


def lower_priority(niceness: int = LEAST_PRIORITY) -> None:
    """Lower the priority of this process."""
    os.nice(niceness)
    # A service in the batch class interrupts no other process, but for those of the idle class.
    if niceness == LEAST_PRIORITY and sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
