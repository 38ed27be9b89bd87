"""The process beside an unsupervised Envoy, which waits for SIGTERM and then drains Envoy.

python -m croupier.gateway.drain ADDRESS SECONDS: the address of Envoy's administration, and the maximum of the drain.
"""

import signal
import sys
from collections.abc import Sequence

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def main(arguments: Sequence[str]) -> int:
    """Wait, drain, and return the exit code: 1 if Envoy does not answer."""
    address, seconds = arguments
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    sys.stderr.write(f"waits to drain Envoy at {address}\n")
    sys.stderr.flush()
    signal.sigwait(STOP_SIGNALS)
    # Imported after the wait, so that the waiting process is small.
    import asyncio

    from croupier.gateway.admin import Admin

    try:
        asyncio.run(Admin(address).drain(float(seconds)))
    except OSError as fault:
        sys.stderr.write(f"Envoy at {address} cannot be drained: {fault}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
