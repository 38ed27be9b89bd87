"""Stands in for a service in tests of the supervisor: takes the same flags, listens, writes the ready file, drains.

It does what a file `<instance>.fate` in the data folder says: `die` ends it before it is ready, `refuse` too, as one
that cannot be run as it is told to, `fade` ends it right after, `hang` keeps it from ever being ready and from
ending on SIGTERM, and with `wait for the door` it does not drain before the door has. All that it does it adds as a
line to `diary`, and what it is told to use it puts into `<instance>.told`.
"""

import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path


def main() -> int:
    flags = dict(argument.removeprefix("--").split("=", 1) for argument in sys.argv[2:])
    ready_file = Path(flags["ready-file"])
    instance, folder = ready_file.stem, ready_file.parent.parent
    fate_file = folder / f"{instance}.fate"
    fate = fate_file.read_text() if fate_file.exists() else "live"
    stopped = threading.Event()
    if fate == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        stopped.wait(60)
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    if fate == "die":
        print(f"{instance} has a bad day", file=sys.stderr)
        return 3
    if fate == "refuse":
        print(f'{{"event": "starting"}}\ncroupier serve {sys.argv[1]}: its key is missing: make one', file=sys.stderr)
        return 2
    sockets = {kind: _listen(flags[flag]) for kind, flag in _KINDS.items() if flag in flags}
    told = {"service": sys.argv[1], "database": os.environ["CROUPIER_DATABASE"], **flags}
    (folder / f"{instance}.told").write_text(json.dumps(told))
    write(folder, f"{instance} up")
    partial = ready_file.with_suffix(".partial")
    partial.write_text(json.dumps({kind: f"127.0.0.1:{it.getsockname()[1]}" for kind, it in sockets.items()}))
    partial.replace(ready_file)
    if fate != "fade":
        threading.Thread(target=_end_with_parent, args=(stopped,), daemon=True).start()
        stopped.wait(60)
        deadline = time.monotonic() + 60
        while fate == "wait for the door" and time.monotonic() < deadline:
            if "door drained" in (folder / "diary").read_text():
                break
            time.sleep(0.01)
        write(folder, f"{instance} drained")
        return 0
    return 4


_KINDS = {"listen": "listen", "control": "control-listen", "metrics": "metrics-listen"}


def _listen(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    return socket.create_server((host, int(port)))


def _end_with_parent(stopped: threading.Event) -> None:
    sys.stdin.read()
    stopped.set()


def write(folder: Path, line: str) -> None:
    with (folder / "diary").open("a") as diary:
        diary.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
