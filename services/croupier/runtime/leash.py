"""Child programs that are gone when whoever started them has gone, however that went."""

import sys
from collections.abc import Sequence

_LEASHED = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9); os.execvp(sys.argv[1], sys.argv[1:])"
"""Becomes another program, which the system kills (signal 9) when its parent has gone (PR_SET_PDEATHSIG, 1).

Nothing may run between fork and exec in a process with threads such as those of gRPC: what did died there now and then.
"""


def leashed(command: Sequence[str]) -> list[str]:
    """The command of a program on a leash; without one where the system is not Linux."""
    return [sys.executable, "-I", "-S", "-c", _LEASHED, *command] if sys.platform == "linux" else list(command)
