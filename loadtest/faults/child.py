"""One service as a child process of a fault run, which can delay its start and break its database connections.

The supervisor runs it in place of `croupier.cli.launcher.child`, with two arguments before a service's own: a folder,
in which a file with the name of an instance delays its start and NAME.flags is a JSON list of more flags; and the port
at which each instance connects to PostgreSQL, as JSON by name.
"""

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import make_url

from croupier.cli.launcher.child import main as run_child
from croupier.cli.launcher.supervisor import DATABASE_VARIABLE

MAX_HOLD_SECONDS = 70.0
POLL_SECONDS = 0.05


def main(arguments: Sequence[str]) -> int:
    """Wait until the instance may start, and run it."""
    folder, database_ports, *arguments = arguments
    (ready_file,) = (flag.partition("=")[2] for flag in arguments if flag.startswith("--ready-file="))
    instance = Path(ready_file).stem
    hold, deadline = Path(folder), time.monotonic() + MAX_HOLD_SECONDS
    while (hold / instance).exists() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    flags_file = hold / f"{instance}.flags"
    added_flags = json.loads(flags_file.read_text()) if flags_file.exists() else []
    if port := json.loads(database_ports).get(instance):
        url = make_url(os.environ[DATABASE_VARIABLE]).set(port=port)
        os.environ[DATABASE_VARIABLE] = url.render_as_string(hide_password=False)
    return run_child([*arguments, *added_flags])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
