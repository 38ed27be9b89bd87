"""Results as files, each of them whole or not there."""

import os
from collections.abc import Mapping
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
NEEDED_PACKAGES = ("jinja2", "matplotlib")


class ReportFault(Exception):
    """Results cannot be written; one line that says where and why."""


def check_folder(folder: Path) -> None:
    """Make the folder and see that results fit into it, so that no run is wasted; raises ReportFault."""
    for package in NEEDED_PACKAGES:
        if find_spec(package) is None:
            raise ReportFault(f"the report needs {package}: pip install 'croupier[load]'")
    tried = folder / f".tried.{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _fill(tried, bytes(NEEDED_BYTES))
        tried.unlink()
    except OSError as fault:
        raise _told(folder, fault) from None


def write_results(result: Result, folder: Path) -> Mapping[str, Path]:
    """Write every form of a result and give the files by their names; raises ReportFault.

    A file of an earlier run is replaced only once the new one is whole.
    """
    return {name: write_text(folder, name, form(result)) for name, form in FORMS.items()}


def write_text(folder: Path, name: str, text: str) -> Path:
    """Write one file of the results, such as a replay, and give where it is; raises ReportFault."""
    # What JSON can hold and UTF-8 cannot is escaped, as JSON would.
    body = text.encode(errors="backslashreplace")
    written, partial = folder / name, folder / f".{name}.{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _fill(partial, body)
        partial.replace(written)
    except OSError as fault:
        raise _told(folder, fault) from None
    return written


def _fill(file: Path, body: bytes) -> None:
    """Write a file that is on the disk afterwards, or that is not there."""
    try:
        with file.open("wb") as opened:
            opened.write(body)
            opened.flush()
            os.fsync(opened.fileno())
    except OSError:
        file.unlink(missing_ok=True)
        raise


def _told(folder: Path, fault: OSError) -> ReportFault:
    return ReportFault(f"results cannot be written to {folder}: {fault.strerror}; name another folder or make room")
