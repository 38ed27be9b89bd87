"""Child processes that end after the death of their parent, even if that was killed.

The parent alone holds one end of a pipe, which the operating system closes with it. The child polls the other end: its
standard input, or the sentinel of multiprocessing. This works on Linux and macOS, not on Windows. Its limits: a child
that is stopped (SIGSTOP) ends once it continues, and a parent that forks without exec shares its end of the pipe.
"""

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Sequence
from multiprocessing import parent_process

GRACE_SECONDS = 10.0
"""The time between SIGTERM and SIGKILL."""
_STANDARD_INPUT = 0


def end_with_parent() -> None:
    """Send this process SIGTERM after the death of its parent, and SIGKILL after the grace period.

    It has to be a process of multiprocessing, or to have a pipe as standard input.
    """
    parent = parent_process()
    pipe = parent.sentinel if parent else _STANDARD_INPUT
    threading.Thread(target=_end_after_parent, args=(pipe, os.getpid()), daemon=True).start()


def ending_with_parent(command: Sequence[str]) -> list[str]:
    """Return the command that runs another program, with a process beside it that ends it after the parent's death.

    It has to be started with a pipe as standard input; the program's own standard input is empty.
    """
    return [sys.executable, "-I", "-S", __file__, *command]


def _end_after_parent(pipe: int, pid: int) -> None:
    """Wait until the other end of the pipe is closed, and end the process `pid`: this one or its parent."""
    hang_up = select.poll()
    # It is not read, since the program itself may read it.
    hang_up.register(pipe, select.POLLHUP)
    hang_up.poll()
    for number, seconds in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, 0.0)):
        # The id of a program that has ended may be reused; its watcher then has another parent.
        if pid in (os.getpid(), os.getppid()):
            os.kill(pid, number)
            time.sleep(seconds)


def _exec(command: list[str]) -> None:
    """Execute another program, after forking the process that watches the pipe for it."""
    pid = os.getpid()
    # Forking is safe here: this interpreter has no other thread, and no gRPC.
    if os.fork() == 0:
        _end_after_parent(_STANDARD_INPUT, pid)
        os._exit(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), _STANDARD_INPUT)
    os.execvp(command[0], command)  # noqa: S606 - the command is the parent's own


if __name__ == "__main__":
    _exec(sys.argv[1:])
