"""`.ci/scan` scans the bill of materials where it can, and says where it cannot."""

import subprocess
from pathlib import Path

import pytest

SCAN = Path(__file__).parents[2] / ".ci" / "scan"
GRYPE = """#!/bin/bash
echo "$GRYPE_DB_AUTO_UPDATE $GRYPE_DB_VALIDATE_AGE $*" >> "$CALLS"
case "$*" in
    "db status") exit {status} ;;
    *) exit {found} ;;
esac
"""


def scanned(folder: Path, grype: str | None, name: str = "bill.json") -> tuple[int, str, list[str]]:
    """Run the script with a fake grype, or none; returns its exit code, its output and the calls of grype."""
    (folder / "bin").mkdir()
    (folder / "bill.json").write_text("{}")
    if grype is not None:
        program = folder / "bin" / "grype"
        program.write_text(grype)
        program.chmod(0o755)
    calls = folder / "calls"
    calls.touch()
    environment = {"PATH": str(folder / "bin"), "CALLS": str(calls)}
    command = ["/bin/bash", str(SCAN), str(folder / name)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr, calls.read_text().splitlines()


@pytest.mark.parametrize(
    ("grype", "reason"),
    [(None, "no grype here"), (GRYPE.format(status=1, found=0), "no database of grype here")],
    ids=["no program", "no database"],
)
def test_without_a_database_it_is_skipped_with_the_reason(tmp_path: Path, grype: str | None, reason: str) -> None:
    code, output, calls = scanned(tmp_path, grype)
    assert (code, output.count("\n")) == (0, 1)
    assert output.startswith(f"ci: the bill of materials is not scanned: {reason}")
    assert not any("sbom:" in call for call in calls)


@pytest.mark.parametrize("found", [0, 2])
def test_with_one_a_vulnerability_fails(tmp_path: Path, found: int) -> None:
    code, _, calls = scanned(tmp_path, GRYPE.format(status=0, found=found))
    assert code == found
    assert calls[-1] == f"false true --quiet --only-fixed --fail-on high sbom:{tmp_path / 'bill.json'}"


def test_a_missing_bill_fails(tmp_path: Path) -> None:
    code, output, _ = scanned(tmp_path, GRYPE.format(status=0, found=0), "none.json")
    assert (code, "make image writes it" in output) == (1, True)
