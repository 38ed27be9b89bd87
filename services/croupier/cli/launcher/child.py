"""One service as a child process, which drains as for SIGTERM when its parent process has ended."""

import signal
import sys
from collections.abc import Sequence

from croupier.cli.commands.serve import run_service
from croupier.runtime.server.child_process import end_with_parent


def main(arguments: Sequence[str]) -> int:
    """Run the service that the first argument names with the other arguments."""
    # A Ctrl-C reaches every process of a terminal at once, but the parent stops its children in order. Blocked rather
    # than ignored, because the service sets handlers of its own.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    end_with_parent()
    return run_service(arguments[0], arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
