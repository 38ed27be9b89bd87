"""Results as complete files, or one-line errors."""

import sys
from pathlib import Path

import pytest

from loadtest.report import write
from loadtest.report.result import Result, from_json, to_json
from loadtest.report.write import FORMS, ReportFault, check_folder, write_results, write_text
from tests.loadtest.report.sample import EMPTY, FAILED, PASSED, hostile


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


@pytest.mark.parametrize("result", [PASSED, FAILED, EMPTY, hostile()], ids=["passed", "failed", "empty", "hostile"])
def test_a_result_survives_encoding_and_decoding(result: Result) -> None:
    assert from_json(to_json(result)) == result


def test_all_formats_are_written_and_replaced_by_a_later_run(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "run"
    check_folder(folder)
    assert not folder.exists(), "a run that fails leaves no empty folder"
    for result in (PASSED, EMPTY):
        written = write_results(result, folder)
        assert written == {name: folder / name for name in FORMS}
        assert names(folder) == FORMS.keys()
        assert from_json(written["result.json"].read_text()) == result
    assert (folder / "summary.txt").read_text().endswith("nothing is verified\n")


@pytest.mark.parametrize("place", ["/proc/nowhere", "a file/run"])
@pytest.mark.parametrize("attempt", [check_folder, lambda folder: write_text(folder, "replay", "a line")])
def test_an_impossible_folder_has_a_one_line_error(tmp_path: Path, place: str, attempt: object) -> None:
    (tmp_path / "a file").touch()
    assert callable(attempt)
    with pytest.raises(ReportFault, match="results cannot be written to") as fault:
        attempt(tmp_path / place)
    assert place in str(fault.value)
    assert "\n" not in str(fault.value)


def test_a_missing_package_is_reported_before_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ReportFault, match="need matplotlib"):
        check_folder(tmp_path / "run")
    assert names(tmp_path) == set()


def test_a_full_disk_is_reported_and_keeps_the_file_of_an_earlier_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "FORMS", {"result.json": to_json})
    write_results(PASSED, tmp_path)
    for name in (".result.json", ".trial"):
        (tmp_path / name).symlink_to("/dev/full")
    for attempt in (check_folder, lambda folder: write_results(FAILED, folder)):
        with pytest.raises(ReportFault, match="No space left on device"):
            attempt(tmp_path)
    assert names(tmp_path) == {"result.json"}
    assert from_json((tmp_path / "result.json").read_text()) == PASSED
