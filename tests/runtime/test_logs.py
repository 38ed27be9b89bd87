"""Logs on a stream that cannot be written, and of failures that do not end a loop."""

import asyncio
import errno
import io

import pytest

from croupier.runtime.observation.logs import BestEffortStream, failures_logged
from tests.engine.fakes import RecordingLogger
from tests.lobby.fakes import ENGINE_UNAVAILABLE


class FullDisk(io.StringIO):
    """A stream that raises OSError while it is full."""

    full = True

    def write(self, text: str) -> int:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(text)

    def flush(self) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_loses_lines_only() -> None:
    disk = FullDisk()
    stream = BestEffortStream(disk)
    print("lost", file=stream, flush=True)
    disk.full = False
    print("kept", file=stream, flush=True)
    assert disk.getvalue() == "kept\n"


def test_text_that_the_stream_cannot_encode_loses_lines_only() -> None:
    written = io.BytesIO()
    stream = BestEffortStream(io.TextIOWrapper(written, "ascii"))
    print("lost: é", file=stream, flush=True)
    print("kept", file=stream, flush=True)
    assert written.getvalue() == b"\nkept\n"


def test_failures_are_logged_except_outages() -> None:
    logger, fault = RecordingLogger(), RuntimeError("broken")
    for error in (fault, ENGINE_UNAVAILABLE):
        with failures_logged(logger, "it is done later", step="count"):
            raise error
    assert logger.lines == [("error", "it is done later", {"exc_info": fault, "step": "count"})]


def test_a_cancellation_is_no_failure() -> None:
    with pytest.raises(asyncio.CancelledError), failures_logged(RecordingLogger(), "it is done later"):
        raise asyncio.CancelledError
