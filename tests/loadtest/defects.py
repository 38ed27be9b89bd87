"""`python -m tests.loadtest.defects`: every defect is found, in its scenario and under its name.

Prints a line for each run; the exit code is 1 if one was not found.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.loadtest.matrix import BY_NAME, Case
from tests.loadtest.running import run_with


def main(arguments: Sequence[str]) -> int:
    """Run the matrix, or a part of it; gives the exit code."""
    given = _parser().parse_args(arguments)
    cases = {name: case for name, case in BY_NAME.items() if not given.only or given.only in (name, *name.split("/"))}
    if not cases:
        print(f"there is no run {given.only!r}: there are {', '.join(BY_NAME)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="croupier-defects-") as folder:
        missed = [name for name, case in cases.items() if not _is_found(name, case, given.keep or Path(folder))]
    print(f"{len(cases) - len(missed)} of {len(cases)} found{''.join(f', not {name}' for name in missed)}")
    return 1 if missed else 0


def _is_found(name: str, case: Case, folder: Path) -> bool:
    started = time.monotonic()
    outcome = asyncio.run(run_with(case.defect, case.arguments, folder / name.replace("/", "-")))
    is_found = outcome.code == 1 and case.named in outcome.named
    others = ", ".join(sorted(outcome.named - {case.named})) or "nothing else"
    verdict = f"found as {case.named}" if is_found else f"NOT found as {case.named}, exit code {outcome.code}"
    print(f"{name:34} {verdict}; {others} ({time.monotonic() - started:.0f} s)", flush=True)
    if not outcome.result:
        print(outcome, file=sys.stderr)
    return is_found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.loadtest.defects", description=__doc__)
    parser.add_argument("--only", default="", metavar="NAME", help="a scenario, a defect, or SCENARIO/DEFECT")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what the runs left behind here")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
