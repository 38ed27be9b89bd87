"""`make bench`: all figures beside baselines of the same run, in one table; PART names a part."""

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from benchmarks.measurement import format_table
from benchmarks.parts import PARTS, measure
from benchmarks.python_build import python_build


def main(parts: Sequence[str]) -> None:
    """Measure these parts, or all if none are named, and print their rows."""
    if unknown := set(parts) - set(PARTS):
        raise SystemExit(f"invalid part {min(unknown)!r}: expected {', '.join(PARTS)}")
    # Each part has a process of its own, because it changes the cores and the scheduling of its process.
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        rows = [row for found in pool.map(measure, parts or PARTS) for row in found]
    print(f"\n{python_build()}, {len(os.sched_getaffinity(0))} cores")
    print(format_table(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
