"""Results as files: whole ones, or a clear line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from loadtest.report import write
from loadtest.report.encoding import from_json, to_json
from loadtest.report.write import FORMS, NEEDED_BYTES, ReportFault, check_folder, write_results, write_text
from tests.loadtest.report.sample import EMPTY, GREEN, RED

ROOT = Path(__file__).parents[3]
ALL = {"result.json", "junit.xml", "summary.txt", "report.html"}


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def test_every_form_is_written_into_a_folder_that_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "run"
    check_folder(folder)
    assert names(folder) == set()
    written = write_results(GREEN, folder)
    assert written == {name: folder / name for name in ALL}
    assert names(folder) == ALL
    assert from_json(written["result.json"].read_text()) == GREEN
    assert written["summary.txt"].read_text().endswith("verdict     fit to ship\n")


def test_a_later_run_replaces_the_files_of_an_earlier_one(tmp_path: Path) -> None:
    write_results(GREEN, tmp_path)
    write_results(EMPTY, tmp_path)
    assert from_json((tmp_path / "result.json").read_text()) == EMPTY
    assert names(tmp_path) == ALL


@pytest.mark.parametrize("place", ["/dev/full", "/proc/nowhere", "a file/run"])
@pytest.mark.parametrize(
    "attempt",
    [check_folder, lambda folder: write_results(EMPTY, folder), lambda folder: write_text(folder, "replay", "a line")],
)
def test_what_can_be_no_folder_is_told_in_one_line(tmp_path: Path, place: str, attempt: object) -> None:
    (tmp_path / "a file").touch()
    assert callable(attempt)
    with pytest.raises(ReportFault, match="results cannot be written to") as fault:
        attempt(tmp_path / place)
    assert place in str(fault.value)
    assert "\n" not in str(fault.value)


def test_a_missing_package_is_told_before_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "NEEDED_PACKAGES", ("jinja2", "no_such_package"))
    with pytest.raises(ReportFault, match=r"needs no_such_package: pip install 'croupier\[load\]'"):
        check_folder(tmp_path)


def run_with_little_room(code: str, room_bytes: int) -> "subprocess.CompletedProcess[str]":
    """Run code in a process none of whose files can grow beyond so many bytes: as on a disk that gets full."""
    limit = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({room_bytes}, {room_bytes}))"
    imports = "from pathlib import Path\nfrom loadtest.report.write import *"
    return subprocess.run(
        [sys.executable, "-B", "-c", "\n".join((limit, imports, code))],
        cwd=ROOT, check=False, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def test_a_disk_without_room_is_found_before_the_run(tmp_path: Path) -> None:
    ended = run_with_little_room(f"check_folder(Path({str(tmp_path)!r}))", NEEDED_BYTES - 1)
    assert ended.stderr.splitlines()[-1].startswith(
        f"loadtest.report.write.ReportFault: results cannot be written to {tmp_path}: File too large"
    )
    assert names(tmp_path) == set()
    assert run_with_little_room(f"check_folder(Path({str(tmp_path)!r}))", NEEDED_BYTES).returncode == 0


def test_a_disk_that_gets_full_leaves_whole_files_only(tmp_path: Path) -> None:
    write_results(EMPTY, tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in FORMS}
    code = f"""
from tests.loadtest.report.sample import RED
write_results(RED, Path({str(tmp_path)!r}))
"""
    room = len(to_json(RED).encode())
    ended = run_with_little_room(code, room - 1)
    assert "ReportFault: results cannot be written to" in ended.stderr
    assert {name: (tmp_path / name).read_bytes() for name in FORMS} == before
    assert names(tmp_path) == ALL

    ended = run_with_little_room(code, room)
    assert "ReportFault: results cannot be written to" in ended.stderr, "the page is larger than its figures"
    assert from_json((tmp_path / "result.json").read_text()) == RED
    assert (tmp_path / "report.html").read_bytes() == before["report.html"]
    assert names(tmp_path) == ALL


def test_a_full_device_is_told(tmp_path: Path) -> None:
    (tmp_path / f".result.json.{os.getpid()}").symlink_to("/dev/full")
    with pytest.raises(ReportFault, match="No space left on device"):
        write_results(EMPTY, tmp_path)
    assert names(tmp_path) == set()
