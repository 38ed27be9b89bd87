"""Results as files, each of them whole or not there."""

from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from loadtest.report.encoding import to_json
from loadtest.report.junit import to_junit
from loadtest.report.page import to_page
from loadtest.report.result import Result
from loadtest.report.text import to_text

FORMS = {"result.json": to_json, "junit.xml": to_junit, "summary.txt": to_text, "report.html": to_page}
"""By its file how a result is written: first the one from which all others can be made again."""
NEEDED_BYTES = 4 * 2**20
"""What the results of a long run take, amply."""


class ReportFault(Exception):
    """Results cannot be written; one line that says where and why."""


def check_folder(folder: Path) -> None:
    """See that plots can be drawn and that results fit into the folder, before a run; raises ReportFault."""
    if find_spec("matplotlib") is None:
        raise ReportFault("the plots of a run need matplotlib, which is not installed: install croupier[load]")
    write_text(folder, "tried", " " * NEEDED_BYTES).unlink()


def write_results(result: Result, folder: Path) -> Mapping[str, Path]:
    """Write every form of a result and give the files by their names; raises ReportFault.

    A file of an earlier run is replaced only once the new one is whole.
    """
    return {name: write_text(folder, name, form(result)) for name, form in FORMS.items()}


def write_text(folder: Path, name: str, text: str) -> Path:
    """Write one file of the results, such as a replay, and give where it is; raises ReportFault."""
    partial = folder / f".{name}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # What JSON can hold and UTF-8 cannot is escaped, as JSON would.
        partial.write_text(text, encoding="utf-8", errors="backslashreplace")
        return partial.replace(folder / name)
    except OSError as fault:
        with suppress(OSError):
            partial.unlink()
        raise ReportFault(
            f"results cannot be written to {folder}: {fault.strerror}; name another folder or make room"
        ) from None
