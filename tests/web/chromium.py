"""Headless Chromium, driven over a pipe by the DevTools protocol."""

import base64
import fcntl
import hashlib
import itertools
import json
import os
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

ANSWER_SECONDS = 60.0
END_SECONDS = 10.0
HIGH_DESCRIPTOR = 20
READ_BYTES = 65_536
FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    # Its sandbox cannot be had in many containers; it is shown nothing but our own page here.
    "--no-sandbox",
    "--remote-debugging-pipe",
)


def pin(certificate: Path) -> str:
    """What names the key of a certificate, as browsers write it: base64 of SHA-256 of its public part."""
    key = x509.load_pem_x509_certificate(certificate.read_bytes()).public_key()
    public = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(public).digest()).decode()


class Page:
    """A page in a browser."""

    def __init__(self, commands: int, events: int) -> None:
        self._commands = commands
        self._events = events
        self._numbers = itertools.count(1)
        self._unread = b""
        self._happened: set[str] = set()
        self._session: dict[str, str] = {}

    def open(self, url: str) -> None:
        """Go there, and wait until all of it is loaded."""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        self._call("Page.enable")
        self._call("Log.enable")
        self._happened.clear()
        self._call("Page.navigate", url=url)
        deadline = time.monotonic() + ANSWER_SECONDS
        while "Page.loadEventFired" not in self._happened:
            self._next(deadline)

    def evaluate(self, expression: str) -> Any:
        """What an expression, or the promise that it gives, comes to; raises AssertionError for what it throws."""
        answer = self._call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, expression: str) -> Any:
        """What an expression comes to as soon as that is true of the page."""
        return self.evaluate(
            "new Promise((resolve) => {"
            f"const look = () => {{ const found = {expression}; if (found) resolve(found); }};"
            "new MutationObserver(look).observe(document.body, "
            "{subtree: true, childList: true, characterData: true, attributes: true}); look(); })"
        )

    def _call(self, method: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        command = {"id": number, "method": method, "params": parameters, **self._session}
        os.write(self._commands, json.dumps(command).encode() + b"\0")
        deadline = time.monotonic() + ANSWER_SECONDS
        while (answer := self._next(deadline)).get("id") != number:
            pass
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._events], [], [], max(deadline - time.monotonic(), 0))
            assert ready, "the browser says nothing"
            read = os.read(self._events, READ_BYTES)
            assert read, "the browser has ended"
            self._unread += read
        message, _, self._unread = self._unread.partition(b"\0")
        said: dict[str, Any] = json.loads(message)
        self._happened.add(said.get("method", ""))
        if said.get("method") == "Log.entryAdded":
            print(f"the browser notes: {said['params']['entry']['text']}")
        return said


@contextmanager
def opened_page(program: str, folder: Path, url: str, trusted_pin: str) -> Iterator[Page]:
    """A page in a browser of its own, which trusts the usual authorities and the one key that is pinned."""
    flags = [*FLAGS, f"--user-data-dir={folder}", f"--ignore-certificate-errors-spki-list={trusted_pin}"]
    for_browser, commands = _pipe()
    events, of_browser = _pipe()
    # The browser reads descriptor 3 and writes 4.
    shell = ["bash", "-c", f'exec "$@" 3<&{for_browser} 4>&{of_browser}', "bash", program, *flags]
    with (folder / "browser.log").open("wb") as log:
        process = subprocess.Popen(shell, pass_fds=(for_browser, of_browser), stdout=log, stderr=log)
    for theirs in (for_browser, of_browser):
        os.close(theirs)
    try:
        page = Page(commands, events)
        page.open(url)
        yield page
    finally:
        _end(process)
        for ours in (commands, events):
            os.close(ours)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _pipe() -> tuple[int, int]:
    """What is read and what is written of a pipe, out of the way of the two that the browser wants."""
    ends = os.pipe()
    read, write = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR) for end in ends)
    for end in ends:
        os.close(end)
    return read, write
