"""`croupier load` as a program: Locust's own, with the load test as its file, and its options in --help too."""

import sys
from pathlib import Path
from typing import Any

from locust import events
from locust.main import main

from croupier_loadtest.runner.options import add_arguments

LOCUST_FILE = Path(__file__).with_name("locustfile.py")

if __name__ == "__main__":
    hooks: Any = events
    hooks.init_command_line_parser.add_listener(add_arguments)
    sys.argv[1:1] = ["-f", str(LOCUST_FILE)]
    main()  # type: ignore[no-untyped-call]
