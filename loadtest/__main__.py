"""`python -m loadtest`: thousands of players at real tables, each of whom referees all that he is told."""

import sys
from collections.abc import Sequence

import locust  # noqa: F401 - first, for it makes greenlets of threads, which whatever is imported later must find

from loadtest.options import read_options
from loadtest.run import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the load test; gives the exit code."""
    options = read_options(arguments)
    # Locust's web page looks into the command line for flags of its own.
    del sys.argv[1:]
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
