"""Logs on a stream that cannot be written, of failures that do not end a loop, and of outages."""

import asyncio
import errno
import io

import pytest

from croupier.runtime.observation.logs import BestEffortStream, failures_logged
from croupier.runtime.observation.outage_log import MAX_REASONS, QUIET_NANOSECONDS, OutageLog
from croupier.runtime.server.tasks import repeat
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


async def test_a_step_that_fails_is_repeated_until_it_is_cancelled() -> None:
    logger, fault = RecordingLogger(), RuntimeError("broken")
    outcomes = iter((ENGINE_UNAVAILABLE, fault, asyncio.CancelledError()))

    async def step() -> None:
        raise next(outcomes)

    with pytest.raises(asyncio.CancelledError):
        await repeat(step, 0, logger, "it is done later")
    assert logger.lines == [("error", "it is done later", {"exc_info": fault})]


class Outages:
    """A log of outages with a clock that a test advances."""

    def __init__(self) -> None:
        self.now = 0
        self.logger = RecordingLogger()
        self.log = OutageLog("the database", self.logger, lambda: self.now)

    def advance(self, seconds: float) -> None:
        self.now += round(seconds * 1e9)


def test_each_reason_of_an_outage_is_logged_once_and_then_the_end() -> None:
    outages = Outages()
    outages.log.succeeded()
    for _ in range(2):
        for reason in ("refused", "timeout", "refused", "timeout"):
            outages.log.failed(reason)
            outages.advance(1)
        outages.now += QUIET_NANOSECONDS
        outages.log.succeeded()
        outages.log.succeeded()
    logged = [
        ("warning", "calls to the database fail", {"reason": "refused"}),
        ("warning", "calls to the database fail", {"reason": "timeout"}),
        ("info", "calls to the database succeed again", {"failed_for_seconds": 3.0}),
    ]
    assert outages.logger.lines == 2 * logged


def test_calls_that_succeed_between_failures_do_not_end_the_outage() -> None:
    outages = Outages()
    for _ in range(100):
        outages.log.failed("refused")
        outages.now += QUIET_NANOSECONDS - 1
        outages.log.succeeded()
    assert len(outages.logger.lines) == 1


def test_an_outage_with_any_number_of_reasons_has_a_bounded_number_of_lines() -> None:
    outages = Outages()
    for number in range(10 * MAX_REASONS):
        outages.log.failed(f"reason {number}")
    assert len(outages.logger.lines) == MAX_REASONS
