"""`python -m loadtest SCENARIO`: plays many tables at once and referees each of them."""

import sys
from collections.abc import Sequence

from loadtest.options import read_options


def main(arguments: Sequence[str]) -> int:
    """Run the load test; gives the exit code."""
    options = read_options(arguments)
    # Locust makes greenlets of threads when it is imported, which whatever comes later must find.
    import locust  # noqa: F401

    from loadtest.conductor.run import run
    from loadtest.conductor.worker import work

    # Locust's web page looks into the command line for flags of its own.
    del sys.argv[1:]
    return work(options) if options.master else run(options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
