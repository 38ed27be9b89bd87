"""A service of a deployment whose engine has the toy too: `python -m tests.web.toy_service SERVICE FLAGS`."""

import sys
from collections.abc import Sequence
from contextlib import nullcontext

from croupier.cli.launcher.child import main as run_child
from tests.engine.toys import toy_known


def main(arguments: Sequence[str]) -> int:
    with toy_known() if arguments[0] == "engine" else nullcontext():
        return run_child(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
