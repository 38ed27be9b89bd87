"""The process beside an unsupervised Envoy, which waits for SIGTERM and then drains Envoy.

python -m croupier.gateway.drain SOCKET SECONDS: that of Envoy's administration, and the maximum of the drain.
"""

import signal
import sys
from collections.abc import Sequence
from pathlib import Path

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def main(arguments: Sequence[str]) -> int:
    """Wait, drain, and return the exit code: 1 if Envoy does not answer."""
    socket, seconds = arguments
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    sys.stderr.write(f"waits to drain Envoy at {socket}\n")
    sys.stderr.flush()
    signal.sigwait(STOP_SIGNALS)
    # Imported after the wait, so that the waiting process is small.
    import asyncio

    from croupier.gateway.admin import Admin

    try:
        asyncio.run(Admin(Path(socket)).drain(float(seconds)))
    except OSError as fault:
        sys.stderr.write(f"Envoy at {socket} cannot be drained: {fault}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
