"""Logs on a stream that cannot be written."""

import errno
import io

from croupier.runtime.observation.logs import BestEffortStream


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
