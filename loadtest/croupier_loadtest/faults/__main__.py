"""Runs the fault tests: `python -m croupier_loadtest.faults --help`."""

import os
import sys

# Before gRPC is loaded: its fork handlers can end a child process before it has begun.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

from croupier_loadtest.faults.command import main
from croupier_loadtest.tuning import tune_garbage_collection

if __name__ == "__main__":
    tune_garbage_collection()
    sys.exit(main(sys.argv[1:]))
