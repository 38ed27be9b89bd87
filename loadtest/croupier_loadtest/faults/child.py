"""One service as a child process of a fault run, which can delay its start, and connect it to PostgreSQL by a proxy.

The supervisor runs this module in place of `croupier.cli.launcher.child`, with two arguments before the service's own.
The first is a folder: an instance does not start while a file there has its name, and NAME.flags has more flags for
the instance NAME, as a JSON list. The second is a JSON object with the port at which each instance finds PostgreSQL.
"""

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import make_url

from croupier.cli.launcher.child import main as run_child
from croupier.cli.launcher.environment import DATABASE_VARIABLE

MAX_HOLD_SECONDS = 70.0
"""The time after which an instance starts although its file is still there."""
POLL_SECONDS = 0.05


def main(arguments: Sequence[str]) -> int:
    """Wait until the instance may start, and run it."""
    path, database_ports, *arguments = arguments
    (ready_file,) = (flag.partition("=")[2] for flag in arguments if flag.startswith("--ready-file="))
    instance = Path(ready_file).stem
    folder, deadline = Path(path), time.monotonic() + MAX_HOLD_SECONDS
    while (folder / instance).exists() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    flags_file = folder / f"{instance}.flags"
    added_flags = json.loads(flags_file.read_text()) if flags_file.exists() else []
    if port := json.loads(database_ports).get(instance):
        url = make_url(os.environ[DATABASE_VARIABLE]).set(port=port)
        os.environ[DATABASE_VARIABLE] = url.render_as_string(hide_password=False)
    return run_child([*arguments, *added_flags])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
