"""A service with one defect in its place: `python -m tests.loadtest.broken_services DEFECT SERVICE FLAGS`.

The services that have not the defect are started as they are. Without arguments it lists all defects.
"""

import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from croupier.cli.child import main as run_child
from tests.loadtest.broken.answers import ANSWERS
from tests.loadtest.broken.defect import Defect
from tests.loadtest.broken.growth import GROWTH
from tests.loadtest.broken.others import LOBBY, SCORING
from tests.loadtest.broken.records import RECORDS
from tests.loadtest.broken.streams import STREAMS

DEFECTS: Mapping[str, Defect] = MappingProxyType(
    {**STREAMS, **ANSWERS, **RECORDS, **GROWTH, **LOBBY, **SCORING},
)
NONE = "none"
"""The name of no defect."""


def command_of(defect: str) -> tuple[str, ...]:
    """The command that runs a service with a defect, as a `Manner` has it."""
    if defect != NONE and defect not in DEFECTS:
        raise ValueError(f"there is no defect {defect!r}: there are {', '.join(DEFECTS)}")
    return sys.executable, "-m", "tests.loadtest.broken_services", defect


def main(arguments: Sequence[str]) -> int:
    """Run a service, or list the defects; gives the exit code."""
    if not arguments:
        print("\n".join(f"{name:24} {defect.service:8} {defect.meaning}" for name, defect in DEFECTS.items()))
        return 0
    name, service, *flags = arguments
    if name != NONE and DEFECTS[name].is_of(service):
        DEFECTS[name].break_it()
    return run_child([service, *flags])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
