"""Logs stay small while their processes write."""

import os
from functools import partial
from pathlib import Path

import pytest

from croupier.cli.launcher import log_rotation
from croupier.cli.launcher.log_rotation import MAX_LOG_BYTES, rotate
from croupier.cli.launcher.service_process import last_lines
from croupier.cli.launcher.supervisor import running_services
from croupier.runtime.identity.permissions import open_private
from tests.cli.conftest import fake_services
from tests.waiting import until

MEBIBYTE = 1024 * 1024


def bytes_on_disk(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.iterdir())


def test_a_process_that_writes_much_takes_little_of_the_disk(tmp_path: Path) -> None:
    log_file = tmp_path / "engine.log"
    with open_private(log_file, os.O_APPEND) as log:
        for number in range(25):
            log.write(b"%2d%s\n" % (number, b"x" * (4 * MEBIBYTE - 3)))
            log.flush()
            rotate(log_file)
            assert bytes_on_disk(tmp_path) < 48 * MEBIBYTE
        log.write(b"the last line\n")
    assert last_lines(log_file)[-1] == "the last line"
    kept = tmp_path / "engine.log.1"
    assert kept.stat().st_size == MAX_LOG_BYTES
    assert kept.stat().st_mode & 0o077 == 0
    # Without a hole where the old lines were.
    assert not log_file.read_bytes().startswith(b"\0")
    assert kept.read_bytes()[:2].isdigit()


def test_a_log_is_emptied_on_a_disk_that_has_no_room_for_a_copy(tmp_path: Path) -> None:
    log_file = tmp_path / "engine.log"
    log_file.write_bytes(b"x" * (MAX_LOG_BYTES + 1))
    (tmp_path / "engine.log.1").mkdir()
    rotate(log_file)
    assert log_file.stat().st_size == 0


def is_rotated(log_file: Path, end: str) -> bool:
    kept = log_file.with_name(f"{log_file.name}.1")
    return kept.exists() and kept.read_text() == end and log_file.stat().st_size == 0


async def test_logs_are_rotated_while_services_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_rotation, "MAX_LOG_BYTES", 1000)
    monkeypatch.setattr(log_rotation, "CHECK_SECONDS", 0.01)
    async with running_services(tmp_path, settings=fake_services()) as services:
        for number in range(2):
            for instance in ("engine", "lobby"):
                log_file = services.folder.log_file(instance)
                with log_file.open("a") as log:
                    log.write(f"{number}" * 1500)
                await until(partial(is_rotated, log_file, f"{number}" * 1000))


def test_the_end_of_a_log_that_was_emptied_is_shown(tmp_path: Path) -> None:
    log_file = tmp_path / "engine.log"
    log_file.write_text("engine has failed\n")
    assert last_lines(log_file, begins=5000) == ["engine has failed"]
