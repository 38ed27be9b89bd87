"""Writes results to files, each of them completely or not at all."""

from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from croupier_loadtest.report.junit import to_junit
from croupier_loadtest.report.result import Result, to_json
from croupier_loadtest.report.text import to_text


def _to_page(result: Result) -> str:
    # matplotlib is slow to import and large: a run loads it at its end.
    from croupier_loadtest.report.page import to_page

    return to_page(result)


FORMS = {"result.json": to_json, "junit.xml": to_junit, "summary.txt": to_text, "report.html": _to_page}
"""Formats by file name; all others can be made from the first."""
NEEDED_BYTES = 4 * 2**20
"""An upper bound of the size of a long run's results."""


class ReportFault(Exception):
    """Results cannot be written; one line with the place and the reason."""


def check_folder(folder: Path) -> None:
    """Check before a run that plots can be drawn and that results fit into the folder; raises ReportFault."""
    if find_spec("matplotlib") is None:
        raise ReportFault("the plots of a run need matplotlib: pip install 'croupier[load]' brings it")
    is_new = not folder.exists()
    write_text(folder, "trial", " " * NEEDED_BYTES).unlink()
    if is_new:
        folder.rmdir()


def write_results(result: Result, folder: Path) -> Mapping[str, Path]:
    """Write all formats of a result; returns the files by name, raises ReportFault.

    A file of an earlier run is replaced only when the new one is complete.
    """
    return {name: write_text(folder, name, form(result)) for name, form in FORMS.items()}


def write_text(folder: Path, name: str, text: str) -> Path:
    """Write one file of the results, such as a replay; returns its path, raises ReportFault."""
    partial = folder / f".{name}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Text that UTF-8 cannot encode is escaped as in JSON.
        partial.write_text(text, encoding="utf-8", errors="backslashreplace")
        return partial.replace(folder / name)
    except OSError as fault:
        with suppress(OSError):
            partial.unlink()
        raise ReportFault(
            f"results cannot be written to {folder}: {fault.strerror}; name another folder or make room"
        ) from None
