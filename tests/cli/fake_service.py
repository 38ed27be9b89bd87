"""A fake service for tests of the supervisor: takes a service's flags, listens, writes the ready file, drains.

A file `<instance>.behaviour` in the data folder sets its behaviour: with `fail` it ends before it is ready, with
`refuse` too, with a fault of its configuration; with `exit` it ends when it is ready; with `hang` it never gets ready
and ignores SIGTERM; with `wait for the gateway` it drains after the gateway. It appends events to the file `events`,
and writes its flags to `<instance>.flags`.
"""

import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

from croupier.runtime.server.child_process import end_with_parent


def main() -> int:
    flags = dict(argument.removeprefix("--").split("=", 1) for argument in sys.argv[2:])
    ready_file = Path(flags["ready-file"])
    instance, folder = ready_file.stem, ready_file.parent.parent
    behaviour_file = folder / f"{instance}.behaviour"
    behaviour = behaviour_file.read_text() if behaviour_file.exists() else "serve"
    stopped = threading.Event()
    if behaviour == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        stopped.wait(60)
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    if behaviour == "fail":
        print(f"{instance} has failed", file=sys.stderr)
        return 3
    if behaviour == "refuse":
        print(f'{{"event": "starting"}}\ncroupier serve {sys.argv[1]}: its key is missing: make one', file=sys.stderr)
        return 2
    sockets = {kind: _listen(flags[flag]) for kind, flag in _KINDS.items() if flag in flags}
    received_flags = {"service": sys.argv[1], "database": os.environ.get("CROUPIER_DATABASE"), **flags}
    (folder / f"{instance}.flags").write_text(json.dumps(received_flags))
    write(folder, f"{instance} up")
    addresses = {kind: f"127.0.0.1:{it.getsockname()[1]}" for kind, it in sockets.items()}
    if sys.argv[1] == "gateway" and os.environ.get("CROUPIER_WEB_TABLE") != "false":
        addresses["web_table"] = addresses["listen"]
    partial = ready_file.with_suffix(".partial")
    partial.write_text(json.dumps(addresses))
    partial.replace(ready_file)
    if behaviour != "exit":
        end_with_parent()
        stopped.wait(60)
        deadline = time.monotonic() + 60
        while behaviour == "wait for the gateway" and time.monotonic() < deadline:
            if "gateway drained" in (folder / "events").read_text():
                break
            time.sleep(0.01)
        write(folder, f"{instance} drained")
        return 0
    return 4


_KINDS = {
    "listen": "listen",
    "control": "control-listen",
    "websocket": "websocket-listen",
    "metrics": "metrics-listen",
}


def _listen(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    return socket.create_server((host, int(port)))


def write(folder: Path, line: str) -> None:
    with (folder / "events").open("a") as events:
        events.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
