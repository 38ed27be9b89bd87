"""`python -m loadtest.conductor.plain.bench`: the referee's process, which gives its verdict on record after record.

Records come on standard input and verdicts go out on standard output, each with its length in bytes before it.
"""

import pickle
import sys
from typing import BinaryIO

from loadtest.verdicts import give_way, verdict_on

LENGTH_BYTES = 4


def main() -> None:
    """Judge until nobody asks any more."""
    give_way()
    while body := read_frame(sys.stdin.buffer):
        write_frame(sys.stdout.buffer, pickle.dumps(verdict_on(body)))


def write_frame(stream: BinaryIO, body: bytes) -> None:
    """Send bytes with their length before them."""
    stream.write(len(body).to_bytes(LENGTH_BYTES, "big") + body)
    stream.flush()


def read_frame(stream: BinaryIO) -> bytes:
    """The next bytes; none if the other side is gone."""
    return stream.read(int.from_bytes(stream.read(LENGTH_BYTES), "big"))


if __name__ == "__main__":
    main()
