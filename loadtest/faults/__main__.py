"""Runs the fault tests: `python -m loadtest.faults --help`."""

import os
import sys

# Before gRPC is loaded: what it does when a process is started can end that process before it has begun.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

from loadtest.faults.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
