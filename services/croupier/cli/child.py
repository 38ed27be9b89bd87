"""One service as a child process that never outlives the process that started it.

The child is started with a pipe as its standard input. The parent never writes to it, so the end of the pipe means that
the parent is gone, however it went; the child then drains like for SIGTERM. A Ctrl-C reaches every process of a
terminal at once, but the parent stops its children in order: so a child lets SIGINT and SIGHUP pass by.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence

from croupier.cli.serve import run_service

ORPHAN_GRACE_SECONDS = 10.0


def main(arguments: Sequence[str]) -> int:
    """Run the service that the first argument names with the other arguments."""
    # Blocked rather than ignored: the service sets handlers of its own, and these must not hear of them either.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    threading.Thread(target=end_with_parent, args=(_drain, _leave), daemon=True).start()
    return run_service(arguments[0], arguments[1:])


def end_with_parent(drain: Callable[[], None], leave: Callable[[], None]) -> None:
    """Wait for the end of standard input, drain, and leave for good when the grace is over."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    drain()
    threading.Event().wait(ORPHAN_GRACE_SECONDS)
    leave()


def _drain() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def _leave() -> None:
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
