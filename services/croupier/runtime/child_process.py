"""Child processes that end when their parent has ended, however it ended.

The parent alone holds one end of a pipe, which the operating system closes with it. A child waits for that at the other
end: its standard input, or what multiprocessing gives to each of its processes. This works on Linux and macOS, not on
Windows. Its limits: a child that is stopped (SIGSTOP) ends once it continues, and a parent that forks without executing
another program shares its end of the pipe with that fork.
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
"""How long a process may take to end by itself."""
_STANDARD_INPUT = 0


def end_with_parent() -> None:
    """Send this process SIGTERM when its parent has ended, and SIGKILL once the grace is over.

    It has to be a process of multiprocessing, or to have a pipe as standard input, from which it may read.
    """
    parent = parent_process()
    pipe = parent.sentinel if parent else _STANDARD_INPUT
    threading.Thread(target=_end_after_parent, args=(pipe, os.getpid()), daemon=True).start()


def ending_with_parent(command: Sequence[str]) -> list[str]:
    """The command that runs a program which cannot do that itself, with a process that watches for it.

    It has to be started with a pipe as standard input; the program gets an empty one.
    """
    return [sys.executable, "-I", "-S", __file__, *command]


def _end_after_parent(pipe: int, pid: int) -> None:
    """Wait for the end of whoever holds the other end of the pipe, and end this process, or its parent."""
    hang_up = select.poll()
    # Not read: what comes that way may be for somebody else.
    hang_up.register(pipe, select.POLLHUP)
    hang_up.poll()
    for number, seconds in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, 0.0)):
        # Once a program has ended its id may be another's, and its watcher has another parent.
        if pid in (os.getpid(), os.getppid()):
            os.kill(pid, number)
            time.sleep(seconds)


def _become(command: list[str]) -> None:
    """Become another program, after forking the process that watches for it."""
    pid = os.getpid()
    # Safe here: this interpreter has no other thread. In one that runs gRPC nothing may be done between fork and exec.
    if os.fork() == 0:
        _end_after_parent(_STANDARD_INPUT, pid)
        os._exit(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), _STANDARD_INPUT)
    os.execvp(command[0], command)  # noqa: S606 - the command is the parent's own


if __name__ == "__main__":
    _become(sys.argv[1:])
