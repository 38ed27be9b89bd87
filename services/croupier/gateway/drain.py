"""Beside an Envoy that nobody supervises: waits for SIGTERM, and then has Envoy ask its clients to go elsewhere.

python -m croupier.gateway.drain ADDRESS SECONDS: where Envoy's administration listens, and how long calls may go on.
"""

import signal
import sys
from collections.abc import Sequence

ENDS = (signal.SIGTERM, signal.SIGINT)


def main(arguments: Sequence[str]) -> int:
    """Wait, drain, and give the exit code: 1 if Envoy could not be asked."""
    address, seconds = arguments
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    sys.stderr.write(f"waits for the end of Envoy at {address}\n")
    sys.stderr.flush()
    signal.sigwait(ENDS)
    # Imported only now: until then this is a process that waits, and should be small.
    import asyncio

    from croupier.gateway.admin import Admin

    try:
        asyncio.run(Admin(address).drain(float(seconds)))
    except OSError as fault:
        sys.stderr.write(f"Envoy at {address} cannot be asked to drain: {fault}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
