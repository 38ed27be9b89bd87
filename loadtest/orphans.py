"""Child processes that must not outlive whoever started them."""

import os
import threading
import time

LOOK_SECONDS = 1.0


def end_with_parent() -> None:
    """End this process, whatever it does, soon after its parent has gone."""
    threading.Thread(target=_await_parents_end, args=(os.getppid(),), daemon=True).start()


def _await_parents_end(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)
