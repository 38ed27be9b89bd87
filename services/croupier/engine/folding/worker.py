"""The code of the folding process."""

import pickle
import signal

from croupier.engine.core.log_codec import LogPart
from croupier.engine.folding.port import FoldInSteps
from croupier.runtime.child_process import end_with_parent

MAX_STEP_ROWS = 500
"""The rows of a step, so that a long log does not keep short ones waiting."""
MAX_STEP_SECONDS = 10
"""A process whose step takes longer is killed."""


def start() -> None:
    """Prepare the process, which ends with the engine."""
    # Ctrl-C reaches every process of a terminal; the engine ends this one itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def is_ready() -> bool:
    """Return True: the process has started."""
    return True


def fold_step(carried: bytes, part: LogPart, is_last: bool) -> tuple[bytes, bool] | None:
    """Take over a part, and do one step of a pickled fold.

    Returns it, or the result after the last step, and whether other steps follow; None if the step failed.
    """
    signal.alarm(MAX_STEP_SECONDS)
    try:
        steps: FoldInSteps[object] = pickle.loads(carried)  # noqa: S301 - the engine's own bytes
        steps.take(part)
        is_waiting = steps.step(MAX_STEP_ROWS)
        return pickle.dumps(steps.result() if is_last and not is_waiting else steps), is_waiting
    except Exception:  # noqa: BLE001 - the engine repeats the step, and gets the error with its traceback
        return None
    finally:
        signal.alarm(0)
