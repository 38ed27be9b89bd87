"""`python -m loadtest`: thousands of players at real tables, each of whom referees all that he is told."""

import sys
from collections.abc import Sequence

import locust  # noqa: F401 - first, for it makes greenlets of threads, which whatever is imported later must find

from loadtest.options import read_options
from loadtest.run import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the load test; gives the exit code."""
    return run(read_options(arguments))


if __name__ == "__main__":
    sys.exit(main())
